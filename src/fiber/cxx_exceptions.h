/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_exceptions.h - C++ exceptions in tasks, without a C++ runtime of our own.
 *
 * The runtime keeps per thread which exceptions are being handled and how many
 * are on their way (Itanium C++ ABI, 2.2.2: __cxa_eh_globals). A fiber that
 * waits within a catch block must find its own again, and no other may see
 * them: they go with the fiber. Nearly always there are none, so a switch looks
 * and does nothing; whoever leaves some behind clears them.
 *
 * Where the program has no C++ runtime, `none` stands for it and stays empty.
 *
 * An exception that leaves a task finds frames of ours. Their personality says
 * whose it was and ends the search, so that std::terminate is called before any
 * frame is unwound.
 */
#ifndef SN_CXX_EXCEPTIONS_H
#define SN_CXX_EXCEPTIONS_H

#include "base/compiler.h"

#include <stdbool.h>

struct cxx_globals {
	void    *caught;
	unsigned uncaught;
};

/* The calling thread's; never NULL. */
struct cxx_globals *sn_cxx_globals(void);

static inline bool sn_cxx_is_busy(const struct cxx_globals *g)
{
	return unlikely(g->caught || g->uncaught);
}

/* Within a function that calls tasks: no exception passes it. The directive
 * belongs to the compiler's own unwind information of the function; 0x1b: four
 * bytes, relative to where they stand. */
#define CXX_BARRIER() \
	__asm__ volatile(".cfi_personality 0x1b, sn_cxx_personality")

#endif
