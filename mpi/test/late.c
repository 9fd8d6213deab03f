/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - each call of mpi/docs/mpi.md that may wait, made in a fiber of
 * process 0 while process 1 is 200 ms late with its part: another fiber of the
 * same worker runs meanwhile. mpi/test/table.sh compares the calls of this file
 * with the table. */
#include "ranks.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#define LATE (200 * SENNIT_MILLISECOND)

/* --- late processes, and what runs meanwhile ------------------------------ */

/* In `told`. Process 0 writes them. */
enum { BEGUN, RETURNED, TICKS };

static const MPI_Comm *const world = &(const MPI_Comm){ MPI_COMM_WORLD };

static int        calls; /* so far; the same in both processes */
static atomic_int over;

/* The other fiber of process 0. */
static void tick(void *unused)
{
	(void)unused;
	while (!atomic_load(&over)) {
		atomic_fetch_add(&told[TICKS], 1);
		(void)sennit_sleep(SENNIT_MILLISECOND);
	}
}

/* Process 1 makes no call of MPI until process 0 is in its call, and then until
 * the call has returned or another fiber has run, but for LATE at least. No
 * fiber runs there between the note that it has begun and the call. */
static void be_late(const char *call, int line)
{
	sennit_time end;
	int         ticks;

	while (atomic_load(&told[BEGUN]) < calls)
		(void)sennit_sleep(SENNIT_MILLISECOND / 4);
	ticks = atomic_load(&told[TICKS]);
	(void)sennit_sleep(LATE);
	end = sennit_after(GIVE_UP / 4);
	while (atomic_load(&told[RETURNED]) < calls &&
	       atomic_load(&told[TICKS]) == ticks && sennit_now() < end)
		(void)sennit_sleep(SENNIT_MILLISECOND / 4);
	if (atomic_load(&told[RETURNED]) < calls)
		expect_at(atomic_load(&told[TICKS]) != ticks, call, __FILE__,
			  line);
}

static void begin_call(const char *call, int line)
{
	calls++;
	if (rank)
		be_late(call, line);
	else
		atomic_store(&told[BEGUN], calls);
}

/* What process 0 still needs of process 1, it gets there. */
static void end_call(void)
{
	if (!rank)
		atomic_store(&told[RETURNED], calls);
	MPI_Barrier(MPI_COMM_WORLD);
}

