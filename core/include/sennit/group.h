/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - groups of tasks that end before the task that opened the group
 * continues: structured concurrency.
 *
 *	init --spawn, spawn, ...--> wait (until every member has ended)
 *
 * Members are tasks that return 0 or a negative error. By default the first
 * error cancels the group, and the wait returns it. Cancellation ends the
 * members' waits. It does not interrupt a member that does not wait.
 *
 * Groups nest. A group that a member opens is inside the member's group.
 * Cancellation of the outer group also cancels the inner one, and the earlier
 * deadline of the two applies. So no task outlives its group, and no group
 * outlives the task that opened it: it is misuse if a task ends, or the
 * function of a blocking call, or if a thread binds or unbinds, while a group
 * that it has opened has not been waited for. The library does not see the end
 * of a thread that is not bound.
 *
 * A group ends when sennit_group_wait or sennit_group_drain returns. Any call
 * on it after that is misuse, until it is opened again. The library detects it
 * as long as the group's memory is not used for something else.
 *
 *	static int fetch(void *part);	// 0 or a negative error
 *
 *	sennit_group g;
 *	sennit_group_init(&g, sennit_after(SENNIT_SECOND), 0);
 *	for (i = 0; i < n && !err; i++)
 *		err = sennit_group_spawn(&g, fetch, &parts[i]);
 *	err = sennit_group_wait(&g);	// returns after all have ended
 *
 * Once a group around a member is cancelled, every call in which the member
 * would have to wait, and that returns an int, returns -ECANCELED, with and
 * without a deadline: sennit_event_wait, sennit_channel_receive, sennit_sleep
 * and all the others. At the group's deadline it returns -ETIMEDOUT. The few
 * waits that a group cannot end are listed in base.h; a deadline of
 * SENNIT_UNCANCELLED makes others like them. A call that does not have to wait
 * succeeds in a cancelled group as well.
 *
 * Instead of sennit_group_wait, sennit_group_drain lets members end until a
 * deadline and cancels the others.
 *
 * A wait costs least on a worker that joins the members that it has spawned. It
 * then runs its own members as plain calls on its own stack, the newest first.
 * Such a member
 *   - finds at least half of a stack, and at least 16 KiB, below it;
 *   - starts with the floating-point control of the waiting task and must leave
 *     it unchanged, as calling conventions require of every function;
 *   - has the same sennit_fiber_current as the waiting task.
 * With SENNIT_GROUP_OWN_STACKS no member runs that way.
 */
#ifndef SENNIT_GROUP_H
#define SENNIT_GROUP_H

#include "sennit/scheduler.h"

#include <stdbool.h>

SENNIT_BEGIN

/* A member. It returns 0 or a negative errno value. */
typedef int sennit_member_fn(void *argument);

/* A flag of sennit_group_init: an error of a member does not cancel the
 * others. */
#define SENNIT_GROUP_KEEP_GOING UINT32_C(1)

/* A flag of sennit_group_init: each member starts on a stack of its own, with
 * the worker's floating-point control. */
#define SENNIT_GROUP_OWN_STACKS UINT32_C(2)

/* A node in the tree of groups; part of a group. For the library's use only. */
struct sennit_cancel_scope {
	sennit_word                  lock_;
	sennit_word                  state_;
	sennit_word                  cancels_;
	uint32_t                     kind_;
	struct sennit_cancel_scope  *root_;
	struct sennit_cancel_scope  *parent_;
	void                        *waits_;
	sennit_time                  deadline_;
	sennit_time                  earlier_;
	struct sennit_cancel_scope  *inner_;
	struct sennit_cancel_scope  *next_;
	struct sennit_cancel_scope **at_;
};

typedef struct sennit_group {
	/* Aligned to 8 everywhere: tags stand in the low bits of a group's
	 * address. */
	__attribute__((aligned(8))) struct sennit_cancel_scope scope_;
	sennit_word                                            others_;
	uint32_t                                               here_;
	sennit_word                                            error_;
	uint32_t                                               flags_;
	sennit_pointer                                         home_;
	sennit_scheduler                                      *scheduler_;
	void                                                  *waiter_;
	void                                                  *reserved_[2];
} sennit_group;

