/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - a stack that can be left and resumed.
 *
 *	low                                            top of the stack
 *	| guard |  ...  frames grow down  ...  | struct sennit_fiber |
 *
 * The record lies at the top of the stack that it describes, on the page that
 * is touched anyway; a bound thread's own stack has its record in the worker.
 * Records of stacks that lie far apart would meet in the same cache sets, so
 * each is shifted by its colour.
 *
 * A fiber belongs to one worker and is touched by its thread alone, but for
 * `link`, which a waker that has claimed the fiber's wait uses to hand it home,
 * `wait.claim`, and what reports look at.
 *
 * Idle stacks hold no context: sn_fiber_start calls the worker's loop on one,
 * and when that returns the stack is idle again (arch/arch.h).
 *
 * ASan, LSan, TSan and Valgrind are told of every stack and every switch here
 * and nowhere else.
 */
#ifndef SN_FIBER_H
#define SN_FIBER_H

#include "arch/arch.h"
#include "base/list.h"
#include "fiber/cxx_exceptions.h"
#include "fiber/task_name.h"
#include "fiber/fiber_state.h"
#include "fiber/waiter.h"
#include "sennit/fiber.h"

struct worker;

/* What fibers know of the worker they belong to: its first field. */
struct home {
	struct sennit_fiber *current;    /* owner: the one that runs */
	struct sennit_fiber *left;       /* owner: the one before, for ASan */
	uint64_t             fp_control; /* fixed: what tasks start with */
	bool                 fp_shared;  /* fixed: but nobody sees to that */
	struct cxx_globals  *cxx;        /* fixed: the thread's */
};

/* What a fiber's task has that ends with it: see task_cleanup.h. */
#define CLEANUP_LOCALS UINT32_C(1)
#define CLEANUP_NAME   UINT32_C(2)
#define CLEANUP_DEPTH \
	UINT32_C(4) /* to be measured: as long as the fiber lives */

/* One each for every mutex that the task holds, and for every reader-writer
 * lock that it holds as a writer: see sn_wait_count_held. */
#define CLEANUP_MUTEX  (UINT32_C(1) << 3)
#define CLEANUP_RWLOCK (UINT32_C(1) << 18)
#define CLEANUP_HELD   (UINT32_MAX / CLEANUP_MUTEX * CLEANUP_MUTEX)

/* What a member of a group that runs on its opener's stack finds at least; and
 * half of the stack. */
#define FIBER_MEMBER_STACK ((size_t)16 * 1024)

struct locals;

struct sennit_fiber {
	arch_stack         suspended; /* owner: where to resume */
	struct node        link;      /* handed: ready list, inbox, idle list */
	struct home       *home;      /* fixed: its worker's */
	struct fiber_state state;     /* owner writes: what reports say */
	void              *identity; /* owner: as owner of locks: itself, or the
				  * group whose member runs on it while its
				  * opener waits there */
	struct sennit_cancel_scope
		     *scope; /* owner: of the running task; NULL: none */
	struct alarm *alarm; /* owner: a block of the pool, or `spare`;
				  * NULL: it had no deadline yet */

	/* Of the running task. Looked at after each: see task_cleanup.h. */
	uint32_t       cleanup; /* owner: CLEANUP_* */
	struct locals *locals;  /* owner: see local.h; NULL: none */

	char         *low;     /* fixed; NULL: a thread's own, bounds unknown */
	size_t        size;    /* fixed: bytes from low to the record */
	uint32_t      id;      /* fixed: unique among its worker's */
	char         *shallow; /* fixed; above it members of groups may run on
				* this stack while their opener waits on it */
	bool          canary;  /* fixed: the stack has no guard page */
	bool          in_care; /* fixed: see sn_worker_end_unguarded */
	struct link   roster;  /* under the worker's roster lock */
	struct waiter wait;    /* for sennit_fiber_wait */

	struct alarm spare; /* owner: where memory for another is short */

	struct task_name name; /* owner writes: of the running task */

	/* What tools know this stack as; unused words in plain builds. */
	void    *asan_fake;   /* owner */
	void    *tsan_fiber;  /* owner */
	unsigned valgrind_id; /* owner */
};

/* Make a fiber of the stack low[0..size-1], of which there is one each `pitch`
 * bytes. */
struct sennit_fiber *sn_fiber_make(char *low, size_t size, size_t pitch,
				   struct home *home, uint32_t id);
/* Bytes that frames have at least on a stack of so many usable ones. */
size_t sn_fiber_room(size_t usable);

/* Measure what tasks use of the stack of f, which is new, from now on. */
void sn_fiber_measure(struct sennit_fiber *f);
/* The bytes that f, which is measured and runs, has used since then, or since
 * this was last asked. */
size_t sn_fiber_depth(struct sennit_fiber *f);

/* Forget an idle fiber, whose stack low[0..size-1] may then be reused. */
void sn_fiber_forget(struct sennit_fiber *f, size_t size);

/* Make *f stand for the calling thread's own stack. */
void sn_fiber_adopt_thread(struct sennit_fiber *f, struct home *home);

/* --- switching ---------------------------------------------------------- */

#if defined(SN_ASAN) || defined(SN_TSAN)
/* About to leave `from` for `to`; an idle stack is left for good. */
void sn_fiber_leaving(struct sennit_fiber *from, struct sennit_fiber *to,
		      bool for_good);
/* Just arrived on f's stack; fresh: it was idle. */
void sn_fiber_arrived(struct sennit_fiber *f, bool fresh);
#else
#define sn_fiber_leaving(from, to, for_good) ((void)0)
#define sn_fiber_arrived(f, fresh)           ((void)0)
#endif

/* Leave `from`, which runs, for `to`, which is suspended. */
NO_SANITIZE static inline void sn_fiber_switch(struct sennit_fiber *from,
					       struct sennit_fiber *to)
{
	from->home->current = to;
	sn_fiber_leaving(from, to, false);
	if (unlikely(from->home->fp_shared))
		arch_switch_shared(&from->suspended, to->suspended);
	else
		arch_switch(&from->suspended, to->suspended);
	sn_fiber_arrived(from, false);
}

/* Leave `from`, which runs, and call entry(to) on the idle stack of `to`; entry
 * begins with sn_fiber_arrived and ends with sn_fiber_end. */
NO_SANITIZE static inline void sn_fiber_start(struct sennit_fiber *from,
					      struct sennit_fiber *to,
					      arch_entry          *entry)
{
	void *top = (void *)((uintptr_t)to & ~(uintptr_t)15);

	from->home->current = to;
	sn_fiber_leaving(from, to, false);
	if (unlikely(from->home->fp_shared))
		arch_start_shared(&from->suspended, top, entry, to, 0);
	else
		arch_start(&from->suspended, top, entry, to,
			   from->home->fp_control);
	sn_fiber_arrived(from, false);
}

/* The last words of an entry, whose stack is idle then: what it returns. */
NO_SANITIZE static inline arch_stack sn_fiber_end(struct sennit_fiber *self,
						  struct sennit_fiber *next)
{
	self->home->current = next;
	sn_fiber_leaving(self, next, true);
	return next->suspended;
}

#endif