#define CALLED(CALL)                         \
	__extension__({                      \
		int err_;                    \
                                             \
		begin_call(#CALL, __LINE__); \
		err_ = (CALL);               \
		end_call();                  \
		err_;                        \
	})

#define EACH(CALL) \
	expect_at(CALLED(CALL) == MPI_SUCCESS, #CALL, __FILE__, __LINE__)

/* Process 0 waits in WAITS for what process 1 does. */
#define FOR(WAITS, DOES) EACH(rank ? (DOES) : (WAITS))

#define NOTHING MPI_SUCCESS

static void in_both(sennit_scheduler *s, sennit_task_fn *run)
{
	struct errand ticks;

	if (ranks != 2) /* one waits, and one is late */
		return;
	share_memory();
	calls = 0;
	atomic_store(&over, 0);
	if (!rank)
		begin_in(s, &ticks, tick, NULL);
	in_task_of(s, run, NULL);
	atomic_store(&over, 1);
	if (!rank)
		end_errand(&ticks);
	munmap(told, 4096);
}

/* A case with one worker: a call that holds it holds all. */
#define TEST_LATE(f, run)                            \
	TEST_ENTRIES(f, struct job *j, IN_JOB(f, 1)) \
	{                                            \
		in_both(j->s, run);                  \
	}

/* --- calls with a count --------------------------------------------------- */

enum { BIG = 1 << 18 };

static int big[BIG], room[BIG], mine[4], all[4];

static MPI_Comm  ring; /* each process is both neighbours of the other */
static MPI_File  file;
static MPI_Group other;

static int send_number(void)
{
	return MPI_Send(mine, 1, MPI_INT, 0, 1, *world);
}

static int receive_number(void)
{
	return MPI_Recv(mine, 1, MPI_INT, 0, 1, *world, MPI_STATUS_IGNORE);
}

static int receive_big(void)
{
	return MPI_Recv(room, BIG, MPI_INT, 0, 1, *world, MPI_STATUS_IGNORE);
}

/* What was put lies at the other process's first number. */
static int put(MPI_Win win)
{
	return MPI_Put(mine, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
}

#if MPI_VERSION >= 4
static int begin_and_end(MPI_Request *request)
{
	int err = MPI_Start(request);

	return err ? err : MPI_Wait(request, MPI_STATUS_IGNORE);
}
#endif

#define FORM(name) name
#define COUNT      int
#define AT         int
#include "late_counts.h"

#if MPI_VERSION >= 4
#define FORM(name) name##_c
#define COUNT      MPI_Count
#define AT         MPI_Aint
#include "late_counts.h"
#endif

static void make_ring(void)
{
	int size = 2, periodic = 1;

	EACH(MPI_Cart_create(*world, 1, &size, &periodic, 0, &ring));
}

static void point_to_point(void *unused)
{
	(void)unused;
	pass_messages();
#if MPI_VERSION >= 4
	pass_messages_c();
#endif
}

TEST_LATE(messages, point_to_point)

static void collectives(void *unused)
{
	(void)unused;
	make_ring();
	EACH(MPI_Barrier(*world));
	call_collectives();
#if MPI_VERSION >= 4
	call_collectives_c();
#endif
	EACH(MPI_Comm_free(&ring));
}

TEST_LATE(collective_calls, collectives)

#if MPI_VERSION >= 4
static void persistent(void *unused)
{
	MPI_Request r;

	(void)unused;
	make_ring();
	EACH(MPI_Barrier_init(*world, MPI_INFO_NULL, &r));
	EACH(begin_and_end(&r));
	MPI_Request_free(&r);
	make_persistent();
	make_persistent_c();
	EACH(MPI_Comm_free(&ring));
}

TEST_LATE(persistent_collectives, persistent)
#endif

/* --- waits and probes ----------------------------------------------------- */

static void await(void *unused)
{
	MPI_Request request;
	MPI_Status  status;
	int         index, done;

	(void)unused;
	if (!rank)
		MPI_Irecv(mine, 1, MPI_INT, 1, 1, *world, &request);
	FOR(MPI_Wait(&request, &status), send_number());
	if (!rank)
		MPI_Irecv(mine, 1, MPI_INT, 1, 1, *world, &request);
	FOR(MPI_Waitall(1, &request, &status), send_number());
	if (!rank)
		MPI_Irecv(mine, 1, MPI_INT, 1, 1, *world, &request);
	FOR(MPI_Waitany(1, &request, &index, &status), send_number());
	if (!rank)
		MPI_Irecv(mine, 1, MPI_INT, 1, 1, *world, &request);
	FOR(MPI_Waitsome(1, &request, &done, &index, &status), send_number());
	FOR(MPI_Probe(1, 1, *world, &status), send_number());
	if (!rank)
		MPI_Recv(mine, 1, MPI_INT, 1, 1, *world, &status);
}

TEST_LATE(waits, await)

/* --- communicators -------------------------------------------------------- */

static void make_graphs(void)
{
	const int one = 1, next = 1 - rank, ends[] = { 1, 2 },
		  edges[] = { 1, 0 };
	MPI_Comm c;

	EACH(MPI_Graph_create(*world, 2, ends, edges, 0, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Dist_graph_create(*world, 1, &rank, &one, &next, &one,
				   MPI_INFO_NULL, 0, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Dist_graph_create_adjacent(*world, 1, &next, &one, 1, &next,
					    &one, MPI_INFO_NULL, 0, &c));
	EACH(MPI_Comm_free(&c));
}

static void make_communicators(void *unused)
{
	const int remains = 1;
	MPI_Group group;
	MPI_Info  info;
	MPI_Comm  c, d;

	(void)unused;
	MPI_Info_create(&info);
	MPI_Comm_group(*world, &group);
	EACH(MPI_Comm_dup(*world, &c));
	EACH(MPI_Comm_set_info(c, info));
	EACH(MPI_Comm_disconnect(&c));
	EACH(MPI_Comm_dup_with_info(*world, info, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Comm_create(*world, group, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Comm_create_group(*world, group, 3, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Comm_split(*world, 0, rank, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Comm_split_type(*world, MPI_COMM_TYPE_SHARED, rank, info, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Intercomm_create(MPI_COMM_SELF, 0, *world, 1 - rank, 3, &c));
	EACH(MPI_Intercomm_merge(c, rank, &d));
	EACH(MPI_Comm_free(&d));
	EACH(MPI_Comm_free(&c));
	make_ring();
	EACH(MPI_Cart_sub(ring, &remains, &c));
	EACH(MPI_Comm_free(&c));
	EACH(MPI_Comm_free(&ring));
	make_graphs();
	MPI_Group_free(&group);
	MPI_Info_free(&info);
}

TEST_LATE(communicators, make_communicators)

#if MPI_VERSION >= 4
static void make_by_session(void *unused)
{
	MPI_Group   both, alone;
	MPI_Session session;
	MPI_Comm    c;

	(void)unused;
	EACH(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	MPI_Group_from_session_pset(session, "mpi://WORLD", &both);
	MPI_Group_from_session_pset(session, "mpi://SELF", &alone);
	EACH(MPI_Comm_create_from_group(both, "late", MPI_INFO_NULL,
					MPI_ERRORS_RETURN, &c));
	EACH(MPI_Comm_free(&c));
	MPI_Group_difference(both, alone, &other);
	EACH(MPI_Intercomm_create_from_groups(alone, 0, other, 0, "late",
					      MPI_INFO_NULL, MPI_ERRORS_RETURN,
					      &c));
	EACH(MPI_Comm_free(&c));
	MPI_Group_free(&both);
	MPI_Group_free(&alone);
	MPI_Group_free(&other);
	EACH(MPI_Session_finalize(&session));
}

TEST_LATE(sessions, make_by_session)
#endif

/* --- other programs ------------------------------------------------------- */

static void accept_and_connect(void)
{
	char     port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm c;

	FOR(MPI_Open_port(MPI_INFO_NULL, port), NOTHING);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, *world);
	FOR(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c),
	    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
	EACH(MPI_Comm_disconnect(&c));
	FOR(MPI_Close_port(port), NOTHING);
	FOR(NOTHING, MPI_Open_port(MPI_INFO_NULL, port));
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 1, *world);
	FOR(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c),
	    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
	EACH(MPI_Comm_disconnect(&c));
	FOR(NOTHING, MPI_Close_port(port));
}

/* There may be no name server: then it is an error. */
static void publish(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	char name[] = "sennit-late", found[MPI_MAX_PORT_NAME];

	FOR(MPI_Open_port(MPI_INFO_NULL, port), NOTHING);
	(void)CALLED(rank ? NOTHING
			  : MPI_Publish_name(name, MPI_INFO_NULL, port));
	(void)CALLED(rank ? NOTHING
			  : MPI_Lookup_name(name, MPI_INFO_NULL, found));
	(void)CALLED(rank ? NOTHING
			  : MPI_Unpublish_name(name, MPI_INFO_NULL, port));
	FOR(MPI_Close_port(port), NOTHING);
}

/* A connection of the two processes. */
static int connect_both(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t          size = sizeof(at);
	int                fd = socket(AF_INET, SOCK_STREAM, 0), listener = fd;

	if (!rank) {
		EXPECT(!bind(listener, (struct sockaddr *)&at, sizeof(at)));
		EXPECT(!listen(listener, 1));
		getsockname(listener, (struct sockaddr *)&at, &size);
	}
	MPI_Bcast(&at, sizeof(at), MPI_CHAR, 0, *world);
	if (rank) {
		EXPECT(!connect(fd, (struct sockaddr *)&at, sizeof(at)));
	} else {
		fd = accept(listener, NULL, NULL);
		close(listener);
	}
	EXPECT(fd >= 0);
	return fd;
}

static void join(void)
{
	int      fd = connect_both();
	MPI_Comm c;

	EACH(MPI_Comm_join(fd, &c));
	EACH(MPI_Comm_disconnect(&c));
	close(fd);
}

/* The new program is this one again: the case at the end. */
static void spawn(void)
{
	char       *arguments[] = { "late", "meets_its_parent", NULL };
	char       *program[1], **one[] = { arguments };
	const int   number = 1;
	MPI_Info    info = MPI_INFO_NULL;
	MPI_Comm    c;
	int         code;
	static char path[4096];

	EXPECT(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	program[0] = path;
	EACH(MPI_Comm_spawn(path, arguments, 1, info, 0, *world, &c, &code));
	EACH(MPI_Comm_disconnect(&c));
	EACH(MPI_Comm_spawn_multiple(1, program, one, &number, &info, 0, *world,
				     &c, &code));
	EACH(MPI_Comm_disconnect(&c));
}

/* MPICH has no ports over UCX, and so none of these. */
static bool has_ports(void)
{
	char port[MPI_MAX_PORT_NAME];

	if (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS)
		return false;
	MPI_Close_port(port);
	return true;
}

static void meet_others(void *unused)
{
	(void)unused;
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(*world, MPI_ERRORS_RETURN);
	if (has_ports()) {
		accept_and_connect();
		publish();
		join();
		spawn();
	} else {
		printf("MPI has no ports\n");
	}
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(*world, MPI_ERRORS_ARE_FATAL);
}

TEST_LATE(programs, meet_others)

TEST(meets_its_parent)
{
	MPI_Comm parent;

	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		MPI_Comm_disconnect(&parent);
}

/* --- windows -------------------------------------------------------------- */

static int start_put_complete(MPI_Win win)
{
	return MPI_Win_start(other, 0, win) || put(win) ||
	       MPI_Win_complete(win);
}

static void take_turns(MPI_Win win)
{
	EACH(MPI_Win_fence(0, win));
	EXPECT(put(win) == MPI_SUCCESS);
	EACH(MPI_Win_fence(0, win));
	FOR(start_put_complete(win), MPI_Win_post(other, 0, win));
	FOR(NOTHING, MPI_Win_wait(win));
	FOR(MPI_Win_post(other, 0, win), NOTHING);
	FOR(MPI_Win_wait(win), start_put_complete(win));
}

static int lock_put_unlock(MPI_Win win)
{
	return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win) || put(win) ||
	       MPI_Win_flush_local(1, win) || MPI_Win_flush(1, win) ||
	       MPI_Win_unlock(1, win);
}

static int lock_all_put_unlock(MPI_Win win)
{
	return MPI_Win_lock_all(0, win) || put(win) ||
	       MPI_Win_flush_local_all(win) || MPI_Win_flush_all(win) ||
	       MPI_Win_unlock_all(win);
}

/* Process 1 has its own memory locked. */
static void wait_for_locks(MPI_Win win)
{
	if (rank)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
	MPI_Barrier(*world);
	FOR(lock_put_unlock(win), MPI_Win_unlock(1, win));
	if (rank)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
	MPI_Barrier(*world);
	FOR(lock_all_put_unlock(win), MPI_Win_unlock(1, win));
}

static void use_windows(void *unused)
{
	MPI_Group group;
	MPI_Info  info;
	MPI_Win   win;
	int      *base;
	const int next = 1 - rank;

	(void)unused;
	MPI_Comm_group(*world, &group);
	MPI_Group_incl(group, 1, &next, &other);
	MPI_Info_create(&info);
	make_windows();
#if MPI_VERSION >= 4
	make_windows_c();
#endif
	EACH(MPI_Win_create_dynamic(MPI_INFO_NULL, *world, &win));
	EACH(MPI_Win_free(&win));
	EACH(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, *world,
			      &base, &win));
	EACH(MPI_Win_set_info(win, info));
	take_turns(win);
	wait_for_locks(win);
	EACH(MPI_Win_free(&win));
	MPI_Info_free(&info);
	MPI_Group_free(&group);
	MPI_Group_free(&other);
}

TEST_LATE(windows, use_windows)

/* --- files ---------------------------------------------------------------- */

static void manage_file(void)
{
	MPI_Offset at;
	MPI_Info   info;

	MPI_Info_create(&info);
	EACH(MPI_File_set_size(file, 64));
	EACH(MPI_File_preallocate(file, 64));
	EACH(MPI_File_get_size(file, &at));
	EXPECT(at >= 64); /* Open MPI allocates 128 */
	EACH(MPI_File_set_info(file, info));
	EACH(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", info));
	EACH(MPI_File_set_atomicity(file, 0));
	EACH(MPI_File_sync(file));
	EACH(MPI_File_seek(file, 0, MPI_SEEK_SET));
	EACH(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	EACH(MPI_File_get_position_shared(file, &at));
	MPI_Info_free(&info);
}

static void use_files(void *unused)
{
	char name[] = "/tmp/sennit-late-XXXXXX";

	(void)unused;
	if (!rank)
		close(mkstemp(name));
	MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, *world);
	EACH(MPI_File_open(*world, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
	manage_file();
	use_file();
#if MPI_VERSION >= 4
	use_file_c();
#endif
	EACH(MPI_File_close(&file));
	FOR(MPI_File_delete(name, MPI_INFO_NULL), NOTHING);
}

TEST_LATE(files, use_files)

IN_MPI(MPI_THREAD_MULTIPLE);
