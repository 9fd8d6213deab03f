/* SPDX-License-Identifier: Apache-2.0 */
/* linux.c - os.h on Linux: time, sleeping on a word, threads, the barrier. */
#include "os/os.h"

#include "base/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

/* The deadline for the kernel, or NULL for one that no clock will reach: its
 * own time ends at 2^63 ns. */
static const struct timespec *until(struct timespec *t, sennit_time deadline)
{
	if (deadline > INT64_MAX)
		return NULL;
	t->tv_sec = (time_t)(deadline / SENNIT_SECOND);
	t->tv_nsec = (long)(deadline % SENNIT_SECOND);
	return t;
}

/* BITSET, because its timeout is absolute: a wait that a signal breaks off and
 * the caller repeats never sleeps longer than once. errno is left alone: the
 * caller's caller may be between a failed call and its look at errno. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	struct timespec t;
	int             saved = errno;
	bool            in_time;

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

/* --- threads ------------------------------------------------------------ */

int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument)
{
	return -pthread_create(out, NULL, run, argument);
}

/* The index tells threads apart, so it is the name that gives way. */
void os_thread_name(const char *name, uint32_t index)
{
	enum { LONGEST = 15 };
	char text[LONGEST + 1];
	int  digits = snprintf(NULL, 0, "/%u", index);

	snprintf(text, sizeof(text), "%.*s/%u", LONGEST - digits, name, index);
	pthread_setname_np(pthread_self(), text);
}

void os_thread_block_signals(void)
{
	static const int faults[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS,
				      SIGFPE, SIGSEGV, SIGSYS };
	sigset_t         all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

void os_write(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		size -= (size_t)n;
	}
}

void os_function_name(uintptr_t address, char *text, size_t size)
{
	Dl_info     at;
	const char *file;

	if (!dladdr((void *)address, &at) || !at.dli_fname) {
		snprintf(text, size, "%#" PRIxPTR, address);
		return;
	}
	if (at.dli_sname && (uintptr_t)at.dli_saddr == address) {
		snprintf(text, size, "%s", at.dli_sname);
		return;
	}
	file = strrchr(at.dli_fname, '/');
	snprintf(text, size, "%s+%#" PRIxPTR, file ? file + 1 : at.dli_fname,
		 address - (uintptr_t)at.dli_fbase);
}

uint32_t os_thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

void os_thread_yield(void)
{
	sched_yield();
}

/* --- barrier on other threads ------------------------------------------- */

static long barrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/* One barrier is tried as well: a filter of system calls may let pass the one
 * and refuse the other. */
bool os_process_barrier_init(void)
{
	return !barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
	       !barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

/* A barrier that silently is none would let two workers run one task. */
void os_process_barrier(void)
{
	int saved = errno;

	CHECK(!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
	      "the system took its process barrier away");
	errno = saved;
}
