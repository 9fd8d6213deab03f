/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - tasks that end before whoever started them goes on: structured
 * concurrency.
 *
 *	init --spawn, spawn, ...--> wait (until every member has ended)
 *
 * Members are tasks that return 0 or a negative error. The first error cancels
 * the group, unless told otherwise, and is what the wait returns. Cancelling
 * ends the members' waits; it interrupts nobody who does not wait.
 *
 * Groups nest: one that a member opens lies inside the member's own group. What
 * cancels the outer one cancels the inner one as well, and the earlier deadline
 * counts. So no task outlives its group, and no group the task that opened it.
 *
 *	static int fetch(void *part);	// 0 or a negative error
 *
 *	sennit_group g;
 *	sennit_group_init(&g, sennit_after(SENNIT_SECOND), 0);
 *	for (i = 0; i < n && !err; i++)
 *		err = sennit_group_spawn(&g, fetch, &parts[i]);
 *	err = sennit_group_wait(&g);	// never returns before all have ended
 *
 * Every call with a deadline that a member would have to wait in (sennit_x_
 * wait_until and their like, sennit_sleep_until) returns -ECANCELED from the
 * cancelling of a group around it on, and -ETIMEDOUT at that group's deadline.
 * Calls without a deadline cannot fail, and wait on. What can be had without
 * waiting can be had in a cancelled group as well.
 *
 * A wait costs least where a worker joins what it has spawned: it then runs its
 * own members, the newest first, as plain calls on its own stack. Such a member
 *   - finds at least half of a stack, and 16 KiB, below it;
 *   - starts with the floating-point control of whoever waits, and must leave
 *     it as it was, which the calling conventions ask of every function;
 *   - has the same sennit_fiber_current as whoever waits.
 * With SENNIT_GROUP_OWN_STACKS no member runs that way.
 */
#ifndef SENNIT_GROUP_H
#define SENNIT_GROUP_H

#include "sennit/scheduler.h"

#include <stdbool.h>

SENNIT_BEGIN

/* A member: returns 0, or a negative errno value. */
typedef int sennit_member_fn(void *argument);

/* sennit_group_init: a member's error does not cancel the others. */
#define SENNIT_GROUP_KEEP_GOING UINT32_C(1)

/* sennit_group_init: each member starts on a stack of its own, with the
 * worker's floating-point control. */
#define SENNIT_GROUP_OWN_STACKS UINT32_C(2)

/* What a task lies in; part of a group. The library's alone. */
struct sennit_cancel_scope {
	sennit_word                 lock_;
	sennit_word                 cancelled_;
	sennit_word                 cancels_;
	uint32_t                    kind_;
	struct sennit_cancel_scope *root_;
	struct sennit_cancel_scope *parent_;
	void                       *waits_;
	sennit_time                 deadline_;
};

typedef struct sennit_group {
	struct sennit_cancel_scope scope_;
	sennit_word                others_;
	uint32_t                   here_;
	sennit_word                error_;
	uint32_t                   flags_;
	sennit_pointer             home_;
	sennit_scheduler          *scheduler_;
	void                      *waiter_;
} sennit_group;

/* Open *g on the bound scheduler, inside the group that the calling task is a
 * member of, if any. The deadline, SENNIT_NEVER for none, ends waits of its
 * members, as that of an outer group does if it is earlier. flags:
 * SENNIT_GROUP_*, or 0. The caller is no member: its own waits are those of the
 * group it lies in. *g is its own until it has waited for it. Misuse with no
 * scheduler bound, or unknown flags.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API void sennit_group_init(sennit_group *g, sennit_time deadline,
				  uint32_t flags);

/* The same on *s, to which the caller holds a reference until it has waited for
 * *g; for threads that are bound to no scheduler, or to another. Misuse if *s
 * has no workers, unless the caller is bound to it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_group_init_on(sennit_group *g, sennit_scheduler *s,
				     sennit_time deadline, uint32_t flags);

/* Make run(argument) a member of *g, placed as a task that is scheduled from
 * here on the group's scheduler. By whoever opened *g, before it waits; by
 * members of *g or of groups inside it; and by anyone else who knows that the
 * opener has not come to its wait, or that some member has not ended, and will
 * not during the call. A member that was accepted runs, exactly once, even if
 * *g is cancelled before it starts. Once *g or a group around it is cancelled
 * none is accepted, and the wait will return -ECANCELED unless there is another
 * error.
 * Returns 0, -ECANCELED, -ENOMEM, or -EINVAL when run is NULL: then nothing was
 * spawned.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_spawn(sennit_group     *g,
						  sennit_member_fn *run,
						  void             *argument);

/* The same with a copy of the `size` bytes at *arguments, made before the call
 * returns, aligned to 16 bytes, and valid until run returns; with a size of 0
 * run gets the pointer itself.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_spawn_copy(sennit_group     *g,
						       sennit_member_fn *run,
						       const void *arguments,
						       size_t      size);

/* Wait until every member of *g has ended, those included that are spawned
 * meanwhile. By the opener, once; a thread neither binds nor unbinds between
 * opening and this. It is neither cancelled nor does it time out: members see
 * the cancelling or the deadline, and end. Then *g has ended, its memory may be
 * reused at once, and all that members did is visible.
 * Returns 0 if *g was never cancelled and every member returned 0; else the
 * first error, a member's or the -ECANCELED of sennit_group_cancel or of a
 * spawn that was not accepted. Any other goes before -ECANCELED, which mostly
 * follows from it.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_wait(sennit_group *g);

/* Cancel *g and all groups inside it: waits of their members end with
 * -ECANCELED, those under way and those to come. By anyone who may spawn
 * (above). What the caller did before is visible to whoever sees that it is
 * cancelled.
 * Returns whether *g itself was not cancelled before, by a call or an error.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_group_cancel(sennit_group *g);

/* Whether the caller should give up, for tasks that seldom wait: looks at the
 * groups that it is inside of, and with a deadline at the clock.
 * Returns 0, -ECANCELED when one of them is cancelled, or -ETIMEDOUT when the
 * earliest of their deadlines has passed; 0 in no group.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_cancelled(void);

SENNIT_END

#endif
