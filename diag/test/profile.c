/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - a profile shows what its programs are known to do: shares of the
 * CPU, stacks, counts of waits, and which task waits for which lock. */
#include "sennit/profile.h"
#include "marks.h"

#include "testing/with_workers.h"
#include "testing/child.h"
#include "testing/proc_self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

/* TSan delays signals until the thread is elsewhere. Under Valgrind and
 * emulators the CPU time of threads is not that of the program. */
#if defined(SN_TSAN)
#define MAY_SAMPLE false
#else
#define MAY_SAMPLE (!RUNNING_ON_VALGRIND)
#endif

/* --- reading -------------------------------------------------------------- */

/* Return the profile of the kind, zero-terminated. */
static char *read_profile(enum sennit_profile_kind   kind,
			  enum sennit_profile_format format)
{
	int   fd = memfd_create("profile", MFD_CLOEXEC);
	off_t size;
	char *text;

	assert_true(fd >= 0);
	assert_int_equal(sennit_profile_write(fd, kind, format), 0);
	size = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)size, 0), size);
	close(fd);
	return text;
}

struct seen {
	uint64_t lines, count;
	double   total, longest; /* ms */
};

/* Return the sums of the lines of TEXT that contain these words. */
static struct seen look(enum sennit_profile_kind kind, const char *words)
{
	char       *text = read_profile(kind, SENNIT_PROFILE_TEXT);
	char       *rest = NULL;
	struct seen sum = { .lines = 0 };
	char       *line = strtok_r(text, "\n", &rest); /* the first line */
	bool        is_cpu = kind == SENNIT_PROFILE_CPU;
	int         at = 0, more = 0;

	for (; (line = strtok_r(NULL, "\n", &rest));) {
		struct seen s = { .lines = 1 };
		int         n = sscanf(line, "%lf %n", &s.total, &at);

		if (n == 1 && !is_cpu)
			n = sscanf(line + at, "%lf %n", &s.longest, &more);
		if (n != 1 || !strstr(line, words) ||
		    sscanf(line + at + more, "%" SCNu64, &s.count) != 1)
			continue;
		sum.lines++;
		sum.count += s.count;
		sum.total += s.total;
		if (s.longest > sum.longest)
			sum.longest = s.longest;
	}
	free(text);
	return sum;
}

/* Return a number of the first line, after these words. */
static uint64_t head(enum sennit_profile_kind kind, const char *words)
{
	char       *text = read_profile(kind, SENNIT_PROFILE_TEXT);
	const char *at = strstr(text, words);
	uint64_t    n = 0;

	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(words), "%" SCNu64, &n), 1);
	free(text);
	return n;
}

static void start_profile(uint32_t kinds, uint32_t hertz)
{
	assert_int_equal(sennit_profile_start(kinds, hertz), 0);
}

/* Run it as a task whose function has the name. */
static void run_named(void (*run)(void *), const char *name)
{
	EXPECT(!sennit_function_set_name(run_errand, name));
	in_a_task(run, NULL);
}

/* --- CPU -------------------------------------------------------------- */

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

static volatile unsigned sink;

/* Use that much of the thread's CPU time. Returns the time used. */
static __attribute__((noinline)) uint64_t burn(uint64_t ns)
{
	const uint64_t begin = cpu_time();
	uint64_t       now;

	do {
		for (int i = 0; i < 5000; i++)
			sink++;
		now = cpu_time();
	} while (now - begin < ns);
	return now - begin;
}

enum { SLICES = 8, SLICE = 25000000 };

static atomic_uint_fast64_t burnt[3]; /* CPU time used by the three tasks */

static void burn_share(unsigned which, unsigned part)
{
	for (int i = 0; i < SLICES; i++) {
		atomic_fetch_add(&burnt[which], burn((uint64_t)part * SLICE));
		sennit_yield();
	}
}

static void burn_one(void *done)
{
	burn_share(0, 1);
	sennit_wait_group_done(done);
}

static void burn_two(void *done)
{
	burn_share(1, 2);
	sennit_wait_group_done(done);
}

static void burn_five(void *done)
{
	burn_share(2, 5);
	sennit_wait_group_done(done);
}

static sennit_task_fn *const burners[] = { burn_one, burn_two, burn_five };
static const char *const     burner_names[] = { "share-one", "share-two",
						"share-five" };

static void burn_shares(void *unused)
{
	sennit_wait_group done;

	(void)unused;
	sennit_wait_group_init(&done, 3);
	for (int i = 0; i < 3; i++) {
		EXPECT(!sennit_function_set_name(burners[i], burner_names[i]));
		must_schedule(burners[i], &done);
	}
	sennit_wait_group_wait(&done);
}

