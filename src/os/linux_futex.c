/* SPDX-License-Identifier: Apache-2.0 */
/* linux_futex.c - os.h on Linux: time, sleeping on a word. With
 * SENNIT_DETERMINISTIC deterministic_threads.c implements these. */
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- time --------------------------------------------------------------- */

sennit_time os_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

sennit_time os_now_coarse(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

/* --- sleeping on a word ------------------------------------------------- */

/* A time as the system call takes it: two words of the kernel's. Where they
 * have 32 bits, a timespec may be longer. */
struct futex_time {
	long seconds;
	long nanoseconds;
};

/* The deadline as a futex_time. NULL for one that the kernel's clock cannot
 * reach, which counts from the boot: it ends at 2^63 ns, and with words of 32
 * bits at 2^31 s, which is 68 years. */
static const struct futex_time *until(struct futex_time *t,
				      sennit_time        deadline)
{
	if (deadline > INT64_MAX || deadline / SENNIT_SECOND > LONG_MAX)
		return NULL;
	t->seconds = (long)(deadline / SENNIT_SECOND);
	t->nanoseconds = (long)(deadline % SENNIT_SECOND);
	return t;
}

/* FUTEX_WAIT_BITSET takes an absolute timeout. A wait that a signal interrupts
 * and the caller repeats therefore ends at the same deadline. errno is
 * preserved, because the caller may run between a failed call and the check of
 * its errno. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	struct futex_time t;
	int               saved = errno;
	bool              in_time;

	in_time = !syscall(SYS_futex, &word->value_,
			   FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
			   until(&t, deadline), NULL, FUTEX_BITSET_MATCH_ANY) ||
		  errno != ETIMEDOUT;
	errno = saved;
	return in_time;
}

static void wake(a_u32 *word, int count)
{
	int saved = errno;

	syscall(SYS_futex, &word->value_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
		count, NULL, NULL, 0);
	errno = saved;
}

void os_word_wake_one(a_u32 *word)
{
	wake(word, 1);
}

void os_word_wake_all(a_u32 *word)
{
	wake(word, INT_MAX);
}

#endif
