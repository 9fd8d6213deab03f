/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.h - reproducible runs: a seed replays races and timeouts.
 *
 * In a library built with SENNIT_DETERMINISTIC one thread runs at a time, in an
 * order that a seed chooses. Only the library moves the clock: when all threads
 * wait, it jumps to the earliest deadline. The seed is the environment variable
 * SENNIT_SEED, or 1 if that is not set. A program whose tasks communicate only
 * by sennit does the same in every run with the same seed. When every thread
 * waits and nothing will wake one, the library prints which fiber waits for
 * what and aborts the process. Whenever it aborts, it prints the seed.
 *
 * The runs explore interleavings of the library's operations, and of the
 * program's operations at sennit_explore_point. They do not explore reorderings
 * of weak memory models. Threads of the program take part once they call into
 * sennit. A thread that waits outside of sennit (for a thread, a file) delays
 * the others for a moment; runs are then not quite the same each time. All
 * limits of the library are tiny in this build, and it is slow: use it for
 * tests.
 *
 * In an ordinary library these calls do nothing, or return that they are not
 * supported.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_DETERMINISTIC_H
#define SENNIT_DETERMINISTIC_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* Return whether the library was built with SENNIT_DETERMINISTIC.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_explore_is_possible(void);

/* Mark a point at which another thread may run. Put it where the program itself
 * could be disturbed. In an ordinary library it does nothing.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_explore_point(void);

/* Return a number below `limit` that the seed chooses; `limit` is more than 0.
 * Use it for random choices of a test. 0 in an ordinary library.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_explore_choose(uint32_t limit);

/* Let the calling thread sleep while other threads run; for a poller's `sleep`
 * and `wake` (poller.h). Sleep until sennit_explore_wake(word) or the deadline;
 * do not sleep if *word is not `expected`. Returns false if the deadline ended
 * the sleep. In an ordinary library it returns true at once.
 *
 * From: thread, a poller's `sleep`.  Blocks: yes (the thread).  */
SENNIT_API bool sennit_explore_sleep(const uint32_t *word, uint32_t expected,
				     sennit_time deadline);

/* Wake the threads that sleep on *word, which the caller has changed before. No
 * other thread runs during the call.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_explore_wake(const uint32_t *word);

/* Call scenario(context) `count` times, with the seeds first, first + 1, and so
 * on. Each call begins at the start of the clock. The scenario must shut down
 * every scheduler that it creates, and end every thread. A failure ends the
 * process: by the scenario's own abort(), or because all threads wait.
 * Returns 0, or -ENOSYS if the library was not built with SENNIT_DETERMINISTIC.
 *
 * From: thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_explore(uint64_t first, uint64_t count,
					      void (*scenario)(void *context),
					      void *context);

SENNIT_END

#endif
