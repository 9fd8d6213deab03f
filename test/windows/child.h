/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - runs this program again, with the name of what it is to do, and
 * reads what that prints on standard error.
 */
#ifndef SN_TEST_WINDOWS_CHILD_H
#define SN_TEST_WINDOWS_CHILD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sennit.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

struct fate {
	DWORD status;
	char  text[8192];
};

/* Does not return where a step fails. */
static inline void must(BOOL held, const char *step)
{
	if (held)
		return;
	fprintf(stderr, "%s: error %lu\n", step, GetLastError());
	ExitProcess(1);
}

static inline void read_all(HANDLE from, struct fate *f)
{
	DWORD length = 0, n;

	while (ReadFile(from, f->text + length,
			(DWORD)sizeof(f->text) - 1 - length, &n, NULL) &&
	       n)
		length += n;
	f->text[length] = '\0';
}

static inline void run_again(const char *what, struct fate *f)
{
	SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited),
					  .bInheritHandle = TRUE };
	STARTUPINFOA        how = { .cb = sizeof(how),
				    .dwFlags = STARTF_USESTDHANDLES };
	PROCESS_INFORMATION child;
	HANDLE              out;
	char                file[MAX_PATH], line[MAX_PATH + 64];

	must(GetModuleFileNameA(NULL, file, sizeof(file)) != 0, "file name");
	snprintf(line, sizeof(line), "\"%s\" %s", file, what);
	must(CreatePipe(&out, &how.hStdError, &inherited, 0), "pipe");
	must(SetHandleInformation(out, HANDLE_FLAG_INHERIT, 0), "handle");
	must(CreateProcessA(file, line, NULL, NULL, TRUE, 0, NULL, NULL, &how,
			    &child),
	     "process");
	CloseHandle(how.hStdError);
	read_all(out, f);
	WaitForSingleObject(child.hProcess, INFINITE);
	must(GetExitCodeProcess(child.hProcess, &f->status), "exit code");
	CloseHandle(child.hProcess);
	CloseHandle(child.hThread);
	CloseHandle(out);
}

/* Run one task in a scheduler of this configuration, until it has ended. */
static inline int run_task(const sennit_config *config, sennit_task_fn *task)
{
	sennit_scheduler *s;

	SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
	if (sennit_scheduler_create(&s, config) ||
	    sennit_enqueue(s, &(const sennit_task){ .run = task }))
		return 1;
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}

#endif
