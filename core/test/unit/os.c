/* SPDX-License-Identifier: Apache-2.0 */
/* os.c - the os room: words, threads, CPUs. */
#include "testing/test.h"

#include "os/os.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* --- time and words ----------------------------------------------------- */

TEST(clock_never_goes_back)
{
	sennit_time before = os_now();

	for (int i = 0; i < 1000; i++) {
		sennit_time now = os_now();

		assert_true(now >= before);
		before = now;
	}
}

TEST(wait_ends_at_the_deadline_not_before)
{
	sennit_time deadline = os_now() + 3 * SENNIT_MILLISECOND;
	a_u32       word;

	a_init(&word, 7);
	while (os_word_wait(&word, 7, deadline))
		;
	assert_true(os_now() >= deadline);
}

TEST(past_deadline_does_not_wait)
{
	a_u32 word;

	a_init(&word, 7);
	assert_false(os_word_wait(&word, 7, 0));
	assert_false(os_word_wait(&word, 7, 1));
}

TEST(changed_word_does_not_wait)
{
	a_u32 word;

	a_init(&word, 7);
	assert_true(os_word_wait(&word, 8, SENNIT_NEVER));
	assert_true(os_word_wait(&word, 8, UINT64_MAX - 1));
	assert_true(os_word_wait(&word, 8, (sennit_time)INT64_MAX));
}

struct sleeper {
	a_u32       word;
	a_u32       asleep; /* number of threads about to sleep */
	sennit_time deadline;
};

static void *sleep_until_changed(void *argument)
{
	struct sleeper *s = argument;

	a_add_acqrel(&s->asleep, 1);        /* -> test.asleep: nothing */
	while (a_load_acq(&s->word) == 0) { /* <- test.word */
		if (!os_word_wait(&s->word, 0, s->deadline))
			return "deadline passed";
	}
	return NULL;
}

static void start_sleepers(struct sleeper *s, pthread_t *threads, uint32_t n,
			   sennit_time deadline)
{
	a_init(&s->word, 0);
	a_init(&s->asleep, 0);
	s->deadline = deadline;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
			os_thread_start(&threads[i], sleep_until_changed, s, 0),
			0);
	while (a_load_acq(&s->asleep) < n) /* <- test.asleep */
		os_thread_yield();
}

static void expect_woken(pthread_t thread)
{
	void *why;

	pthread_join(thread, &why);
	assert_null(why);
}

TEST(wake_one_wakes_a_sleeper_without_deadline)
{
	struct sleeper s;
	pthread_t      thread;

	start_sleepers(&s, &thread, 1, SENNIT_NEVER);
	a_store_rel(&s.word, 1); /* -> test.word: nothing */
	os_word_wake_one(&s.word);
	expect_woken(thread);
}

TEST(wake_all_wakes_everybody)
{
	struct sleeper s;
	pthread_t      threads[4];

	start_sleepers(&s, threads, 4, UINT64_MAX - 1);
	a_store_rel(&s.word, 1); /* -> test.word: nothing */
	os_word_wake_all(&s.word);
	for (int i = 0; i < 4; i++)
		expect_woken(threads[i]);
}

TEST(wake_of_unmapped_memory_is_harmless)
{
	a_u32 *gone = os_map(os_page_size());

	assert_non_null(gone);
	os_unmap(gone, os_page_size());
	os_word_wake_one(gone);
	os_word_wake_all(gone);
}

TEST(errno_is_left_alone)
{
	a_u32 word;

	a_init(&word, 0);
	errno = EXDEV;
	assert_true(os_word_wait(&word, 1, SENNIT_NEVER));
	assert_int_equal(errno, EXDEV);
	assert_false(os_word_wait(&word, 0, 1));
	assert_int_equal(errno, EXDEV);
	os_word_wake_one((a_u32 *)(UINTPTR_MAX - 7)); /* an invalid address,
						       * which the kernel
						       * refuses */
	assert_int_equal(errno, EXDEV);
}

