/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_globals.h - what the C++ runtime keeps for each thread on 32-bit ARM:
 * also the exceptions whose unwinding runs destructors. What follows the
 * destructors takes the exception from there (Exception Handling ABI for the
 * Arm Architecture: __cxa_begin_cleanup, __cxa_end_cleanup). An exception of
 * another language is only there. */
#ifndef SN_CXX_GLOBALS_H
#define SN_CXX_GLOBALS_H

#include <stdbool.h>

struct cxx_globals {
	void    *caught;   /* a stack: the exceptions that are being handled */
	unsigned uncaught; /* how many are thrown and not yet caught */
	void    *propagating; /* a stack: those whose destructors run */
};

static inline bool cxx_globals_used(const struct cxx_globals *g)
{
	return g->caught || g->uncaught || g->propagating;
}

#endif
