/* SPDX-License-Identifier: Apache-2.0 */
/* longjmp_check.h - notices a task that was left by longjmp().
 *
 * A jump from a task to another stack of this thread, or from the thread's own
 * stack into a task, leaves the wrong fiber as the one that runs: its next wait
 * would save one stack as another. Where a fiber is left with time to spare,
 * where there is nothing to run after a task, and where a thread unbinds, the
 * stack pointer is compared with the fiber's stack. A jump within a stack is
 * the program's affair, and so is a stack of its own: a coroutine on which a
 * task waits.
 */
#ifndef SN_LONGJMP_CHECK_H
#define SN_LONGJMP_CHECK_H

#include "worker/worker.h"

/* So near to where the thread's own stack was seen last nobody looks again. */
#define ASTRAY_NEAR ((uintptr_t)32 * 1024)

/* Abort if the address lies on another fiber's stack or on the thread's. */
COLD void sn_longjmp_found(struct worker *w, uintptr_t here);

/* Abort if it lies on any fiber's stack, while the thread's own is said to run;
 * else it was seen. */
void sn_astray_home(struct worker *w, uintptr_t here);

/* To be called on the stack of the fiber that runs. A thread's own stack has no
 * bounds that we know: it is looked up whether the address is a fiber's. */
static ALWAYS_INLINE void sn_longjmp_check(struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;
	const uintptr_t            here = (uintptr_t)__builtin_frame_address(0);

	if (f == &w->main) {
		if (unlikely(here - w->last_seen_at + ASTRAY_NEAR >=
			     2 * ASTRAY_NEAR))
			sn_astray_home(w, here);
	} else if (unlikely(here - (uintptr_t)f->low >= f->size)) {
		sn_longjmp_found(w, here);
	}
}

#endif