/* Open *g on the bound scheduler, inside the group that the calling task is a
 * member of, if there is one. The deadline ends waits of the members;
 * SENNIT_NEVER means none. An earlier deadline of an outer group also ends
 * them. flags is 0 or a combination of SENNIT_GROUP_*. The caller is not a
 * member: its own waits follow the group that it is in. The caller owns *g
 * until it has waited for it with sennit_group_wait, which it must do before
 * its task ends. It is misuse if no scheduler is bound or a flag is unknown.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API void sennit_group_init(sennit_group *g, sennit_time deadline,
				  uint32_t flags);

/* Like sennit_group_init, on *s: for threads that are bound to no scheduler or
 * to another one. The caller must hold a reference to *s until it has waited
 * for *g. It is misuse if *s has no workers, unless the caller is bound to it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_group_init_on(sennit_group *g, sennit_scheduler *s,
				     sennit_time deadline, uint32_t flags);

/* Make run(argument) a member of *g. It is placed like a task that the caller
 * schedules on the group's scheduler. These callers may spawn:
 *   - the opener of *g, before it waits for its end;
 *   - members of *g and of groups inside it;
 *   - any other caller that knows that the opener has not begun to wait, or
 *     that some member has not ended and will not end during the call.
 * A member that was accepted runs exactly once, even if *g is cancelled before
 * it starts. Once *g or a group around it is cancelled, no member is accepted,
 * and the wait will return -ECANCELED unless there is another error.
 * It is misuse if *g has ended.
 * Returns 0, -ECANCELED if *g is cancelled, -ENOMEM, -EINVAL if run is NULL, or
 * -ESHUTDOWN as sennit_schedule_task_on does. On error nothing is spawned.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_spawn(sennit_group     *g,
						  sennit_member_fn *run,
						  void             *argument);

/* Like sennit_group_spawn, with a copy of the `size` bytes at *arguments. The
 * copy is made before the call returns, is aligned to 16 bytes, and is valid
 * until run returns. With a size of 0 run gets the pointer itself. Returns what
 * sennit_group_spawn() returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_spawn_copy(sennit_group     *g,
						       sennit_member_fn *run,
						       const void *arguments,
						       size_t      size);

/* A flag of sennit_member: run on the worker or bound thread that spawns the
 * member; never stolen. It is misuse on a thread that is not bound to the
 * group's scheduler. */
#define SENNIT_MEMBER_SAME_THREAD UINT32_C(1)

/* A flag of sennit_member: run on the worker with the number `worker`, from 0,
 * which is started if it has no thread; never stolen. Without workers, 0 is the
 * bound thread that spawns the member. */
#define SENNIT_MEMBER_ON_WORKER UINT32_C(2)

typedef struct sennit_member {
	sennit_member_fn *run;
	void             *argument;  /* as of a sennit_task */
	size_t            copy_size; /* as of a sennit_task */
	uint32_t          flags;     /* SENNIT_MEMBER_*, or 0 */
	uint32_t          worker;    /* with SENNIT_MEMBER_ON_WORKER; else 0 */
} sennit_member;

#define SENNIT_MEMBER(...) SENNIT_CONSTANT_(sennit_member, __VA_ARGS__)

