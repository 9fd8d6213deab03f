/* SPDX-License-Identifier: Apache-2.0 */
/* point.c - MPI's blocking calls between two processes. In a fiber each begins
 * the operation and waits for its request; elsewhere it is MPI's own.
 *
 * MPI_Bsend is not here: it does not wait. */
#include "mpi/engine.h"
#include "mpi/serial.h"
#include "mpi/polled_waits.h"
#include "mpi/takes.h"
#include "mpi/suspend.h"

#include <stdlib.h>

int SN_MPI_OURS MPI_Send(const void *buf, int count, MPI_Datatype type,
			 int dest, int tag, MPI_Comm comm)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Send(buf, count, type, dest, tag, comm);
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Isend, buf, count, type, dest, tag, comm));
}

int SN_MPI_OURS MPI_Ssend(const void *buf, int count, MPI_Datatype type,
			  int dest, int tag, MPI_Comm comm)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Ssend(buf, count, type, dest, tag, comm);
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Issend, buf, count, type, dest, tag, comm));
}

int SN_MPI_OURS MPI_Rsend(const void *buf, int count, MPI_Datatype type,
			  int dest, int tag, MPI_Comm comm)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Rsend(buf, count, type, dest, tag, comm);
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Irsend, buf, count, type, dest, tag, comm));
}

/* From nobody there is nothing to wait for. MPI's own call tells so in the
 * status, which MPICH's MPI_Irecv leaves as it was. */
static int begin_receive(struct sn_mpi_call *c, void *buf, int count,
			 MPI_Datatype type, int source, int tag, MPI_Comm comm)
{
	int err;

	if (source != MPI_PROC_NULL)
		return SN_MPI_BEGIN(*c, Irecv, buf, count, type, source, tag,
				    comm);
	sn_mpi_enter();
	err = PMPI_Recv(buf, count, type, source, tag, comm, c->status);
	sn_mpi_leave();
	c->status = MPI_STATUS_IGNORE;
	return err;
}

int SN_MPI_OURS MPI_Recv(void *buf, int count, MPI_Datatype type, int source,
			 int tag, MPI_Comm comm, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Recv(buf, count, type, source, tag, comm, status);
	c.status = status;
	return sn_mpi_finish(
		&c, begin_receive(&c, buf, count, type, source, tag, comm));
}

int SN_MPI_OURS MPI_Mrecv(void *buf, int count, MPI_Datatype type,
			  MPI_Message *message, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Mrecv(buf, count, type, message, status);
	c.status = status;
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Imrecv, buf, count, type, message));
}

/* --- both ways ---------------------------------------------------------- */

/* Both are under way, so both are waited for, whatever becomes of the first. */
static int finish_both(struct sn_mpi_call *send, struct sn_mpi_call *receive,
		       int sent)
{
	int err = sn_mpi_finish(receive, MPI_SUCCESS);

	sent = sn_mpi_finish(send, sent);
	return err ? err : sent;
}

int SN_MPI_OURS MPI_Sendrecv(const void *out, int out_count,
			     MPI_Datatype out_type, int dest, int out_tag,
			     void *in, int in_count, MPI_Datatype in_type,
			     int source, int in_tag, MPI_Comm comm,
			     MPI_Status *status)
{
	struct sn_mpi_call receive;
	struct sn_mpi_call send;
	int                err;

	if (!sn_mpi_takes(&receive))
		return PMPI_Sendrecv(out, out_count, out_type, dest, out_tag,
				     in, in_count, in_type, source, in_tag,
				     comm, status);
	send = receive;
	receive.status = status;
	err = begin_receive(&receive, in, in_count, in_type, source, in_tag,
			    comm);
	if (err)
		return err;
	return finish_both(&send, &receive,
			   SN_MPI_BEGIN(send, Isend, out, out_count, out_type,
					dest, out_tag, comm));
}

/* What is packed may be received as any type of the same elements. Returns NULL
 * and an error if that fails. */
static void *pack(const void *buf, int count, MPI_Datatype type, MPI_Comm comm,
		  int *size, int *err)
{
	int   room = 0;
	void *packed = NULL;

	*size = 0;
	*err = PMPI_Pack_size(count, type, comm, &room);
	if (*err)
		return NULL;
	packed = malloc(room > 0 ? (size_t)room : 1);
	if (!packed) {
		PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
		*err = MPI_ERR_NO_MEM;
		return NULL;
	}
	*err = PMPI_Pack(buf, count, type, packed, room, size, comm);
	if (!*err)
		return packed;
	free(packed);
	return NULL;
}

int SN_MPI_OURS MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type,
				     int dest, int out_tag, int source,
				     int in_tag, MPI_Comm comm,
				     MPI_Status *status)
{
	struct sn_mpi_call receive;
	struct sn_mpi_call send;
	void              *packed;
	int                size;
	int                err;

	if (!sn_mpi_takes(&receive))
		return PMPI_Sendrecv_replace(buf, count, type, dest, out_tag,
					     source, in_tag, comm, status);
	send = receive;
	receive.status = status;
	sn_mpi_enter();
	packed = pack(buf, count, type, comm, &size, &err);
	sn_mpi_leave();
	if (!packed)
		return err;
	err = begin_receive(&receive, buf, count, type, source, in_tag, comm);
	if (!err)
		err = finish_both(&send, &receive,
				  SN_MPI_BEGIN(send, Isend, packed, size,
					       MPI_PACKED, dest, out_tag,
					       comm));
	free(packed);
	return err;
}

/* --- probes ------------------------------------------------------------- */

int SN_MPI_OURS MPI_Probe(int source, int tag, MPI_Comm comm,
			  MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Probe(source, tag, comm, status);
	return sn_mpi_probe(c.lane, source, tag, comm, NULL, status);
}

int SN_MPI_OURS MPI_Mprobe(int source, int tag, MPI_Comm comm,
			   MPI_Message *message, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Mprobe(source, tag, comm, message, status);
	return sn_mpi_probe(c.lane, source, tag, comm, message, status);
}