/* Each task's share of the samples is its share of the CPU time, within five
 * standard deviations for that number of samples. (A slice is as long as
 * several samples, so the error is less than for independent samples.) */
TEST_WITH_THREADS(shares_are_those_of_the_cpu_time)
{
	double   truth[3], found[3], all = 0, sum = 0;
	uint64_t samples;

	(void)w;
	if (!MAY_SAMPLE)
		skip();
	for (int i = 0; i < 3; i++)
		atomic_store(&burnt[i], 0);
	start_profile(SENNIT_PROFILE_CPU, 500);
	in_a_task(burn_shares, NULL);
	sennit_profile_stop();
	for (int i = 0; i < 3; i++) {
		truth[i] = (double)atomic_load(&burnt[i]);
		found[i] = look(SENNIT_PROFILE_CPU, burner_names[i]).total;
		all += truth[i];
		sum += found[i];
	}
	samples = head(SENNIT_PROFILE_CPU, "CPU: ");
	assert_true(samples >= 100); /* 1.6 s at 100 ticks a second or more */
	for (int i = 0; i < 3; i++) {
		const double p = truth[i] / all;
		const double sigma = sqrt(p * (1 - p) / (double)samples);

		if (fabs(found[i] / sum - p) > 5 * sigma)
			fail_msg("%s: %f of the samples, %f of the time",
				 burner_names[i], found[i] / sum, p);
	}
	/* A timer counts what the threads have used up to its last tick, which
	 * is late for a thread that seldom runs for long. */
	assert_true(sum * 1e6 < all * 1.1 && sum * 1e6 > all / 2);
	assert_int_equal(head(SENNIT_PROFILE_CPU, "lost: "), 0);
}

static __attribute__((noinline)) void inner_place(void)
{
	burn(200000000);
	NOT_LAST();
}

static __attribute__((noinline)) void outer_place(unsigned depth)
{
	if (depth)
		outer_place(depth - 1);
	else
		inner_place();
	NOT_LAST();
}

static void burn_deep(void *unused)
{
	(void)unused;
	sennit_task_set_name("deep;er");
	outer_place(3);
	sennit_task_set_name("");
}

/* Each stack is that of the code, from the task's function on, and complete. */
TEST_WITH_WORKERS(stacks_are_those_of_the_code)
{
	char *text;

	(void)w;
	if (!MAY_SAMPLE)
		skip();
	start_profile(SENNIT_PROFILE_CPU, 500);
	run_named(burn_deep, "task-deep");
	sennit_profile_stop();
	text = read_profile(SENNIT_PROFILE_CPU, SENNIT_PROFILE_FOLDED);
	assert_true(look(SENNIT_PROFILE_CPU, "task-deep 'deep;er'").count > 0);
	assert_non_null(strstr(text, "task-deep;deep:er;"));
#if HAS_FRAMES
	assert_non_null(strstr(
		text, "task-deep;deep:er;burn_deep;outer_place;outer_place;"
		      "outer_place;outer_place;inner_place;"
		      "burn"));
#endif
	free(text);
}

static void *burn_call(void *unused)
{
	(void)unused;
	burn(200000000);
	return NULL;
}

static void call_blocking(void *unused)
{
	(void)unused;
	sennit_task_set_name("the caller");
	(void)sennit_blocking_call(burn_call, NULL);
}

/* The thread that makes the call starts after the profile. */
TEST_WITH_WORKERS(a_blocking_call_counts_for_its_caller)
{
	(void)w;
	if (!MAY_SAMPLE)
		skip();
	start_profile(SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 500);
	run_named(call_blocking, "task-call");
	sennit_profile_stop();
	assert_true(look(SENNIT_PROFILE_CPU, "task-call 'the caller'").count >
		    0);
	assert_int_equal(
		look(SENNIT_PROFILE_WAITS, "a blocking call, task-call").count,
		1);
}

static void burn_a_little(void *unused)
{
	(void)unused;
	burn(100000000);
}

/* So do the threads of workers of a scheduler that is created later, and
 * ends. */