/* Make *member a member of *g, as its flags say: the general form of
 * sennit_group_spawn. *member may be reused at once.
 * Returns what sennit_group_spawn() returns; -EINVAL if flags are unknown or
 * exclude each other, or `worker` is set without its flag; -ENOENT if there is
 * no worker with this number; or -EAGAIN if it cannot be started.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_spawn_task(
	sennit_group *g, const sennit_member *member);

/* Wait until every member of *g has ended, including members that are spawned
 * during the wait, and end *g. The opener calls this once: a second call, or
 * one by another task, is misuse. A thread must neither bind nor unbind between
 * the opening and this call. The wait is not
 * cancelled and does not time out: members see the cancellation or the
 * deadline, and end. When the call returns, *g has ended, its memory may be
 * reused at once, and the effects of all members are visible.
 * Returns 0 if *g was never cancelled and every member returned 0. Otherwise it
 * returns the first error: that of a member, or the -ECANCELED of
 * sennit_group_cancel or of a spawn that was not accepted. Any other error
 * takes precedence over -ECANCELED, which usually follows from it.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_group_wait(sennit_group *g);

/* Wait, as the opener of *g, until no member is left or the deadline passes.
 * With a deadline of 0 the call looks and does not wait. It does not end the
 * group: the opener may spawn and call it again, any number of times, also
 * after it has returned 0, and waits for the group with sennit_group_wait in
 * the end. It is misuse if *g has ended. No member runs on the opener's stack
 * meanwhile.
 * Returns 0 if no member is left, whatever the members returned. Otherwise it
 * returns -ETIMEDOUT at the deadline, or what the group around the opener says:
 * -ECANCELED, or -ETIMEDOUT at that group's deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_group_wait_until(sennit_group *g,
						       sennit_time   deadline);

/* Let the members of *g end by themselves until the deadline, cancel those that
 * have not, and wait for their end. This is how a server stops: accept no more,
 * drain the group of the connections. If the group around the opener is
 * cancelled or past its deadline, the members are cancelled at once. The opener
 * calls this instead of sennit_group_wait, and all that is said there about the
 * end of the group holds.
 * Returns what sennit_group_wait returns: 0 if every member ended in time and
 * returned 0; -ECANCELED if some had to be cancelled; or the error of a member.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_group_drain(sennit_group *g, sennit_time deadline);

/* Return the number of members of *g that have not ended, including those that
 * have not begun. Members of groups inside *g do not count. The opener calls
 * this, before or between its waits. Members may spawn and end meanwhile. It is
 * misuse if *g has ended.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_group_members(const sennit_group *g);

/* Bring the deadline of *g forward. The waits of its members and of the groups
 * inside it end with -ETIMEDOUT at the new deadline, those under way too. A
 * deadline that has passed ends them now. A deadline that is not earlier than
 * that of *g and of the groups around it has no effect: a deadline cannot be
 * put off, because members may have acted on it already. Any caller that may
 * cancel *g (see sennit_group_cancel) may call this. It is misuse if *g has
 * ended.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_group_set_deadline(sennit_group *g,
					  sennit_time   deadline);

/* Cancel *g and all groups inside it. Current and future waits of their members
 * end with -ECANCELED. Any caller that may spawn (see sennit_group_spawn) may
 * cancel. What the caller did before is visible to every task that sees the
 * cancellation. It is misuse if *g has ended.
 * Returns true if neither a call nor an error had cancelled *g itself before.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_group_cancel(sennit_group *g);

/* Return whether *g, or a group around it, is cancelled. Any caller that may
 * cancel *g may call this.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_group_is_cancelled(const sennit_group *g);

/* Return the innermost group that the calling task is a member of, or NULL. The
 * group exists at least until the task has ended. The task may spawn into it
 * and cancel it: for libraries that start a helper in the name of their caller.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_group *sennit_group_current(void);

/* Return whether the calling task should give up. Use it in tasks that seldom
 * wait. The call checks the groups that the task is inside of, and reads the
 * clock if one of them has a deadline.
 * Returns 0, -ECANCELED if one of the groups is cancelled, or -ETIMEDOUT if the
 * earliest of their deadlines has passed. Outside of any group it returns 0.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_check_cancelled(void);

/* Return the earliest of the deadlines of the groups that the calling task is
 * inside of, to pass it on to another library. SENNIT_NEVER if there is none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_time sennit_deadline(void);

SENNIT_END

#endif
