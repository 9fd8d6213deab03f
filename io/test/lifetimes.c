/* SPDX-License-Identifier: Apache-2.0 */
/* lifetimes.c - the lifetimes of pollers: the end of a scheduler leaves no
 * descriptor open, a forked child has none, workers retire and restart, and a
 * process can exit while fibers wait. While no event arrives, no thread wakes
 * up.
 */
#include "operations.h"

#include "testing/child.h"

#include <dirent.h>
#include <sys/resource.h>

/* The number of open descriptors that pollers use. */
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

		assert_int_equal(sennit_thread_bind(s), 0);
		start_readers(&all, s);
		assert_true(poller_descriptors() > before);
		end_readers(&all);
		sennit_thread_unbind();
		end_scheduler(s);
		assert_int_equal(poller_descriptors(), before);
	}
}

/* --- several schedulers --------------------------------------------------- */

static void wait_in_vain(void *fd)
{
	char byte;

	EXPECT(sennit_read(*(int *)fd, &byte, 1,
			   sennit_after(SENNIT_MILLISECOND)) == -ETIMEDOUT);
}

static void *begin_and_end_schedulers(void *workers)
{
	int fds[2];

	begin_pipe(fds);
	for (int i = 0; i < 20; i++) {
		sennit_scheduler *s = NULL;

		EXPECT(!sennit_scheduler_create(
			&s, SENNIT_CONFIG(.workers = *(uint32_t *)workers)));
		EXPECT(!sennit_thread_bind(s));
		in_a_task(wait_in_vain, &fds[0]);
		sennit_thread_unbind();
		EXPECT(!sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)));
	}
	close(fds[0]);
	close(fds[1]);
	return NULL;
}

/* Symptom: ThreadSanitizer reported a race between the end of a worker and the
 * begin or end of another scheduler's. */
TEST_WITH_COUNTS(schedulers_begin_and_end_beside_each_other)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		threads[i] = must_start_thread(begin_and_end_schedulers,
					       &w->workers);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* Releasing a scheduler before its fibers have read does not end it. */
TEST_WITH_THREAD_COUNTS(who_waits_keeps_the_scheduler)
{
	sennit_scheduler *s = start_with(SENNIT_CONFIG(.workers = w->workers));
	struct readers    all;

	assert_int_equal(sennit_thread_bind(s), 0);
	start_readers(&all, s);
	sennit_thread_unbind();
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

/* The next thread of a worker uses the poller of the previous one. */
TEST_ALONE(workers_retire_and_come_back)
{
	sennit_scheduler *s;

	s = start_with(SENNIT_CONFIG(.workers = 2, .retire_ms = 1));
	assert_int_equal(sennit_thread_bind(s), 0);
	for (int i = 0; i < 40; i++) {
		in_a_task(wait_a_moment, NULL);
		usleep((useconds_t)i * 100); /* a worker may or may not have
					      * retired by then */
	}
	sennit_thread_unbind();
	end_scheduler(s);
}

/* Limit the number of descriptors so that none can be opened. Not to 0: poll()
 * refuses more descriptors than the limit. */
static void limit_descriptors(struct rlimit *before)
{
	struct rlimit now;

	must(fcntl(0, F_GETFD) >= 0, "fcntl");
	must(!getrlimit(RLIMIT_NOFILE, before), "getrlimit");
	now = *before;
	now.rlim_cur = 1;
	must(!setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
}

static void poll_in_vain(void *argument)
{
	const int *fds = argument;
	char       byte;
	ptrdiff_t  n;

	EXPECT(sennit_poll(fds[0], POLLPRI, in_ms(20)) == -ETIMEDOUT);
	n = sennit_read(fds[0], &byte, 1, in_ms(1));
	EXPECT(n == -EMFILE || n == -ETIMEDOUT);
}

static uint64_t threads_of(sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(s, &stats);
	return stats.threads;
}

/* Two tasks that keep a worker each. */
struct pair {
	void (*run)(void *argument);
	void       *argument;
	atomic_uint begun, over;
};

static void run_beside(void *argument)
{
	struct pair *p = argument;

	atomic_fetch_add(&p->begun, 1);
	while (atomic_load(&p->begun) < 2)
		sched_yield();
	p->run(p->argument);
	atomic_fetch_add(&p->over, 1);
}

static void run_in_pair(void (*run)(void *argument), void *argument)
{
	struct pair p = { .run = run, .argument = argument };

	must_schedule(run_beside, &p);
	must_schedule(run_beside, &p);
	EXPECT_SOON(atomic_load(&p.over) == 2);
}

/* With io_uring the next thread of a worker can make no ring, and its first
 * call can make no set. */
TEST_ALONE(a_new_thread_polls_without_descriptors)
{
	sennit_scheduler *s;
	struct rlimit     limit;
	int               fds[2];

	s = start_with(SENNIT_CONFIG(.workers = 2, .retire_ms = 1));
	assert_int_equal(sennit_thread_bind(s), 0);
	begin_pipe(fds);
	run_in_pair(wait_a_moment, NULL); /* both have a poller */
	assert_soon(threads_of(s) == 1);
	limit_descriptors(&limit);
	run_in_pair(poll_in_vain, fds);
	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	run_in_pair(wait_a_moment, NULL);
	close(fds[0]);
	close(fds[1]);
	sennit_thread_unbind();
	end_scheduler(s);
}

TEST_ALONE(workers_are_taken_away_and_added)
{
	sennit_scheduler *s;
	struct readers    all;

	s = start_with(SENNIT_CONFIG(.workers = 4, .max_workers = 4));
	assert_int_equal(sennit_thread_bind(s), 0);
	for (uint32_t i = 0; i < 10; i++) {
		start_readers(&all, s);
		assert_int_equal(sennit_scheduler_set_workers(s, 1 + i % 4), 0);
		end_readers(&all);
	}
	sennit_thread_unbind();
	end_scheduler(s);
}

#if !defined(SN_ASAN) && !defined(SN_TSAN) /* see core/test/api/fork.c */

/* --- processes ---------------------------------------------------------- */

static void use_in_child(void)
{
	sennit_scheduler *s = NULL;
	struct readers    all;

	EXPECT(poller_descriptors() == 0);
	EXPECT(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)));
	EXPECT(!sennit_thread_bind(s));
	start_readers(&all, s);
	end_readers(&all);
	sennit_thread_unbind();
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
		EXPECT(!sennit_thread_bind(s));
		start_readers(&all, s);
		exit(atomic_load(&broken_claims) ? 99 : 0);
	}
	status = await_child(child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
#if !defined(SN_TSAN) /* which has its own thread that wakes up */

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

	usleep(50000); /* the first sleeps are short: see sched/loop.h */
	*count = -switches();
	usleep(300000);
	*count += switches();
}

/* Only the thread that counts wakes up. Some threads may begin to sleep
 * late. */
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
