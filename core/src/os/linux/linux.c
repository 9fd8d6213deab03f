/* SPDX-License-Identifier: Apache-2.0 */
/* linux.c - os.h on Linux: thread names, a thread's stack and number, all
 * threads, the process barrier, what is loaded. */
#include "base/compiler.h"
#include "os/os.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- threads ------------------------------------------------------------ */

void os_thread_name(const char *name, uint32_t index)
{
	char text[16]; /* the kernel's limit */

	os_thread_text(text, sizeof(text), name, index);
	pthread_setname_np(pthread_self(), text);
}

struct extent {
	char  *low;
	size_t size;
};

/* Below the stack of a thread; its guard may be smaller. */
#define OS_THREAD_GUARD ((uintptr_t)64 * 1024)

/* The calling thread's own stack. The query is slow for the main thread, whose
 * stack may grow, so the result is cached. */
static struct extent own_stack(void)
{
	static _Thread_local struct extent own;
	void                              *low;
	pthread_attr_t                     a;

	if (!own.size && !pthread_getattr_np(pthread_self(), &a)) {
		pthread_attr_getstack(&a, &low, &own.size);
		own.low = low;
		pthread_attr_destroy(&a);
	}
	return own;
}

bool os_thread_has_stack(uintptr_t address)
{
	struct extent own = own_stack();

	return address - (uintptr_t)own.low < own.size;
}

bool os_thread_is_below_stack(uintptr_t address, size_t *size)
{
	struct extent own = own_stack();

	*size = own.size;
	return own.low && (uintptr_t)own.low - address - 1 < OS_THREAD_GUARD;
}

void *os_thread_far_end(size_t size)
{
	struct extent own = own_stack();

	return own.size >= size + OS_STACK_LEFT ? own.low : NULL;
}

static _Thread_local uint32_t thread_id; /* 0: not asked for in this process */

uint32_t os_thread_id(void)
{
	if (!thread_id)
		thread_id = (uint32_t)syscall(SYS_gettid);
	return thread_id;
}

void os_thread_forked(void)
{
	thread_id = 0;
}

/* Read "NUMBER (NAME) STATE ..." and cut it behind the name. Returns the state,
 * 0 if the thread is gone. A name may have any bytes. */
static char read_stat(int folder, const char *number, char *text, size_t size,
		      const char **name)
{
	char    path[32];
	char   *end;
	int     fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%.20s/stat", number);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	*name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!*name || !end || !end[1])
		return 0;
	*end = '\0';
	++*name;
	return end[2];
}

uint32_t os_thread_count(bool (*counts)(const char *name))
{
	DIR           *tasks = opendir("/proc/self/task");
	struct dirent *e;
	const char    *name;
	char           text[512];
	uint32_t       all = 0;

	while (tasks && (e = readdir(tasks))) {
		char state = *e->d_name == '.'
				     ? 0
				     : read_stat(dirfd(tasks), e->d_name, text,
						 sizeof(text), &name);

		if (state && state != 'Z' && state != 'X')
			all += counts(name);
	}
	if (tasks)
		closedir(tasks);
	return all;
}

/* --- the process -------------------------------------------------------- */

const char *os_environment(const char *name)
{
	return secure_getenv(name);
}

bool os_is_loaded(void)
{
	Dl_info mine;
	Dl_info program;

	return dladdr((void *)(uintptr_t)os_is_loaded, &mine) &&
	       dladdr((void *)getauxval(AT_PHDR), &program) &&
	       mine.dli_fbase != program.dli_fbase;
}

/* A program that is linked statically has no dlopen(), and the linker warns of
 * each use of it, even a weak one. So it is looked up, by a dlsym() that such a
 * program lacks too. */
#pragma weak dlsym

typedef void *load_fn(const char *path, int flags);

static load_fn *find_dlopen(void)
{
	return dlsym ? (load_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen")
		     : NULL;
}

void os_load_beside(const char *file)
{
	load_fn    *load = find_dlopen();
	char       *mine;
	char        path[4096];
	const char *end;
	Dl_info     at;

	if (!load || !os_is_loaded() ||
	    !dladdr((void *)(uintptr_t)os_load_beside, &at))
		return;
	mine = realpath(at.dli_fname, NULL);
	end = mine ? strrchr(mine, '/') : NULL;
	if (end &&
	    (size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)(end - mine),
			     mine, file) < sizeof(path))
		(void)!load(path, RTLD_NOW | RTLD_LOCAL);
	free(mine);
}

/* --- barrier on other threads ------------------------------------------- */

static long barrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/* Also execute one barrier: a system call filter may allow the registration and
 * refuse the barrier itself. */
bool os_process_barrier_init(void)
{
	return !barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
	       !barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

/* A barrier that failed silently would let two workers run one task. */
void os_process_barrier(void)
{
	int saved = errno;

	CHECK(!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
	      "the system no longer allows membarrier");
	errno = saved;
}

/* --- linux futex ---------------------------------------------------------- */

/* os.h on Linux: time, sleeping on a word. With SENNIT_DETERMINISTIC
 * deterministic_threads.c implements these. */

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

static void wake_word(a_u32 *word, int count)
{
	int saved = errno;

	syscall(SYS_futex, &word->value_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
		count, NULL, NULL, 0);
	errno = saved;
}

void os_word_wake_one(a_u32 *word)
{
	wake_word(word, 1);
}

void os_word_wake_all(a_u32 *word)
{
	wake_word(word, INT_MAX);
}

#endif