TEST_ALONE(workers_begin_and_end_meanwhile)
{
	(void)w;
	if (!MAY_SAMPLE)
		skip();
	assert_int_equal(sennit_function_set_name(burn_a_little, "task-later"),
			 0);
	start_profile(SENNIT_PROFILE_CPU, 500);
	for (int i = 0; i < 3; i++) {
		sennit_scheduler *s = start_scheduler(2);

		for (int k = 0; k < 2; k++)
			assert_int_equal(enqueue(s, burn_a_little, NULL), 0);
		end_scheduler(s);
	}
	assert_true(look(SENNIT_PROFILE_CPU, "task-later").total >= 200);
	sennit_profile_stop();
}

/* --- waits ------------------------------------------------------------ */

enum { SLEEPS = 20, LOOKS_AT_EVENT = 7, NAP = 1000000 };

static __attribute__((noinline)) void sleep_here(void)
{
	for (volatile int i = 0; i < SLEEPS; i++) /* one call, not unrolled */
		EXPECT(!sennit_sleep(NAP));
	NOT_LAST();
}

static __attribute__((noinline)) void sleep_there(void)
{
	EXPECT(!sennit_sleep(3 * NAP));
	NOT_LAST();
}

static void wait_much(void *unused)
{
	sennit_event never;

	(void)unused;
	sleep_here();
	sleep_there();
	sennit_event_init(&never, SENNIT_EVENT_MANUAL);
	for (int i = 0; i < LOOKS_AT_EVENT; i++)
		EXPECT(sennit_event_wait_until(&never, sennit_after(NAP)) ==
		       -ETIMEDOUT);
	for (int i = 0; i < 100; i++)
		sennit_yield();
}

/* Counts are exact, and times are at least those requested: no wait is missed
 * or counted twice, and a yield does not count. */
TEST_WITH_WORKERS(waits_have_their_counts_and_times)
{
	struct seen s;

	(void)w;
	start_profile(SENNIT_PROFILE_WAITS, 0);
	run_named(wait_much, "task-wait");
	sennit_profile_stop();
	s = look(SENNIT_PROFILE_WAITS, "the end of its sleep, task-wait");
	assert_int_equal(s.count, SLEEPS + 1);
	assert_true(s.total >= SLEEPS + 3 - 0.1);
	assert_true(s.longest >= 3 - 0.01);
	s = look(SENNIT_PROFILE_WAITS, "event, task-wait");
	assert_int_equal(s.count, LOOKS_AT_EVENT);
	assert_true(s.total >= LOOKS_AT_EVENT - 0.1);
	assert_int_equal(look(SENNIT_PROFILE_WAITS, ", task-wait").count,
			 SLEEPS + 1 + LOOKS_AT_EVENT);
	assert_int_equal(head(SENNIT_PROFILE_WAITS, "lost: "), 0);
	assert_int_equal(look(SENNIT_PROFILE_LOCKS, "").count, 0);
#if HAS_FRAMES
	s = look(SENNIT_PROFILE_WAITS, "sennit_sleep < sleep_here+");
	assert_int_equal(s.count, SLEEPS);
	assert_int_equal(s.lines, 1);
	s = look(SENNIT_PROFILE_WAITS, "sennit_sleep < sleep_there+");
	assert_int_equal(s.count, 1);
#endif
}

/* A wait that is cancelled, and one that ends at its group's deadline. */
static int wait_for_ever(void *begun)
{
	atomic_store((atomic_bool *)begun, true);
	EXPECT(sennit_sleep_until(SENNIT_NEVER) < 0);
	return 0;
}

static void cancel_waits(void *unused)
{
	sennit_group g;
	atomic_bool  begun = false;

	(void)unused;
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	EXPECT(!sennit_group_spawn(&g, wait_for_ever, &begun));
	EXPECT_SOON(atomic_load(&begun));
	sennit_group_cancel(&g);
	(void)sennit_group_wait(&g);
	begun = false;
	sennit_group_init(&g, sennit_after(50 * NAP), SENNIT_GROUP_OWN_STACKS);
	EXPECT(!sennit_group_spawn(&g, wait_for_ever, &begun));
	(void)sennit_group_wait(&g);
}

TEST_WITH_WORKERS(cancelled_waits_count)
{
	(void)w;
	start_profile(SENNIT_PROFILE_WAITS, 0);
	in_a_task(cancel_waits, NULL);
	sennit_profile_stop();
	/* A member that is already cancelled does not wait. */
	assert_true(look(SENNIT_PROFILE_WAITS, "end of its sleep, ").count <=
		    2);
}

/* --- locks -------------------------------------------------------------- */

enum { LOCKERS = 6, READERS = 4 };

struct locks {
	sennit_mutex      mutex;
	sennit_rwlock     rwlock;
	sennit_wait_group asleep; /* number of those that are about to wait */
	sennit_wait_group done;
};

