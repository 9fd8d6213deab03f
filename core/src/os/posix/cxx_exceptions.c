/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_exceptions.c - an exception that leaves a task ends the process, with a
 * message. */
#include "arch/cpu.h"
#include "base/compiler.h"
#include "os/os.h"

#include <unistd.h>
#include <unwind.h>

/* Defined if the program, or a library that it had loaded by then, uses the C++
 * runtime. Of default visibility, also in the single file, which hides what is
 * not public: a hidden name is not looked for in another library. */
extern struct cxx_globals *__cxa_get_globals(void)
	__attribute__((weak, visibility("default")));

struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */

	return __cxa_get_globals ? __cxa_get_globals() : &none;
}

#ifdef ARCH_BARRIER_REPORTS
/* Here, as link-time optimisation does not see that ARCH_BARRIER needs it, and
 * would not take a file from the archive that has nothing else. */
static void report_exception(void)
{
	char who[256];

	sn_check_who(who, sizeof(who));
	os_print(STDERR_FILENO,
		 "sennit: an exception leaves a task or callback [%s]\n", who);
}

/* The personality routine of functions with ARCH_BARRIER. The unwinder finds it
 * by its name in the unwind information. */
_Unwind_Reason_Code sn_cxx_personality(int version, _Unwind_Action actions,
				       _Unwind_Exception_Class class,
				       struct _Unwind_Exception *exception,
				       struct _Unwind_Context   *context);

/* A forced unwind (pthread_exit, cancellation) passes; fork.c detects that
 * the thread ends. */
__attribute__((used)) _Unwind_Reason_Code sn_cxx_personality(
	int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (!(actions & _UA_SEARCH_PHASE))
		return _URC_CONTINUE_UNWIND;
	report_exception();
	return _URC_FATAL_PHASE1_ERROR;
}
#endif
