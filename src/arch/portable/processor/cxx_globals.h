/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_globals.h - what the C++ runtime keeps for each thread (Itanium C++ ABI,
 * 2.2.2: __cxa_eh_globals). */
#ifndef SN_CXX_GLOBALS_H
#define SN_CXX_GLOBALS_H

#include <stdbool.h>

struct cxx_globals {
	void    *caught;   /* a stack: the exceptions that are being handled */
	unsigned uncaught; /* how many are thrown and not yet caught */
};

static inline bool cxx_globals_used(const struct cxx_globals *g)
{
	return g->caught || g->uncaught;
}

#endif