static __attribute__((noinline)) void lock_mutex(struct locks *l)
{
	sennit_mutex_lock(&l->mutex);
	sennit_mutex_unlock(&l->mutex);
	NOT_LAST();
}

static __attribute__((noinline)) void read_lock(struct locks *l)
{
	sennit_rwlock_lock_shared(&l->rwlock);
	sennit_rwlock_unlock_shared(&l->rwlock);
	NOT_LAST();
}

static void lock_task(void *locks)
{
	struct locks *l = locks;

	sennit_wait_group_done(&l->asleep);
	lock_mutex(l);
	sennit_wait_group_done(&l->done);
}

static void read_task(void *locks)
{
	struct locks *l = locks;

	sennit_wait_group_done(&l->asleep);
	read_lock(l);
	sennit_wait_group_done(&l->done);
}

static void hold_both(void *unused)
{
	struct locks l;

	(void)unused;
	sennit_mutex_init(&l.mutex);
	sennit_rwlock_init(&l.rwlock);
	sennit_wait_group_init(&l.asleep, LOCKERS + READERS);
	sennit_wait_group_init(&l.done, LOCKERS + READERS);
	sennit_mutex_lock(&l.mutex);
	sennit_rwlock_lock(&l.rwlock);
	for (int i = 0; i < LOCKERS; i++)
		must_schedule(lock_task, &l);
	for (int i = 0; i < READERS; i++)
		must_schedule(read_task, &l);
	sennit_wait_group_wait(&l.asleep);
	EXPECT(!sennit_sleep(50 * NAP)); /* the mutex's waiters retry often */
	sennit_mutex_unlock(&l.mutex);
	sennit_rwlock_unlock(&l.rwlock);
	sennit_wait_group_wait(&l.done);
}

/* A call that waits counts once, however often it retries. That all wait before
 * the locks are free is likely, but not certain. */
TEST_WITH_WORKERS(locks_are_counted_by_caller)
{
	struct seen mutex, rwlock;

	(void)w;
	assert_int_equal(sennit_function_set_name(lock_task, "task-lock"), 0);
	assert_int_equal(sennit_function_set_name(read_task, "task-read"), 0);
	start_profile(SENNIT_PROFILE_LOCKS, 0);
	in_a_task(hold_both, NULL);
	sennit_profile_stop();
	mutex = look(SENNIT_PROFILE_LOCKS, "mutex, task-lock: ");
	rwlock = look(SENNIT_PROFILE_LOCKS, "lock, task-read: ");
	assert_true(mutex.count >= 1 && mutex.count <= LOCKERS);
	assert_true(rwlock.count >= 1 && rwlock.count <= READERS);
	assert_true(mutex.total >= mutex.longest);
	assert_true(mutex.longest > 1);
	assert_int_equal(look(SENNIT_PROFILE_LOCKS, "").count,
			 mutex.count + rwlock.count);
#if HAS_FRAMES
	assert_int_equal(
		look(SENNIT_PROFILE_LOCKS, "sennit_mutex_lock < lock_mutex+")
			.count,
		mutex.count);
	assert_int_equal(look(SENNIT_PROFILE_LOCKS, " < read_lock+").count,
			 rwlock.count);
#endif
	/* only they were recorded */
	assert_int_equal(sennit_profile_write(1, SENNIT_PROFILE_WAITS,
					      SENNIT_PROFILE_TEXT),
			 -ENODATA);
}

/* --- bounds -------------------------------------------------------------- */

enum { NAMES = 6000 };

static void sleep_under_many_names(void *unused)
{
	char name[SENNIT_TASK_NAME_SIZE];

	(void)unused;
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "request %d", i);
		sennit_task_set_name(name);
		EXPECT(!sennit_sleep(1));
	}
	sennit_task_set_name("");
}

/* If there are too many names, places are kept without names. */
TEST_WITH_ONE(many_names_do_not_lose_places)
{
	(void)w;
	start_profile(SENNIT_PROFILE_WAITS, 0);
	run_named(sleep_under_many_names, "task-named");
	sennit_profile_stop();
	assert_int_equal(look(SENNIT_PROFILE_WAITS, ", task-named").count +
				 head(SENNIT_PROFILE_WAITS, "lost: "),
			 NAMES);
	assert_true(look(SENNIT_PROFILE_WAITS, ", task-named").lines >= 1000);
}

