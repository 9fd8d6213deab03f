/* SPDX-License-Identifier: Apache-2.0 */
/* bsd.c - os.h and quota.h on macOS and FreeBSD, as far as they agree: signals,
 * messages, backtraces, the process barrier, locks. Not tested on either. */
#include "os/os.h"

#include "base/escape.h"
#include "base/write_all.h"
#include "os/quota.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- threads ------------------------------------------------------------ */

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

/* --- backtraces --------------------------------------------------------- */

/* The first call may load a library, which a signal handler must not do. */
void os_backtrace_prepare(void)
{
	void *frame[1];

	(void)backtrace(frame, 1);
}

/* --- barrier on other threads ------------------------------------------- */

/* macOS has no such barrier, and FreeBSD only since a late version. So the fast
 * paths have fences of their own. */
bool os_process_barrier_init(void)
{
	return false;
}

void os_process_barrier(void)
{
}

/* --- CPUs --------------------------------------------------------------- */

bool os_cpu_place(const char *root, uint32_t cpu, sennit_cpu_place *out)
{
	(void)root;
	(void)cpu;
	(void)out;
	return false;
}

uint32_t os_cpu_quota(const char *root)
{
	(void)root;
	return UINT32_MAX;
}

uint32_t os_cpu_count(void)
{
	return (uint32_t)os_cpu_list(NULL, 0);
}

uint32_t os_thread_quota(const char *root)
{
	(void)root;
	return UINT32_MAX;
}
