/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/longjmp_check.h"

#include "os/os.h"

void sn_longjmp_found(struct worker *w, uintptr_t here)
{
	MISUSE(sn_stacks_contain(&w->scheduler->stacks, here) ||
		       os_thread_has_stack(here),
	       "longjmp",
	       "it left a task, whose fiber still counts as running, for "
	       "another "
	       "stack");
}

void sn_astray_home(struct worker *w, uintptr_t here)
{
	MISUSE(sn_stacks_contain(&w->scheduler->stacks, here), "longjmp",
	       "it left the thread's own stack, which still counts as running, "
	       "for "
	       "a task's");
	w->last_seen_at = here;
}
