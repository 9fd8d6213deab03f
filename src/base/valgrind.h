/* SPDX-License-Identifier: Apache-2.0 */
/* valgrind.h - does Valgrind run the program? */
#ifndef SN_VALGRIND_H
#define SN_VALGRIND_H

#include <stdbool.h>

#ifdef SENNIT_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/* False in builds without Valgrind's headers. */
static inline bool under_valgrind(void)
{
	return RUNNING_ON_VALGRIND;
}

#endif
