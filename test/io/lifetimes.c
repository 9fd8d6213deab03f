/* SPDX-License-Identifier: Apache-2.0 */
/* lifetimes.c - what workers wait with comes and goes: a scheduler's end leaves
 * no descriptor, a forked child has none, workers retire and come back, and a
 * process ends whoever waits. While nothing comes, nobody wakes up.
 */
#include "operations.h"

#include "../child.h"

#include <dirent.h>
#include <sys/resource.h>

/* How many descriptors there are of what workers wait with. */
static int poller_descriptors(void)
{
	DIR           *folder = opendir("/proc/self/fd");
	struct dirent *e;
	int            count = 0;

	must(folder, "/proc/self/fd");
	while ((e = readdir(folder))) {
		char    to[64] = "";
		ssize_t n = readlinkat(dirfd(folder), e->d_name, to,
				       sizeof(to) - 1);

		count += n > 0 &&
			 (strstr(to, "[eventpoll]") ||
			  strstr(to, "[eventfd]") || strstr(to, "[io_uring]"));
	}
	closedir(folder);
	return count;
}

/* --- readers ------------------------------------------------------------ */

enum { READERS = 24 };

struct readers {
	int         fds[READERS][2];
	atomic_uint over;
};

struct reader {
	struct readers *all;
	int             i;
};

static void read_one(void *argument)
{
	struct reader *r = argument;
	char           byte = 0;

	EXPECT(sennit_read(r->all->fds[r->i][0], &byte, 1, SENNIT_NEVER) == 1);
	EXPECT(byte == (char)r->i);
	atomic_fetch_add(&r->all->over, 1);
}

static void start_readers(struct readers *all, sennit_scheduler *s)
{
	atomic_store(&all->over, 0);
	for (int i = 0; i < READERS; i++) {
		struct reader r = { all, i };

		begin_pipe(all->fds[i]);
		EXPECT(!sennit_schedule_copy(read_one, &r, sizeof(r)));
	}
	EXPECT_SOON(io_waits(s) == READERS);
}

static void end_readers(struct readers *all)
{
	for (int i = 0; i < READERS; i++) {
		char byte = (char)i;

		must(write(all->fds[i][1], &byte, 1) == 1, "write");
	}
	EXPECT_SOON(atomic_load(&all->over) == READERS);
	for (int i = 0; i < READERS; i++) {
		close(all->fds[i][0]);
		close(all->fds[i][1]);
	}
}

/* --- ends --------------------------------------------------------------- */

TEST_WITH_COUNTS(a_scheduler_leaves_no_descriptor)
{
	int            before = poller_descriptors();
	struct readers all;

	for (int i = 0; i < 3; i++) {
		sennit_scheduler *s =
			start_with(SENNIT_CONFIG(.workers = w->workers));

		assert_int_equal(sennit_bind(s), 0);
		start_readers(&all, s);
		assert_true(poller_descriptors() > before);
		end_readers(&all);
		sennit_unbind();
		end_scheduler(s);
		assert_int_equal(poller_descriptors(), before);
	}
}

/* Who lets go of a scheduler before its fibers have read does not end it. */
TEST_WITH_THREAD_COUNTS(who_waits_keeps_the_scheduler)
{
	sennit_scheduler *s = start_with(SENNIT_CONFIG(.workers = w->workers));
	struct readers    all;

	assert_int_equal(sennit_bind(s), 0);
	start_readers(&all, s);
	sennit_unbind();
	assert_int_equal(sennit_scheduler_shutdown(s, in_ms(1)), -ETIMEDOUT);
	end_readers(&all);
	end_scheduler(s);
}

/* A read that waits for a write of the same task. */
static void wait_a_moment(void *argument)
{
	int  fds[2];
	char byte;

	(void)argument;
	begin_pipe(fds);
	EXPECT(sennit_read(fds[0], &byte, 1, sennit_after(1000)) == -ETIMEDOUT);
	must(write(fds[1], "x", 1) == 1, "write");
	EXPECT(sennit_read(fds[0], &byte, 1, SENNIT_NEVER) == 1);
	close(fds[0]);
	close(fds[1]);
}

