/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/cxx_exceptions.h"

#include "base/check.h"
#include "os/os.h"

#include <unistd.h>
#include <unwind.h>

/* There if the program, or what it had loaded by then, is of C++. */
extern struct cxx_globals *__cxa_get_globals(void) __attribute__((weak));

struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* nobody writes it */

	return __cxa_get_globals ? __cxa_get_globals() : &none;
}

static void say(void)
{
	char who[256];

	sn_check_who(who, sizeof(who));
	os_print(STDERR_FILENO, "sennit: an exception leaves a task [%s]\n",
		 who);
}

/* Of frames with CXX_BARRIER. Called by name, from unwind information. */
_Unwind_Reason_Code sn_cxx_personality(int version, _Unwind_Action actions,
				       _Unwind_Exception_Class class,
				       struct _Unwind_Exception *exception,
				       struct _Unwind_Context   *context);

/* A thread that ends by force unwinds through us, which fork_exit.c notices. */
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
	say();
	return _URC_FATAL_PHASE1_ERROR;
}
