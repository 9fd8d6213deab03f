/* SPDX-License-Identifier: Apache-2.0 */
/* linux.c - os.h on Linux: thread names, a thread's stack and number, the
 * process barrier. */
#include "os/os.h"

#include "base/check.h"

#include <errno.h>
#include <linux/membarrier.h>
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
