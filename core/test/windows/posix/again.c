/* SPDX-License-Identifier: Apache-2.0 */
#include "again.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

/* Does not return where a step fails. */
static void must(BOOL held, const char *step)
{
	if (held)
		return;
	fprintf(stderr, "%s: error %lu\n", step, GetLastError());
	ExitProcess(1);
}

static void read_all(HANDLE from, char *text, size_t size)
{
	DWORD length = 0, n;

	while (ReadFile(from, text + length, (DWORD)size - 1 - length, &n,
			NULL) &&
	       n)
		length += n;
	text[length] = '\0';
}

uint32_t run_program_again(const char *arguments, char *text, size_t size)
{
	SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited),
					  .bInheritHandle = TRUE };
	STARTUPINFOA        how = { .cb = sizeof(how),
				    .dwFlags = STARTF_USESTDHANDLES };
	PROCESS_INFORMATION child;
	HANDLE              out;
	char                file[MAX_PATH], line[MAX_PATH + 64];
	DWORD               status;

	must(GetModuleFileNameA(NULL, file, sizeof(file)) != 0, "file name");
	snprintf(line, sizeof(line), "\"%s\" %s", file, arguments);
	must(CreatePipe(&out, &how.hStdError, &inherited, 0), "pipe");
	must(SetHandleInformation(out, HANDLE_FLAG_INHERIT, 0), "handle");
	must(CreateProcessA(file, line, NULL, NULL, TRUE, 0, NULL, NULL, &how,
			    &child),
	     "process");
	CloseHandle(how.hStdError);
	read_all(out, text, size);
	WaitForSingleObject(child.hProcess, INFINITE);
	must(GetExitCodeProcess(child.hProcess, &status), "exit code");
	CloseHandle(child.hProcess);
	CloseHandle(child.hThread);
	CloseHandle(out);
	return status;
}

void drop_system_words(char *text)
{
	char *end = strstr(text, "\nThis application has requested");
	char *to = text;

	if (end)
		end[0] = '\0';
	for (const char *from = text; *from; from++)
		if (*from != '\r')
			*to++ = *from;
	*to = '\0';
}