static __attribute__((noinline)) void sleep_deep(unsigned depth, int i)
{
	char name[SENNIT_TASK_NAME_SIZE];

	if (depth) {
		sleep_deep(depth - 1, i);
	} else {
		snprintf(name, sizeof(name), "deep request %d", i);
		sennit_task_set_name(name);
		EXPECT(!sennit_sleep(1));
	}
	NOT_LAST();
}

static void sleep_deep_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < NAMES; i++)
		sleep_deep(80, i);
	sennit_task_set_name("");
}

/* Samples that do not fit are counted, and are part of the sums. */
TEST_WITH_ONE(what_finds_no_room_is_counted)
{
	uint64_t lost;

	(void)w;
	start_profile(SENNIT_PROFILE_WAITS, 0);
	run_named(sleep_deep_often, "task-deep");
	sennit_profile_stop();
	lost = head(SENNIT_PROFILE_WAITS, "lost: ");
	if (HAS_FRAMES)
		assert_true(lost > 0);
	assert_int_equal(look(SENNIT_PROFILE_WAITS, ", task-deep").count + lost,
			 NAMES);
	assert_int_equal(look(SENNIT_PROFILE_WAITS, "[no room: lost]").count,
			 lost);
}

/* Stacks that are too deep are marked. */
static void sleep_too_deep(void *unused)
{
	(void)unused;
	sleep_deep(200, 0);
	sennit_task_set_name("");
}

static bool is_cut(const char *words)
{
	char *text = read_profile(SENNIT_PROFILE_WAITS, SENNIT_PROFILE_FOLDED);
	bool  is = strstr(text, words);

	free(text);
	return is;
}

TEST_WITH_ONE(a_cut_stack_says_so)
{
	(void)w;
	start_profile(SENNIT_PROFILE_WAITS, 0);
	run_named(sleep_too_deep, "task-cut");
	run_named(wait_much, "task-cut");
	sennit_profile_stop();
	assert_true(is_cut("task-cut;deep request 0;[callers unknown];"));
	assert_false(is_cut("task-cut;[callers unknown];"));
}

/* --- start and stop ----------------------------------------------------- */

TEST_ALONE(what_is_wrong_is_refused)
{
	(void)w;
	assert_int_equal(sennit_profile_start(0, 99), -EINVAL);
	assert_int_equal(sennit_profile_start(8, 99), -EINVAL);
	assert_int_equal(sennit_profile_start(SENNIT_PROFILE_CPU,
					      SENNIT_PROFILE_HERTZ_MOST + 1),
			 -EINVAL);
	start_profile(SENNIT_PROFILE_CPU, SENNIT_PROFILE_HERTZ_MOST);
	assert_int_equal(sennit_profile_start(SENNIT_PROFILE_CPU, 0),
			 -EALREADY);
	assert_int_equal(sennit_profile_write(1, 3, SENNIT_PROFILE_TEXT),
			 -EINVAL);
	assert_int_equal(sennit_profile_write(1, SENNIT_PROFILE_CPU, 3),
			 -EINVAL);
	assert_int_equal(sennit_profile_write(1, SENNIT_PROFILE_LOCKS,
					      SENNIT_PROFILE_TEXT),
			 -ENODATA);
	assert_int_equal(sennit_profile_write(-1, SENNIT_PROFILE_CPU,
					      SENNIT_PROFILE_PPROF),
			 -EBADF);
	sennit_profile_stop();
	sennit_profile_stop();
}

struct sleeper {
	atomic_bool       told;
	sennit_wait_group done;
};

static void sleep_until_told(void *sleeper)
{
	struct sleeper *s = sleeper;

	while (!atomic_load(&s->told))
		EXPECT(!sennit_sleep(NAP / 10));
	sennit_wait_group_done(&s->done);
}

static void change_profiles(void *unused)
{
	struct sleeper s = { .told = false };
	const int      null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)unused;
	sennit_wait_group_init(&s.done, 1);
	must_schedule(sleep_until_told, &s);
	for (uint64_t i = 0; i < 50; i++) {
		EXPECT(!sennit_profile_start(
			SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 0));
		EXPECT(!sennit_sleep(i % 3 * NAP / 3));
		if (i % 2)
			sennit_profile_stop();
		EXPECT(!sennit_profile_write(null, SENNIT_PROFILE_LOCKS,
					     SENNIT_PROFILE_FOLDED));
		sennit_profile_stop();
	}
	close(null);
	atomic_store(&s.told, true);
	sennit_wait_group_wait(&s.done);
}

