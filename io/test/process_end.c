/* SPDX-License-Identifier: Apache-2.0 */
/* process_end.c - a wait that ends the child, and the process group that it
 * leads: no grandchild survives it. */
#include "children.h"

#include "testing/proc_self.h"

#include <signal.h>

/* --- jobs ----------------------------------------------------------------- */

/* Less than a test waits: shells block signals while they start a command, so a
 * grandchild that they are just starting may miss SIGTERM. */
#define GRACE (SENNIT_SECOND / 4)

/* A child whose output is a pipe that its own children inherit: the pipe's end
 * shows that all of them have ended. */
struct job {
	pid_t       pid;
	int         out;
	int         result, status;
	uint64_t    grace;
	atomic_bool over;
};

static void begin_job(struct job *j, const char *script, uint32_t flags)
{
	char *const argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
	int         ends[2];

	begin_pipe(ends);
	*j = (struct job){ .out = ends[0], .grace = GRACE };
	j->pid = must_spawn(
		SENNIT_PROCESS_COMMAND(.argv = argv,
				       FDS({ ends[1], STDOUT_FILENO }),
				       .flags = flags));
	close(ends[1]);
}

/* The next character of the output; 0 at its end. */
static char hear(const struct job *j)
{
	char      c = 0;
	ptrdiff_t n = sennit_read(j->out, &c, 1, in_ms(100000));

	EXPECT(n >= 0);
	return n > 0 ? c : 0;
}

static void expect_nobody(const struct job *j)
{
	while (hear(j))
		;
	close(j->out);
	EXPECT(sennit_process_wait(j->pid, NULL, 0) == -ECHILD);
}

/* --- groups and sessions -------------------------------------------------- */

static void lead(void *unused)
{
	struct job j;

	(void)unused;
	begin_job(&j, "exec sleep 1000", 0);
	EXPECT(getpgid(j.pid) == getpgid(0));
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 0, 0) == -ETIMEDOUT);
	expect_nobody(&j);
	begin_job(&j, "echo .; exec sleep 1000", SENNIT_PROCESS_GROUP);
	EXPECT(getpgid(j.pid) == j.pid && getsid(j.pid) == getsid(0));
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 0, 0) == -ETIMEDOUT);
	expect_nobody(&j);
	begin_job(&j, "echo .; exec sleep 1000", SENNIT_PROCESS_SESSION);
	EXPECT(getpgid(j.pid) == j.pid && getsid(j.pid) == j.pid);
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 0, 0) == -ETIMEDOUT);
	expect_nobody(&j);
}

TEST_WITH_WORKERS(a_child_leads_a_group_or_a_session)
{
	(void)w;
	in_each_place(lead, NULL);
}

/* --- children that end by themselves -------------------------------------- */

static void end_by_itself(void *unused)
{
	struct job j;
	int        status = -1;

	(void)unused;
	begin_job(&j, "exit 3", SENNIT_PROCESS_GROUP);
	EXPECT(sennit_process_wait_or_end(j.pid, &status, 0, SENNIT_NEVER) ==
	       0);
	EXPECT(status == EXITED(3));
	expect_nobody(&j);
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 0, SENNIT_NEVER) ==
	       -ECHILD);
	EXPECT(sennit_process_wait_or_end(-1, NULL, 0, SENNIT_NEVER) ==
	       -ECHILD);
	EXPECT(sennit_process_wait_or_end(0, NULL, 0, 0) == -ECHILD);
	EXPECT(sennit_process_wait_or_end(getpid(), NULL, 0, 0) == -ECHILD);
}

TEST_WITH_WORKERS(a_child_that_ends_by_itself_is_told_of)
{
	(void)w;
	in_each_place(end_by_itself, NULL);
}

/* --- cancelling ----------------------------------------------------------- */

/* Grandchildren behind a pipe, in the background, and of a subshell. */
#define FAMILY                                           \
	"sleep 1000 & (sleep 1000; echo never) | cat & " \
	"(trap '' HUP; sleep 1000 & wait) & echo .; wait"

static int run_job(void *argument)
{
	struct job *j = argument;

	j->result = sennit_process_wait_or_end(j->pid, &j->status, j->grace,
					       SENNIT_NEVER);
	atomic_store(&j->over, true);
	return 0;
}

static void cancel_job(struct job *j)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&g, run_job, j) == 0);
	EXPECT(hear(j) == '.');
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(j->result == -ECANCELED);
	EXPECT(j->status == SIGTERM);
}

TEST_WITH_WORKERS(a_cancelled_job_leaves_no_grandchildren)
{
	struct job j;

	(void)w;
	begin_job(&j, FAMILY, SENNIT_PROCESS_GROUP);
	cancel_job(&j);
	expect_nobody(&j);
	begin_job(&j, FAMILY, SENNIT_PROCESS_SESSION);
	cancel_job(&j);
	expect_nobody(&j);
}

