/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_exceptions.h - keeps the C++ exception state of each fiber, without a C++
 * runtime of its own.
 *
 * The C++ runtime keeps per thread the exceptions that are being handled and
 * the number that are in flight (arch/generic.h). A fiber that waits
 * inside a catch block must find its own state again, and no other fiber may
 * see it. So a switch saves and restores it with the fiber. The state is nearly
 * always empty; then a switch only tests it. A fiber that leaves state behind
 * clears it.
 *
 * In a program without a C++ runtime, an empty object stands for the state.
 *
 * An exception that leaves a task reaches frames of the library, which are
 * barriers: see ARCH_BARRIER in arch/generic.h.
 */
#ifndef SN_CXX_EXCEPTIONS_H
#define SN_CXX_EXCEPTIONS_H

#include "base/compiler.h"
#include "arch/cpu.h"

#include <stdbool.h>

/* The state of the calling thread; never NULL. */
struct cxx_globals *sn_cxx_globals(void);

static inline bool sn_cxx_is_busy(const struct cxx_globals *g)
{
	return unlikely(cxx_globals_used(g));
}

#endif