/* Data recorded before a stop are kept, and a start drops them. */
TEST_WITH_WORKERS(profiles_start_and_stop_in_the_middle)
{
	(void)w;
	in_a_task(change_profiles, NULL);
	start_profile(SENNIT_PROFILE_WAITS, 0);
	run_named(wait_much, "task-wait");
	sennit_profile_stop();
	run_named(wait_much, "task-wait");
	assert_int_equal(look(SENNIT_PROFILE_WAITS, "sleep, task-wait").count,
			 SLEEPS + 1);
	start_profile(SENNIT_PROFILE_WAITS, 0);
	assert_int_equal(look(SENNIT_PROFILE_WAITS, "sleep, task-wait").count,
			 0);
	sennit_profile_stop();
}

static void handle(int number)
{
	(void)number;
}

TEST_ALONE(a_handler_of_the_program_stays)
{
	pid_t child = begin_child();

	(void)w;
	if (!child) {
		signal(SIGPROF, handle);
		_exit(sennit_profile_start(SENNIT_PROFILE_CPU, 0) != -EBUSY ||
		      sennit_profile_start(SENNIT_PROFILE_WAITS, 0) ||
		      signal(SIGPROF, SIG_DFL) != handle);
	}
	assert_int_equal(await_child(child), 0);
}

/* --- fork ----------------------------------------------------------------- */

static int live_again(void)
{
	sennit_scheduler *s = NULL;

	if (sennit_profile_write(1, SENNIT_PROFILE_WAITS,
				 SENNIT_PROFILE_TEXT) != -ENODATA)
		return 1;
	if (sennit_profile_start(SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 0))
		return 2;
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		return 3;
	run_named(wait_much, "task-wait");
	sennit_thread_unbind();
	end_scheduler(s);
	sennit_profile_stop();
	return look(SENNIT_PROFILE_WAITS, "sleep, task-wait").count !=
	       SLEEPS + 1;
}

static void fork_inside(void *status)
{
	pid_t child = begin_child();

	if (!child)
		_exit(live_again());
	*(int *)status = await_child(child);
}

/* A child has no profile and may start one. The parent's profile continues. */
TEST_ALONE(a_child_begins_anew)
{
	sennit_scheduler *s = start_scheduler(2);
	int               status = 1;

	(void)w;
#if defined(SN_TSAN) /* TSan does not let a child of a process with threads
		      * create threads */
	end_scheduler(s);
	skip();
#endif
	if (under_emulator()) { /* neither does qemu */
		end_scheduler(s);
		skip();
	}
	start_profile(SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 0);
	assert_int_equal(sennit_thread_bind(s), 0);
	fork_inside(&status);
	assert_int_equal(status, 0);
	run_named(wait_much, "task-wait");
	assert_int_equal(look(SENNIT_PROFILE_WAITS, "sleep, task-wait").count,
			 SLEEPS + 1);
	sennit_thread_unbind();
	end_scheduler(s);
	sennit_profile_stop();
}

/* --- what a thread runs ------------------------------------------------- */

static void *see_call(void *task)
{
	sennit_running r = { .size = sizeof(r) };

	EXPECT(sennit_fiber_running(&r));
	EXPECT(r.call && (uintptr_t)r.task == (uintptr_t)task);
	EXPECT(!strcmp(r.name, "looks"));
	return NULL;
}

static void see_itself(void *unused)
{
	sennit_running r = { .size = sizeof(r) };

	(void)unused;
	sennit_task_set_name("looks");
	EXPECT(sennit_fiber_running(&r));
	EXPECT(r.task == run_errand && !r.call);
	EXPECT(!strcmp(r.function, "task-looks"));
	EXPECT(!strcmp(r.name, "looks"));
	EXPECT(r.fiber == sennit_fiber_number(sennit_fiber_current()));
	EXPECT(!r.low || ((const char *)r.low < (const char *)&r &&
			  (const char *)&r < (const char *)r.high));
	(void)sennit_blocking_call(see_call, (void *)(uintptr_t)run_errand);
	EXPECT(sennit_fiber_running(&r) && !r.call);
}

static void *see_nothing(void *unused)
{
	sennit_running r = { .size = sizeof(r) };

	(void)unused;
	EXPECT(!sennit_fiber_running(&r));
	return NULL;
}

TEST_WITH_WORKERS(a_thread_knows_what_it_runs)
{
	pthread_t other;

	(void)w;
	run_named(see_itself, "task-looks");
	assert_int_equal(pthread_create(&other, NULL, see_nothing, NULL), 0);
	pthread_join(other, NULL);
}