/* The next thread of a worker finds the poller of the one before. */
TEST_ALONE(workers_retire_and_come_back)
{
	sennit_scheduler *s;

	s = start_with(SENNIT_CONFIG(.workers = 2, .retire_ms = 1));
	assert_int_equal(sennit_bind(s), 0);
	for (int i = 0; i < 40; i++) {
		in_a_task(wait_a_moment, NULL);
		usleep((useconds_t)i * 100); /* one has retired then, or not */
	}
	sennit_unbind();
	end_scheduler(s);
}

TEST_ALONE(workers_are_taken_away_and_added)
{
	sennit_scheduler *s;
	struct readers    all;

	s = start_with(SENNIT_CONFIG(.workers = 4, .max_workers = 4));
	assert_int_equal(sennit_bind(s), 0);
	for (uint32_t i = 0; i < 10; i++) {
		start_readers(&all, s);
		assert_int_equal(sennit_scheduler_set_workers(s, 1 + i % 4), 0);
		end_readers(&all);
	}
	sennit_unbind();
	end_scheduler(s);
}

#if !defined(SN_ASAN) && !defined(SN_TSAN) /* see test/api/fork.c */

/* --- processes ---------------------------------------------------------- */

static void use_in_child(void)
{
	sennit_scheduler *s = NULL;
	struct readers    all;

	EXPECT(poller_descriptors() == 0);
	EXPECT(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)));
	EXPECT(!sennit_bind(s));
	start_readers(&all, s);
	end_readers(&all);
	sennit_unbind();
	EXPECT(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
	_exit(atomic_load(&broken_claims) ? 99 : 0);
}

TEST_WITH_WORKERS(a_child_has_no_poller_and_makes_its_own)
{
	struct readers all;
	pid_t          child;
	int            status;

	start_readers(&all, w->s);
	child = begin_child();
	if (!child)
		use_in_child();
	status = await_child(child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	end_readers(&all);
}

TEST_WITH_COUNTS(a_process_ends_whoever_waits)
{
	pid_t child = begin_child();
	int   status;

	if (!child) {
		struct readers    all;
		sennit_scheduler *s;

		EXPECT(!sennit_scheduler_create(
			&s, SENNIT_CONFIG(.workers = w->workers)));
		EXPECT(!sennit_bind(s));
		start_readers(&all, s);
		exit(atomic_load(&broken_claims) ? 99 : 0);
	}
	status = await_child(child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
#if !defined(SN_TSAN) /* which has a thread of its own that wakes up */

/* --- idle --------------------------------------------------------------- */

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw;
}

static void count_wakeups(void *argument)
{
	long *count = argument;

	usleep(50000); /* first sleeps are short: see sched/loop.h */
	*count = -switches();
	usleep(300000);
	*count += switches();
}

/* The thread that counts wakes up, nobody else; some may fall asleep late. */
TEST_WITH_WORKERS(while_nothing_comes_nobody_wakes_up)
{
	struct readers all;
	long           count = 0;

	start_readers(&all, w->s);
	for (int i = 0; i < 20; i++) {
		in_a_thread(count_wakeups, &count);
		if (count <= 2)
			break;
	}
	end_readers(&all);
	assert_true(count <= 2);
}

#endif

/* --- refused ------------------------------------------------------------ */

static void call_without_descriptors(void *unused)
{
	struct rlimit limit, none;
	int           fds[2];
	char          byte;

	(void)unused;
	begin_pipe(fds);
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	EXPECT(sennit_read(fds[0], &byte, 1, in_ms(1)) == -EMFILE);
	EXPECT(!sennit_io_backend());
	setrlimit(RLIMIT_NOFILE, &limit);
	EXPECT(sennit_read(fds[0], &byte, 1, in_ms(1)) == -ETIMEDOUT);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITHOUT(without_descriptors_a_call_fails_and_later_not)
{
	call_without_descriptors(NULL);
}

USES_BACKEND;
