/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/cxx_exceptions.h"

/* Defined if the program, or a library that it had loaded by then, uses the C++
 * runtime. */
extern struct cxx_globals *__cxa_get_globals(void) __attribute__((weak));

struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */

	return __cxa_get_globals ? __cxa_get_globals() : &none;
}
