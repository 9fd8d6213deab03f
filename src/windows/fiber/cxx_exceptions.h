/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_exceptions.h - takes the place of src/fiber/cxx_exceptions.h on Windows.
 *
 * The C++ runtime is in another DLL there, if there is one, and weak names do
 * not reach it. So the exception state of C++ stays with the thread: a task
 * must not wait inside a catch block.
 */
#ifndef SN_CXX_EXCEPTIONS_H
#define SN_CXX_EXCEPTIONS_H

#include "base/compiler.h"

#include <stdbool.h>

struct cxx_globals {
	void    *caught;
	unsigned uncaught;
};

/* A state that is never busy; never NULL. */
struct cxx_globals *sn_cxx_globals(void);

static inline bool sn_cxx_is_busy(const struct cxx_globals *g)
{
	return unlikely(g->caught || g->uncaught);
}

#endif
