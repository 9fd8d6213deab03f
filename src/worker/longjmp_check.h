/* SPDX-License-Identifier: Apache-2.0 */
/* longjmp_check.h - detects a task that was left by longjmp().
 *
 * After a jump from a task to another stack of this thread, or from the
 * thread's own stack into a task, the wrong fiber counts as running. Its next
 * wait would save one stack as another. The stack pointer is compared with the
 * running fiber's stack where a fiber is left without hurry, where there is
 * nothing to run after a task, and where a thread unbinds. Jumps within a stack
 * are allowed, and so are stacks of the program, for example a coroutine on
 * which a task waits.
 */
#ifndef SN_LONGJMP_CHECK_H
#define SN_LONGJMP_CHECK_H

#include "worker/worker.h"

/* Within this distance of the last address that was seen on the thread's own
 * stack, no lookup is made. */
#define ASTRAY_NEAR ((uintptr_t)32 * 1024)

/* Abort if the address lies on another fiber's stack or on the thread's own
 * stack. */
COLD void sn_longjmp_found(struct worker *w, uintptr_t here);

/* Abort if the address lies on any fiber's stack although the thread's own
 * stack counts as running. Otherwise remember the address. */
void sn_astray_home(struct worker *w, uintptr_t here);

/* A thread that had no worker is on its own stack. */
static ALWAYS_INLINE void sn_longjmp_begin(struct worker *w)
{
	w->last_seen_at = (uintptr_t)__builtin_frame_address(0);
}

/* Call this on the stack of the running fiber. The bounds of a thread's own
 * stack are unknown, so the address is looked up among the fibers' stacks. */
static ALWAYS_INLINE void sn_longjmp_check(struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;
	const uintptr_t            here = (uintptr_t)__builtin_frame_address(0);

	if (f == &w->main) {
		if (unlikely(here - w->last_seen_at + ASTRAY_NEAR >=
			     2 * ASTRAY_NEAR))
			sn_astray_home(w, here);
	} else if (unlikely(!sn_fiber_holds(f, here))) {
		sn_longjmp_found(w, here);
	}
}

#endif
