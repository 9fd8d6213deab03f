/* SPDX-License-Identifier: Apache-2.0 */
/* posix.c - os.h by POSIX and dladdr(): signals, names of functions, the
 * alternate signal stack. */
#include "base/own_fd.h"
#include "base/text.h"
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void os_thread_block_signals(void)
{
	static const int faults[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS,
				      SIGFPE, SIGSEGV, SIGSYS };
	sigset_t         all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	sigdelset(&all, SIGPROF); /* a profiler's, which means each thread */
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

int os_create_file(const char *name)
{
	int fd = sn_own_fd(
		open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));

	return fd < 0 ? -errno : fd;
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

void os_function_around(uintptr_t address, char *text, size_t size)
{
	Dl_info at;

	text[0] = '\0';
	if (dladdr((void *)address, &at) && at.dli_sname)
		sn_escape(text, size, at.dli_sname);
}

static const void *file_of(uintptr_t address)
{
	Dl_info at;

	return dladdr((void *)address, &at) ? at.dli_fbase : NULL;
}

bool os_is_beside(uintptr_t address, uintptr_t other)
{
	const void *file = file_of(address);

	return file && (file == file_of(other) ||
			file == file_of((uintptr_t)os_is_beside) ||
			file == file_of((uintptr_t)getpid));
}

/* --- the alternate signal stack ----------------------------------------- */

bool os_fault_stack_use(void *memory, size_t size)
{
	stack_t mine = { .ss_sp = memory, .ss_size = size };
	stack_t before;

	if (sigaltstack(&mine, &before))
		return false;
	if (before.ss_flags & SS_DISABLE)
		return true;
	sigaltstack(&before, NULL);
	return false;
}

void os_fault_stack_drop(const void *memory)
{
	stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	if (!sigaltstack(&none, &now) && now.ss_sp != memory &&
	    !(now.ss_flags & SS_DISABLE))
		sigaltstack(&now, NULL);
}
