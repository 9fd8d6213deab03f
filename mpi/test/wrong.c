/* SPDX-License-Identifier: Apache-2.0 */
/* wrong.c - a call with a wrong argument, or for a message that is too long,
 * gives the error class of plain MPI in a fiber, and calls the error handler as
 * often. */
#include "ranks.h"

enum { TAG = 5 };

static atomic_int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	atomic_fetch_add(&handled, 1);
}

struct outcome {
	int class;
	int handled;
};

static struct outcome outcome(int code, int before)
{
	struct outcome o = { -1, atomic_load(&handled) - before };

	PMPI_Error_class(code, &o.class);
	return o;
}

static void compare(struct outcome ours, struct outcome plain, bool must_fail,
		    const char *call, int line)
{
	if (ours.class != plain.class || ours.handled != plain.handled)
		printf("%s: class %d, handled %d times, plainly %d and %d\n",
		       call, ours.class, ours.handled, plain.class,
		       plain.handled);
	expect_at(ours.class == plain.class, call, __FILE__, line);
	expect_at(ours.handled == plain.handled, call, __FILE__, line);
	expect_at(!must_fail || ours.class != MPI_SUCCESS, call, __FILE__,
		  line);
}

#define BEFORE atomic_load(&handled)

/* CALL with these arguments, plainly and not. */
#define SAME_FOR(MUST_FAIL, CALL, ...)                                \
	do {                                                          \
		int            before_ = BEFORE;                      \
		struct outcome plain_ = outcome(P##CALL(__VA_ARGS__), \
						before_);             \
                                                                      \
		before_ = BEFORE;                                     \
		compare(outcome(CALL(__VA_ARGS__), before_), plain_,  \
			MUST_FAIL, #CALL, __LINE__);                  \
	} while (0)

#define SAME(CALL, ...) SAME_FOR(true, CALL, __VA_ARGS__)

/* MPIs let some of them pass, and then all processes make them. */
#define ALIKE(CALL, ...) SAME_FOR(false, CALL, __VA_ARGS__)

static const MPI_Comm *const world = &(const MPI_Comm){ MPI_COMM_WORLD };

static int       mine[8], all[8];
static const int ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 },
		 places[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static MPI_Status status;

/* --- messages ------------------------------------------------------------- */

#define EACH_SEND(CALL)                                                 \
	do {                                                            \
		SAME(CALL, mine, 1, MPI_INT, ranks, TAG, *world);       \
		SAME(CALL, mine, 1, MPI_INT, -7, TAG, *world);          \
		SAME(CALL, mine, 1, MPI_INT, 0, -7, *world);            \
		SAME(CALL, mine, -1, MPI_INT, 0, TAG, *world);          \
		SAME(CALL, mine, 1, MPI_DATATYPE_NULL, 0, TAG, *world); \
		SAME(CALL, mine, 1, raw, 0, TAG, *world);               \
		SAME(CALL, mine, 1, MPI_INT, 0, TAG, MPI_COMM_NULL);    \
	} while (0)

static void send_wrongly(MPI_Datatype raw)
{
	EACH_SEND(MPI_Send);
	EACH_SEND(MPI_Ssend);
	EACH_SEND(MPI_Rsend);
}

static void receive_wrongly(MPI_Datatype raw)
{
	MPI_Message none = MPI_MESSAGE_NULL;

	SAME(MPI_Recv, all, 1, MPI_INT, ranks, TAG, *world, &status);
	SAME(MPI_Recv, all, 1, MPI_INT, -7, TAG, *world, &status);
	SAME(MPI_Recv, all, 1, MPI_INT, 0, -7, *world, &status);
	SAME(MPI_Recv, all, -1, MPI_INT, 0, TAG, *world, &status);
	SAME(MPI_Recv, all, 1, MPI_DATATYPE_NULL, 0, TAG, *world, &status);
	SAME(MPI_Recv, all, 1, raw, 0, TAG, *world, &status);
	SAME(MPI_Recv, all, 1, MPI_INT, 0, TAG, MPI_COMM_NULL, &status);
	SAME(MPI_Probe, ranks, TAG, *world, &status);
	SAME(MPI_Probe, 0, -7, *world, &status);
	SAME(MPI_Mprobe, ranks, TAG, *world, &none, &status);
	SAME(MPI_Mprobe, 0, -7, *world, &none, &status);
}

static void exchange_wrongly(MPI_Datatype raw)
{
	SAME(MPI_Sendrecv, mine, 1, MPI_INT, ranks, TAG, all, 1, MPI_INT, 0,
	     TAG, *world, &status);
	SAME(MPI_Sendrecv, mine, 1, MPI_INT, 0, TAG, all, 1, MPI_INT, ranks,
	     TAG, *world, &status);
	SAME(MPI_Sendrecv, mine, 1, MPI_INT, 0, -7, all, 1, MPI_INT, 0, TAG,
	     *world, &status);
	SAME(MPI_Sendrecv, mine, 1, MPI_INT, 0, TAG, all, 1, MPI_INT, 0, -7,
	     *world, &status);
	SAME(MPI_Sendrecv, mine, 1, raw, 0, TAG, all, 1, MPI_INT, 0, TAG,
	     *world, &status);
	SAME(MPI_Sendrecv, mine, 1, MPI_INT, 0, TAG, all, 1, raw, 0, TAG,
	     *world, &status);
	SAME(MPI_Sendrecv_replace, all, 1, MPI_INT, ranks, TAG, 0, TAG, *world,
	     &status);
	SAME(MPI_Sendrecv_replace, all, 1, MPI_INT, 0, TAG, ranks, TAG, *world,
	     &status);
	SAME(MPI_Sendrecv_replace, all, 1, MPI_INT, 0, -7, 0, TAG, *world,
	     &status);
	SAME(MPI_Sendrecv_replace, all, 1, raw, 0, TAG, 0, TAG, *world,
	     &status);
	SAME(MPI_Sendrecv_replace, all, -1, MPI_INT, 0, TAG, 0, TAG, *world,
	     &status);
}

/* --- collective calls ----------------------------------------------------- */

static void reduce_wrongly(MPI_Datatype raw)
{
	ALIKE(MPI_Bcast, mine, 1, MPI_INT, ranks, *world);
	ALIKE(MPI_Bcast, mine, 1, raw, 0, *world);
	ALIKE(MPI_Bcast, mine, 1, MPI_INT, 0, MPI_COMM_NULL);
	ALIKE(MPI_Barrier, MPI_COMM_NULL);
	ALIKE(MPI_Reduce, mine, all, 1, MPI_INT, MPI_SUM, ranks, *world);
	ALIKE(MPI_Reduce, mine, all, 1, MPI_INT, MPI_OP_NULL, 0, *world);
	ALIKE(MPI_Reduce, mine, all, 1, raw, MPI_SUM, 0, *world);
	ALIKE(MPI_Allreduce, mine, all, 1, MPI_INT, MPI_OP_NULL, *world);
	ALIKE(MPI_Allreduce, mine, all, 1, raw, MPI_SUM, *world);
	ALIKE(MPI_Reduce_scatter, mine, all, ones, raw, MPI_SUM, *world);
	ALIKE(MPI_Reduce_scatter_block, mine, all, 1, raw, MPI_SUM, *world);
	ALIKE(MPI_Scan, mine, all, 1, raw, MPI_SUM, *world);
	ALIKE(MPI_Scan, mine, all, 1, MPI_INT, MPI_OP_NULL, *world);
	ALIKE(MPI_Exscan, mine, all, 1, raw, MPI_SUM, *world);
	ALIKE(MPI_Exscan, mine, all, 1, MPI_INT, MPI_OP_NULL, *world);
}

static void gather_wrongly(MPI_Datatype raw)
{
	ALIKE(MPI_Gather, mine, 1, MPI_INT, all, 1, MPI_INT, ranks, *world);
	ALIKE(MPI_Gather, mine, 1, raw, all, 1, MPI_INT, 0, *world);
	ALIKE(MPI_Gatherv, mine, 1, MPI_INT, all, ones, places, MPI_INT, ranks,
	      *world);
	ALIKE(MPI_Gatherv, mine, 1, raw, all, ones, places, MPI_INT, 0, *world);
	ALIKE(MPI_Scatter, mine, 1, MPI_INT, all, 1, MPI_INT, ranks, *world);
	ALIKE(MPI_Scatter, mine, 1, MPI_INT, all, 1, raw, 0, *world);
	ALIKE(MPI_Scatterv, mine, ones, places, MPI_INT, all, 1, MPI_INT, ranks,
	      *world);
	ALIKE(MPI_Scatterv, mine, ones, places, MPI_INT, all, 1, raw, 0,
	      *world);
	ALIKE(MPI_Allgather, mine, 1, raw, all, 1, MPI_INT, *world);
	ALIKE(MPI_Allgather, mine, 1, MPI_INT, all, 1, raw, *world);
	ALIKE(MPI_Allgatherv, mine, 1, raw, all, ones, places, MPI_INT, *world);
	ALIKE(MPI_Alltoall, mine, 1, raw, all, 1, MPI_INT, *world);
	ALIKE(MPI_Alltoallv, mine, ones, places, raw, all, ones, places,
	      MPI_INT, *world);
}

/* --- those on a helper thread, and MPI_Comm_dup --------------------------- */

static void manage_wrongly(void)
{
	MPI_Comm  comm = MPI_COMM_NULL, made;
	MPI_Win   window;
	MPI_File  file;
	MPI_Group group = MPI_GROUP_NULL;

	ALIKE(MPI_Comm_dup, MPI_COMM_NULL, &made);
	ALIKE(MPI_Comm_split, MPI_COMM_NULL, 0, 0, &made);
	ALIKE(MPI_Comm_create, *world, group, &made);
	ALIKE(MPI_Comm_free, &comm);
	ALIKE(MPI_Cart_create, *world, -1, ones, ones, 0, &made);
	ALIKE(MPI_Intercomm_create, *world, ranks, *world, 0, TAG, &made);
	ALIKE(MPI_Neighbor_allgather, mine, 1, MPI_INT, all, 1, MPI_INT,
	      *world);
	ALIKE(MPI_Neighbor_alltoall, mine, 1, MPI_INT, all, 1, MPI_INT, *world);
	ALIKE(MPI_Win_create, mine, -1, 1, MPI_INFO_NULL, *world, &window);
	ALIKE(MPI_Win_fence, 0, MPI_WIN_NULL);
	ALIKE(MPI_Win_wait, MPI_WIN_NULL);
	ALIKE(MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, MPI_WIN_NULL);
	ALIKE(MPI_File_open, MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY,
	      MPI_INFO_NULL, &file);
	ALIKE(MPI_File_delete, "/nowhere/at/all", MPI_INFO_NULL);
}

/* --- messages that are too long ------------------------------------------- */

enum {
	AT_ONCE,
	BY_MESSAGE,
	BY_EXCHANGE,
	BY_REPLACE,
	BY_WAIT,
	BY_ANY,
	BY_SOME,
	BY_ALL,
	WAYS
};

/* In `mine` and `all` there is room for one. */
static int take_short(int way, bool plain)
{
	MPI_Request request;
	MPI_Message message;
	MPI_Status  some[1];
	int         index, done, none = MPI_PROC_NULL, from = last_rank();

	switch (way) {
	case AT_ONCE:
		return (plain ? PMPI_Recv : MPI_Recv)(all, 1, MPI_INT, from,
						      TAG, *world, &status);
	case BY_MESSAGE:
		(plain ? PMPI_Mprobe : MPI_Mprobe)(from, TAG, *world, &message,
						   &status);
		return (plain ? PMPI_Mrecv : MPI_Mrecv)(all, 1, MPI_INT,
							&message, &status);
	case BY_EXCHANGE:
		return (plain ? PMPI_Sendrecv : MPI_Sendrecv)(
			mine, 1, MPI_INT, none, TAG, all, 1, MPI_INT, from, TAG,
			*world, &status);
	case BY_REPLACE:
		return (plain ? PMPI_Sendrecv_replace : MPI_Sendrecv_replace)(
			all, 1, MPI_INT, none, TAG, from, TAG, *world, &status);
	}
	PMPI_Irecv(all, 1, MPI_INT, from, TAG, *world, &request);
	switch (way) {
	case BY_WAIT:
		return (plain ? PMPI_Wait : MPI_Wait)(&request, &status);
	case BY_ANY:
		return (plain ? PMPI_Waitany : MPI_Waitany)(1, &request, &index,
							    &status);
	case BY_SOME:
		return (plain ? PMPI_Waitsome
			      : MPI_Waitsome)(1, &request, &done, &index, some);
	default:
		return MPI_Waitall(1, &request, some);
	}
}

static struct outcome take_one(int way, bool plain)
{
	MPI_Request request;
	int         before, code;

	PMPI_Isend(mine, 2, MPI_INT, next_rank(), TAG, *world, &request);
	before = BEFORE;
	code = take_short(way, plain);
	PMPI_Wait(&request, MPI_STATUS_IGNORE);
	return outcome(code, before);
}

/* Open MPI 4.1 never returns from its own MPI_Waitall then, so the standard
 * says what it gives. Not from a process to itself: Open MPI lets it send too
 * much. */
static void take_too_much(void)
{
	static const char *const name[] = {
		"MPI_Recv",     "MPI_Mrecv",
		"MPI_Sendrecv", "MPI_Sendrecv_replace",
		"MPI_Wait",     "MPI_Waitany",
		"MPI_Waitsome", "MPI_Waitall"
	};

	for (int way = 0; ranks > 1 && way < WAYS; way++) {
		struct outcome plain = { MPI_ERR_IN_STATUS, 1 };

		if (way != BY_ALL)
			plain = take_one(way, true);
		compare(take_one(way, false), plain, true, name[way], __LINE__);
		MPI_Barrier(*world);
	}
}

static void err_everywhere(void *unused)
{
	MPI_Errhandler handler;
	MPI_Datatype   raw;

	(void)unused;
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(*world, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	MPI_Type_contiguous(1, MPI_INT, &raw); /* not committed */
	send_wrongly(raw);
	receive_wrongly(raw);
	exchange_wrongly(raw);
	reduce_wrongly(raw);
	gather_wrongly(raw);
	manage_wrongly();
	take_too_much();
	MPI_Type_free(&raw);
	MPI_Comm_set_errhandler(*world, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&handler);
}

TEST_IN_JOB(errors_are_those_of_plain_mpi)
{
	in_task_of(j->s, err_everywhere, NULL);
}

IN_MPI(MPI_THREAD_MULTIPLE);
