/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_exceptions.c - takes the place of src/fiber/cxx_exceptions.c on Windows.
 *
 * A weak name is resolved there within one program or one DLL. So it finds the
 * C++ runtime if both the runtime and the library are linked into the program.
 * Otherwise the runtime is a DLL, or the program exports what is looked for. */
#include "fiber/cxx_exceptions.h"

#include "base/check.h"
#include "os/os.h"

#include <unistd.h>
#include <windows.h>

typedef struct cxx_globals *get_globals(void);

extern struct cxx_globals *__cxa_get_globals(void) __attribute__((weak));

static get_globals *find_in(const char *module)
{
	HMODULE loaded = GetModuleHandleA(module); /* NULL: the program */
	union {
		FARPROC      any;
		get_globals *get;
	} found = { NULL };

	if (loaded)
		found.any = GetProcAddress(loaded, "__cxa_get_globals");
	return found.get;
}

/* Not kept: the program may load the runtime later. gcc 12 makes a name weak
 * only where it is called. */
struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */
	get_globals              *get;

	if (__cxa_get_globals)
		return __cxa_get_globals();
	get = find_in(NULL);
	if (!get)
		get = find_in("libstdc++-6.dll");
	return get ? get() : &none;
}

static void say(void)
{
	char who[256];

	sn_check_who(who, sizeof(who));
	os_print(STDERR_FILENO, "sennit: an exception leaves a task [%s]\n",
		 who);
}

/* The handler of functions with ARCH_BARRIER. The system calls it during the
 * search for a handler, and once more if frames below are unwound. */
EXCEPTION_DISPOSITION sn_cxx_barrier(EXCEPTION_RECORD *exception, void *frame,
				     CONTEXT *context, void *dispatcher);

/* To continue makes the C++ runtime's throw return to its caller, which then
 * calls std::terminate. */
__attribute__((used)) EXCEPTION_DISPOSITION sn_cxx_barrier(
	EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
	void *dispatcher)
{
	const DWORD thrown =
		0x20474343; /* by gcc's unwinder: STATUS_GCC_THROW */

	(void)frame;
	(void)context;
	(void)dispatcher;
	if (exception->ExceptionCode != thrown || exception->ExceptionFlags)
		return ExceptionContinueSearch;
	say();
	return ExceptionContinueExecution;
}
