/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - waiting for the end of children, by pidfd, and if a filter
 * refuses that. commands.c tests what children get. */
#include "children.h"

/* --- ends --------------------------------------------------------------- */

static void see_ends(void *unused)
{
	(void)unused;
	expect_end(spawn_shell("exit 0", 0, 0), EXITED(0));
	expect_end(spawn_shell("exit 42", 0, 0), EXITED(42));
	expect_end(spawn_shell("kill -9 $$", 0, 0), SIGKILL);
	EXPECT(sennit_process_wait(-1, NULL, SENNIT_NEVER) == -ECHILD);
	EXPECT(sennit_process_wait(0, NULL, SENNIT_NEVER) == -ECHILD);
	EXPECT(sennit_process_wait(getpid(), NULL, SENNIT_NEVER) == -ECHILD);
}

TEST_WITH_WORKERS(exits_and_signals_are_told)
{
	in_each_place(see_ends, NULL);
}

/* A child that lives until its standard input ends. */
struct lodger {
	int         keep; /* the write end of its input */
	pid_t       pid;
	atomic_bool over;
};

static void let_in(struct lodger *l)
{
	int fds[2];

	begin_pipe(fds);
	l->pid = spawn_shell("read line", fds[0], 0);
	close(fds[0]);
	l->keep = fds[1];
	atomic_store(&l->over, false);
}

static void give_up_waiting(void *unused)
{
	const sennit_time deadline = in_ms(3);
	struct lodger     l;

	(void)unused;
	let_in(&l);
	EXPECT(sennit_process_wait(l.pid, NULL, 0) == -ETIMEDOUT);
	EXPECT(sennit_process_wait(l.pid, NULL, deadline) == -ETIMEDOUT);
	EXPECT(sennit_now() >= deadline);
	close(l.keep);
	expect_end(l.pid, EXITED(1));
}

TEST_WITH_WORKERS(a_deadline_ends_the_wait_not_the_child)
{
	in_each_place(give_up_waiting, NULL);
}

/* Whether a fiber waits for a child: by pidfd, or, where there is none (as
 * under Valgrind), by checking it repeatedly. */
static void see_wait(void *context, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    (e->waits_for == SENNIT_WAITS_FOR_IO ||
	     e->waits_for == SENNIT_WAITS_FOR_TIME))
		*(bool *)context = true;
}

static bool child_is_awaited(sennit_scheduler *s)
{
	bool seen = false;

	sennit_report_visit(s, see_wait, &seen);
	return seen;
}

static void wait_for_lodger(void *argument)
{
	struct lodger *l = argument;

	expect_end(l->pid, EXITED(1));
	atomic_store(&l->over, true);
}

/* This also works with one worker: the fiber that ends the child runs while the
 * other waits. */
TEST_WITH_WORKERS(waiting_for_a_child_holds_up_no_worker)
{
	struct lodger l;

	let_in(&l);
	must_schedule(wait_for_lodger, &l);
	assert_soon(child_is_awaited(w->s));
	in_a_task(see_ends, NULL);
	close(l.keep);
	assert_soon(atomic_load(&l.over));
}

static int wait_as_member(void *argument)
{
	struct lodger *l = argument;
	int            err = sennit_process_wait(l->pid, NULL, SENNIT_NEVER);

	atomic_store(&l->over, err == -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(cancelling_ends_the_wait_not_the_child)
{
	struct lodger l;
	sennit_group  g;

	let_in(&l);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_as_member, &l), 0);
	assert_soon(child_is_awaited(w->s));
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_true(atomic_load(&l.over));
	close(l.keep);
	expect_end(l.pid, EXITED(1));
}

/* --- a filter between two pipes ----------------------------------------- */

enum { BULK = 300000 }; /* more than pipes hold */

static void write_bulk(void *argument)
{
	static const char zeroes[1000];
	int               fd = *(const int *)argument;

	for (size_t left = BULK; left;) {
		size_t    piece = left < 1000 ? left : 1000;
		ptrdiff_t n = sennit_write(fd, zeroes, piece, SENNIT_NEVER);

		EXPECT(n > 0);
		if (n <= 0)
			break;
		left -= (size_t)n;
	}
	close(fd);
}

static void filter_bulk(void *unused)
{
	char *const argv[] = { "cat", NULL };
	char        bytes[4096];
	int         in[2], out[2];
	size_t      have = 0;
	ptrdiff_t   n;
	pid_t       child;

	(void)unused;
	begin_pipe(in);
	begin_pipe(out);
	child = must_spawn(
		SENNIT_PROCESS_COMMAND(.argv = argv,
				       FDS({ in[0], 0 }, { out[1], 1 })));
	close(in[0]);
	close(out[1]);
	must_schedule(write_bulk, &in[1]);
	while ((n = sennit_read(out[0], bytes, sizeof(bytes), SENNIT_NEVER)) >
	       0)
		have += (size_t)n;
	EXPECT(n == 0 && have == BULK);
	close(out[0]);
	expect_end(child, EXITED(0));
}

TEST_WITH_WORKERS(a_filter_takes_and_gives_more_than_pipes_hold)
{
	filter_bulk(NULL);
	in_a_task(filter_bulk, NULL);
}

/* --- without pidfds ----------------------------------------------------- */

static int refuse_pidfd_open(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A thread with the filter, and the workers that it starts. */
static void *wait_filtered(void *workers)
{
	sennit_scheduler *s;

	if (refuse_pidfd_open())
		return "no filters here";
	EXPECT(syscall(SYS_pidfd_open, getpid(), 0) < 0 && errno == ENOSYS);
	give_up_waiting(NULL);
	see_ends(NULL);
	EXPECT(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = *(uint32_t *)workers)));
	EXPECT(!sennit_thread_bind(s));
	in_a_task(give_up_waiting, NULL);
	in_a_task(see_ends, NULL);
	sennit_thread_unbind();
	EXPECT(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
	return NULL;
}

TEST_WITH_WORKERS(children_are_waited_for_without_pidfds)
{
	void *said;

	pthread_join(must_start_thread(wait_filtered, &w->workers), &said);
	if (said)
		print_message("skipped: %s\n", (char *)said);
}

USES_BACKEND;
