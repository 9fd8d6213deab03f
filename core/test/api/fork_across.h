/* SPDX-License-Identifier: Apache-2.0 */
/* fork_across.h - two functions in two files: each spawns the other. */
#ifndef SN_TEST_FORK_ACROSS_H
#define SN_TEST_FORK_ACROSS_H

#include "fork_fib.h"

/* The number of ways to climb n steps, one or two at a time; and the steps that
 * are visited meanwhile. */
SENNIT_FORK_DECLARE(extern, unsigned, climb_here, unsigned, n, atomic_uint *,
		    visited);
SENNIT_FORK_DECLARE(extern, unsigned, climb_there, unsigned, n, atomic_uint *,
		    visited);

/* Ends a climb in the other file. */
SENNIT_FORK_DECLARE(extern, void, visit, atomic_uint *, visited);

#endif