static void ignore_signal(int number)
{
}

/* The signal may interrupt the sleep or not, but the sleep must not report a
 * timeout. */
TEST(signal_is_no_timeout)
{
	struct sigaction act = { .sa_handler = ignore_signal };
	struct sigaction old;
	struct sleeper   s;
	pthread_t        thread;

	sigaction(SIGUSR1, &act, &old);
	start_sleepers(&s, &thread, 1, SENNIT_NEVER);
	for (int i = 0; i < 100; i++) {
		pthread_kill(thread, SIGUSR1);
		os_thread_yield();
	}
	a_store_rel(&s.word, 1); /* -> test.word: nothing */
	os_word_wake_one(&s.word);
	expect_woken(thread);
	sigaction(SIGUSR1, &old, NULL);
}

/* --- threads ------------------------------------------------------------ */

static void expect_name(const char *name, uint32_t index, const char *expected)
{
	char text[16];

	os_thread_name(name, index);
	assert_int_equal(prctl(PR_GET_NAME, text), 0);
	assert_string_equal(text, expected);
}

TEST(name_gives_way_to_the_index)
{
	char old[16];

	assert_int_equal(prctl(PR_GET_NAME, old), 0);
	expect_name("io", 0, "io/0");
	expect_name("", 7, "/7");
	expect_name("abcdefghijklm", 9, "abcdefghijklm/9");
	expect_name("abcdefghijklmnopqrst", 9, "abcdefghijklm/9");
	expect_name("abcdefghijklmnopqrst", 1023, "abcdefghij/1023");
	expect_name("abcdefghijklmnopqrst", UINT32_MAX, "abcd/4294967295");
	prctl(PR_SET_NAME, old);
}

static void *own_id(void *argument)
{
	*(uint32_t *)argument = os_thread_id();
	return NULL;
}

TEST(threads_have_different_ids)
{
	uint32_t  other = 0;
	pthread_t thread;

	assert_int_equal(os_thread_start(&thread, own_id, &other, 0), 0);
	pthread_join(thread, NULL);
	assert_int_equal(os_thread_id(), getpid());
	assert_int_not_equal(other, 0);
	assert_int_not_equal(other, os_thread_id());
}

/* --- CPUs --------------------------------------------------------------- */

TEST(list_is_ascending_and_not_empty)
{
	uint32_t cpus[4096];
	size_t   count = os_cpu_list(cpus, 4096);

	assert_in_range(count, 1, 4096);
	for (size_t i = 1; i < count; i++)
		assert_true(cpus[i - 1] < cpus[i]);
}

TEST(list_is_cut_but_counted_whole)
{
	uint32_t cpus[2] = { 77777, 77777 };

	assert_int_equal(os_cpu_list(cpus, 1), os_cpu_list(NULL, 0));
	assert_int_not_equal(cpus[0], 77777);
	assert_int_equal(cpus[1], 77777);
}

static void *restrict_to_last(void *argument)
{
	uint32_t cpus[4096];
	size_t   count = os_cpu_list(cpus, 4096);
	uint32_t last = cpus[count - 1];

	if (os_thread_affinity(&last, 1) || os_cpu_list(cpus, 4096) != 1 ||
	    cpus[0] != last || sched_getcpu() != (int)last)
		return "not there";
	return NULL;
}

TEST(thread_runs_where_it_was_put)
{
	pthread_t thread;
	void     *why;

	assert_int_equal(os_thread_start(&thread, restrict_to_last, NULL, 0),
			 0);
	pthread_join(thread, &why);
	assert_null(why);
}

TEST(impossible_affinity_is_refused)
{
	uint32_t far = 900000;
	uint32_t farther = UINT32_MAX;

	assert_int_equal(os_thread_affinity(NULL, 0), -EINVAL);
	assert_int_equal(os_thread_affinity(&far, 1), -EINVAL);
	assert_int_equal(os_thread_affinity(&farther, 1), -EINVAL);
}