/* Without a flag the child alone is ended, and its children go on. */
static void end_child_alone(void *unused)
{
	char *const argv[] = { "sh", "-c",
			       "(echo .; read x <&3; echo $x) & wait", NULL };
	struct job  j;
	int         in[2], out[2];

	(void)unused;
	begin_pipe(in);
	begin_pipe(out);
	j.out = out[0];
	j.pid = must_spawn(SENNIT_PROCESS_COMMAND(.argv = argv,
						  FDS({ out[1], STDOUT_FILENO },
						      { in[0], 3 })));
	close(in[0]);
	close(out[1]);
	EXPECT(hear(&j) == '.');
	EXPECT(hear(&j) == '\n');
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 0, 0) == -ETIMEDOUT);
	EXPECT(sennit_write(in[1], "b\n", 2, in_ms(100000)) == 2);
	EXPECT(hear(&j) == 'b');
	close(in[1]);
	expect_nobody(&j);
}

TEST_WITH_WORKERS(without_a_group_the_child_alone_is_ended)
{
	(void)w;
	in_each_place(end_child_alone, NULL);
}

/* Those that do not end by SIGTERM are killed after the grace. */
static void end_deaf_ones(void *unused)
{
	struct job j;
	int        status = -1;

	(void)unused;
	begin_job(&j,
		  "trap '' TERM; (while :; do sleep 1000; done) & echo .; "
		  "while :; do sleep 1000; done",
		  SENNIT_PROCESS_GROUP);
	EXPECT(hear(&j) == '.');
	EXPECT(sennit_process_wait_or_end(j.pid, &status, SENNIT_MILLISECOND,
					  in_ms(1)) == -ETIMEDOUT);
	EXPECT(status == SIGKILL);
	expect_nobody(&j);
}

TEST_WITH_WORKERS(those_that_ignore_the_signal_are_killed)
{
	(void)w;
	in_each_place(end_deaf_ones, NULL);
}

/* A grandchild that tidies up has time for it, although the child has ended. */
static void end_tidy_ones(void *unused)
{
	struct job j;

	(void)unused;
	begin_job(&j,
		  "(trap 'sleep 0.1; echo t; exit' TERM; echo .; "
		  "while :; do sleep 1; done) & wait",
		  SENNIT_PROCESS_GROUP);
	EXPECT(hear(&j) == '.');
	EXPECT(hear(&j) == '\n');
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 1000 * SENNIT_SECOND,
					  0) == -ETIMEDOUT);
	EXPECT(hear(&j) == 't');
	expect_nobody(&j);
}

TEST_WITH_WORKERS(a_grandchild_has_time_to_tidy_up)
{
	(void)w;
	in_each_place(end_tidy_ones, NULL);
}

/* A thread tidies up, and the first thread has ended. */
static void *tidy_up(void *out)
{
	const struct timespec time = { .tv_nsec = 100000000 };
	sigset_t              term;
	int                   number;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	(void)!write(*(int *)out, ".", 1);
	(void)sigwait(&term, &number);
	(void)nanosleep(&time, NULL);
	(void)!write(*(int *)out, "t", 1);
	_exit(0);
}

static void run_without_first_thread(int *out)
{
	sigset_t  term;
	pthread_t t;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	if (!pthread_create(&t, NULL, tidy_up, out))
		pthread_exit(NULL);
	_exit(1);
}

TEST_ALONE(a_grandchild_without_its_first_thread_has_time_as_well)
{
	static int ends[2];
	struct job j;

	if (under_emulator())
		skip();
	begin_pipe(ends);
	j.out = ends[0];
	j.pid = fork();
	must(j.pid >= 0, "fork");
	if (!j.pid) {
		(void)setpgid(0, 0);
		close(ends[0]);
		if (!fork())
			run_without_first_thread(&ends[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	EXPECT(hear(&j) == '.');
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 1000 * SENNIT_SECOND,
					  0) == -ETIMEDOUT);
	EXPECT(hear(&j) == 't');
	expect_nobody(&j);
}

static void end_stopped_ones(void *unused)
{
	struct job j;

	(void)unused;
	begin_job(&j, "(echo .; exec sleep 1000) & wait", SENNIT_PROCESS_GROUP);
	EXPECT(hear(&j) == '.');
	kill(-j.pid, SIGSTOP);
	EXPECT(sennit_process_wait_or_end(j.pid, NULL, 1000 * SENNIT_SECOND,
					  0) == -ETIMEDOUT);
	expect_nobody(&j);
}

TEST_WITH_WORKERS(stopped_ones_are_ended)
{
	(void)w;
	in_each_place(end_stopped_ones, NULL);
}

/* While one is being ended, the worker does other things. */
TEST_WITH_WORKERS(ending_holds_up_no_worker)
{
	sennit_group g;
	struct job   j, other;

	(void)w;
	begin_job(&j, "trap 'echo t' TERM; echo .; while :; do sleep 1; done",
		  SENNIT_PROCESS_GROUP);
	j.grace = 1000 * SENNIT_SECOND;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(hear(&j) == '.');
	EXPECT(sennit_group_spawn(&g, run_job, &j) == 0);
	sennit_group_cancel(&g);
	EXPECT(hear(&j) == '\n');
	EXPECT(hear(&j) == 't'); /* it is being ended */
	begin_job(&other, "exit 0", 0);
	EXPECT(sennit_process_wait(other.pid, NULL, in_ms(100000)) == 0);
	close(other.out);
	EXPECT(!atomic_load(&j.over));
	kill(-j.pid, SIGKILL);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(j.result == -ECANCELED && j.status == SIGKILL);
	expect_nobody(&j);
}

USES_BACKEND;
