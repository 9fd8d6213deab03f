/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.h - runs that can be had again: races and timeouts replayed
 * from a seed.
 *
 * In a library built with SENNIT_DETERMINISTIC one thread runs at a time, in an
 * order chosen by a seed, and the clock moves only by the library's doing: when
 * all wait, it jumps to the first deadline. The seed is SENNIT_SEED of the
 * environment, 1 without. A program whose tasks talk to each other by sennit
 * alone does the same in every run of one seed. When every thread waits and
 * nothing will wake one, who waits for what is printed, and the process aborts;
 * whenever it aborts, the seed is printed.
 *
 * What is explored are interleavings of what the library does, and of the
 * program's own at sennit_point(); not the reorderings of weak memory.
 * Threads of the program take part once they call into sennit; one that waits
 * outside of it (for a thread, a file) holds the others up for a moment, and
 * then a run is not quite the same each time. Every limit of the library is
 * tiny, and it is slow: this is for tests.
 *
 * The same calls in an ordinary library do nothing, or say so.
 */
#ifndef SENNIT_DETERMINISTIC_H
#define SENNIT_DETERMINISTIC_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* Whether the library was built so.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_is_deterministic(void);

/* Here another thread may take its turn: a mark for windows in which the
 * program itself could be disturbed. Nothing in an ordinary library.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_point(void);

/* Call scenario(context) `count` times, with the seeds first, first + 1, ...,
 * each from the beginning of the clock. It must end with every scheduler shut
 * down that it has created, and every thread gone. What goes wrong ends the
 * process: by the scenario's own abort(), or because all wait.
 * Returns 0, or -ENOSYS when the library was not built so.
 *
 * From: thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_explore(uint64_t first, uint64_t count,
					      void (*scenario)(void *context),
					      void *context);

SENNIT_END

#endif
