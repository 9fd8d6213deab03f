/* SPDX-License-Identifier: Apache-2.0 */
/* linux.c - os.h on Linux: thread names, signals, messages, the process
 * barrier. */
#include "os/os.h"

#include "base/check.h"
#include "base/escape.h"
#include "base/write_all.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The minimum of bytes of a thread's own stack above its far end. */
#define LEAST_LEFT ((size_t)48 * 1024)

/* --- threads ------------------------------------------------------------ */

/* The index identifies the thread, so a long name is cut and the index
 * stays. */
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

void os_print(int fd, const char *format, ...)
{
	char    text[OS_LINE];
	va_list args;
	int     length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length > 0)
		(void)sn_write_all(fd, text,
				   length < OS_LINE ? (size_t)length
						    : OS_LINE - 1);
}

void os_function_name(uintptr_t address, char *text, size_t size)
{
	Dl_info     at;
	const char *file;
	char        shown[96];

	if (!dladdr((void *)address, &at) || !at.dli_fname) {
		snprintf(text, size, "%#" PRIxPTR, address);
		return;
	}
	if (at.dli_sname && (uintptr_t)at.dli_saddr == address) {
		sn_escape(text, size, at.dli_sname);
		return;
	}
	file = strrchr(at.dli_fname, '/');
	sn_escape(shown, sizeof(shown), file ? file + 1 : at.dli_fname);
	snprintf(text, size, "%s+%#" PRIxPTR, shown,
		 address - (uintptr_t)at.dli_fbase);
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

	return own.size >= size + LEAST_LEFT ? own.low : NULL;
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
