/* SPDX-License-Identifier: Apache-2.0 */
/* point_calls.h - MPI's blocking calls between two processes that have a count,
 * for point.c alone, which includes this file once for each form of them:
 *	SN_MPI_FORM(name)   the name of a call: MPI_Send, or MPI_Send_c
 *	SN_MPI_COUNT        its type of counts: int, or MPI_Count
 */
#ifdef SN_MPI_FORM

int SN_MPI_OURS SN_MPI_FORM(MPI_Send)(const void *buf, SN_MPI_COUNT count,
				      MPI_Datatype type, int dest, int tag,
				      MPI_Comm comm)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return SN_MPI_FORM(PMPI_Send)(buf, count, type, dest, tag,
					      comm);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, SN_MPI_FORM(PMPI_Isend), buf,
					      count, type, dest, tag, comm));
}

int SN_MPI_OURS SN_MPI_FORM(MPI_Ssend)(const void *buf, SN_MPI_COUNT count,
				       MPI_Datatype type, int dest, int tag,
				       MPI_Comm comm)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return SN_MPI_FORM(PMPI_Ssend)(buf, count, type, dest, tag,
					       comm);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, SN_MPI_FORM(PMPI_Issend), buf,
					      count, type, dest, tag, comm));
}

int SN_MPI_OURS SN_MPI_FORM(MPI_Rsend)(const void *buf, SN_MPI_COUNT count,
				       MPI_Datatype type, int dest, int tag,
				       MPI_Comm comm)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return SN_MPI_FORM(PMPI_Rsend)(buf, count, type, dest, tag,
					       comm);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, SN_MPI_FORM(PMPI_Irsend), buf,
					      count, type, dest, tag, comm));
}

/* Begin a receive. From MPI_PROC_NULL there is nothing to wait for, so make
 * MPI's own call: it sets the status, which MPICH's MPI_Irecv leaves
 * unchanged. */
static int SN_MPI_FORM(begin_receive)(struct sn_mpi_call *c, void *buf,
				      SN_MPI_COUNT count, MPI_Datatype type,
				      int source, int tag, MPI_Comm comm)
{
	int err;

	if (source != MPI_PROC_NULL)
		return SN_MPI_BEGIN(*c, SN_MPI_FORM(PMPI_Irecv), buf, count,
				    type, source, tag, comm);
	sn_mpi_enter();
	err = SN_MPI_FORM(PMPI_Recv)(buf, count, type, source, tag, comm,
				     c->status);
	sn_mpi_leave();
	c->status = MPI_STATUS_IGNORE;
	return err;
}

int SN_MPI_OURS SN_MPI_FORM(MPI_Recv)(void *buf, SN_MPI_COUNT count,
				      MPI_Datatype type, int source, int tag,
				      MPI_Comm comm, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return SN_MPI_FORM(PMPI_Recv)(buf, count, type, source, tag,
					      comm, status);
	c.status = status;
	return sn_mpi_finish(&c,
			     SN_MPI_FORM(begin_receive)(&c, buf, count, type,
							source, tag, comm));
}

int SN_MPI_OURS SN_MPI_FORM(MPI_Mrecv)(void *buf, SN_MPI_COUNT count,
				       MPI_Datatype type, MPI_Message *message,
				       MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return SN_MPI_FORM(PMPI_Mrecv)(buf, count, type, message,
					       status);
	c.status = status;
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, SN_MPI_FORM(PMPI_Imrecv), buf,
					      count, type, message));
}

/* --- both ways ---------------------------------------------------------- */

int SN_MPI_OURS SN_MPI_FORM(MPI_Sendrecv)(
	const void *out, SN_MPI_COUNT out_count, MPI_Datatype out_type,
	int dest, int out_tag, void *in, SN_MPI_COUNT in_count,
	MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
	MPI_Status *status)
{
	struct sn_mpi_call receive;
	struct sn_mpi_call send;
	int                err;

	if (!sn_mpi_takes(&receive))
		return SN_MPI_FORM(PMPI_Sendrecv)(
			out, out_count, out_type, dest, out_tag, in, in_count,
			in_type, source, in_tag, comm, status);
	send = receive;
	receive.status = status;
	err = SN_MPI_BEGIN(send, SN_MPI_FORM(PMPI_Send_init), out, out_count,
			   out_type, dest, out_tag, comm);
	if (err)
		return err;
	return sn_mpi_finish_both(
		&send, &receive,
		SN_MPI_FORM(begin_receive)(&receive, in, in_count, in_type,
					   source, in_tag, comm));
}

/* Pack the data; they may be received as any type of the same elements. Returns
 * NULL and sets *err if that fails. */
static void *SN_MPI_FORM(pack)(const void *buf, SN_MPI_COUNT count,
			       MPI_Datatype type, MPI_Comm comm,
			       SN_MPI_COUNT *size, int *err)
{
	SN_MPI_COUNT room = 0;
	void        *packed = NULL;

	*size = 0;
	*err = SN_MPI_FORM(PMPI_Pack_size)(count, type, comm, &room);
	if (*err)
		return NULL;
	packed = malloc(room > 0 ? (size_t)room : 1);
	if (!packed) {
		PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
		*err = MPI_ERR_NO_MEM;
		return NULL;
	}
	*err = SN_MPI_FORM(PMPI_Pack)(buf, count, type, packed, room, size,
				      comm);
	if (!*err)
		return packed;
	free(packed);
	return NULL;
}

int SN_MPI_OURS SN_MPI_FORM(MPI_Sendrecv_replace)(void *buf, SN_MPI_COUNT count,
						  MPI_Datatype type, int dest,
						  int out_tag, int source,
						  int in_tag, MPI_Comm comm,
						  MPI_Status *status)
{
	struct sn_mpi_call receive;
	struct sn_mpi_call send;
	void              *packed;
	SN_MPI_COUNT       size;
	int                err;

	if (!sn_mpi_takes(&receive))
		return SN_MPI_FORM(PMPI_Sendrecv_replace)(buf, count, type,
							  dest, out_tag, source,
							  in_tag, comm, status);
	send = receive;
	receive.status = status;
	sn_mpi_enter();
	packed = SN_MPI_FORM(pack)(buf, count, type, comm, &size, &err);
	sn_mpi_leave();
	if (!packed)
		return err;
	err = SN_MPI_BEGIN(send, SN_MPI_FORM(PMPI_Send_init), packed, size,
			   MPI_PACKED, dest, out_tag, comm);
	if (!err)
		err = sn_mpi_finish_both(
			&send, &receive,
			SN_MPI_FORM(begin_receive)(&receive, buf, count, type,
						   source, in_tag, comm));
	free(packed);
	return err;
}

#undef SN_MPI_FORM
#undef SN_MPI_COUNT
#endif
