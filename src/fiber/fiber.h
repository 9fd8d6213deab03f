/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - a fiber: a stack that can be suspended and resumed.
 *
 *	low                                            top of the stack
 *	| guard |  ...  frames grow down  ...  | struct sennit_fiber |
 *
 * The record lies at the top of the stack that it describes, on a page that is
 * used anyway. A bound thread's own stack has its record in the worker. Records
 * at equal offsets of distant stacks would share the same cache sets, so a
 * colour shifts each record.
 *
 * A fiber belongs to one worker, and only that worker's thread accesses it.
 * Exceptions: `link`, through which a waker that has claimed the fiber's wait
 * hands the fiber to its worker; `wait.claim`; and the fields that reports
 * read.
 *
 * Idle stacks hold no context. sn_fiber_start calls the worker's loop on an
 * idle stack; when the loop returns, the stack is idle again (arch/arch.h).
 *
 * Only this module informs ASan, LSan, TSan and Valgrind of stacks and
 * switches.
 */
#ifndef SN_FIBER_H
#define SN_FIBER_H

#include "arch/arch.h"
#include "base/list.h"
#include "fiber/cxx_exceptions.h"
#include "fiber/task_name.h"
#include "fiber/fiber_state.h"
#include "fiber/owner_look.h"
#include "fiber/waiter.h"
#include "sennit/fiber.h"

struct worker;

/* What fibers know of their worker: it is the worker's first field. */
struct home {
	struct sennit_fiber *current;    /* owner: the running fiber */
	struct sennit_fiber *left;       /* owner: the fiber that ran before,
					  * for ASan */
	uint64_t             fp_control; /* fixed: initial floating-point
					  * control of tasks */
	bool                 fp_shared;  /* fixed: floating-point control is not
					  * saved */
	uint8_t              observed;   /* owner: OBSERVE_*: see observe.h */
	struct cxx_globals  *cxx;        /* owner: the exception state of the
					  * thread, or, while the worker is
					  * observed, one that is always busy:
					  * one test finds both */
};

/* Flags of `cleanup`: what must end with the fiber's task. See
 * task_cleanup.h. */
#define CLEANUP_LOCALS UINT32_C(1)
#define CLEANUP_NAME   UINT32_C(2)
#define CLEANUP_DEPTH \
	UINT32_C(4) /* stack depth is measured; set for the fiber's whole
		     * life */

#define CLEANUP_OBSERVED UINT32_C(8) /* the task's begin was observed */
#define CLEANUP_FP_SHARED \
	UINT32_C(16) /* floating-point control is not restored; set for the
		      * fiber's whole life */

/* What the end of a task does not end. */
#define CLEANUP_STAYS (CLEANUP_DEPTH | CLEANUP_OBSERVED | CLEANUP_FP_SHARED)

/* One unit for each mutex that the task holds, and for each reader-writer lock
 * that it holds as a writer: see sn_wait_count_held. */
#define CLEANUP_MUTEX  (UINT32_C(1) << 5)
#define CLEANUP_RWLOCK (UINT32_C(1) << 18)
#define CLEANUP_HELD   (UINT32_MAX / CLEANUP_MUTEX * CLEANUP_MUTEX)

/* A group member runs on its opener's stack only where at least this many bytes
 * and half of the stack are free. */
#define FIBER_MEMBER_STACK ((size_t)16 * 1024)

struct locals;

/* Of observe: times in the units of core/stopwatch.h. */
struct fiber_times {
	uint64_t began; /* owner: when the task began or resumed; 0: it is not
			 * timed */
	uint64_t ran;   /* owner: nanoseconds that it ran before that */
	a_u64    since; /* owner writes: when the wait began; 0: it is not
			 * timed */
	uint64_t ready; /* handed: when the wait was over; 0: unknown */
	uint32_t kind;  /* owner: enum sennit_waits_for */
};

struct sennit_fiber {
	arch_stack         suspended; /* owner: the context to resume */
	struct node        link;      /* handed: in the ready list, an inbox or
				       * the idle list */
	struct home       *home;      /* fixed: that of its worker */
	struct fiber_state state;     /* owner writes: what reports read */
	struct owner_look  look;      /* who holds the lock it waits for */
	a_ptr              identity;  /* owner writes: its identity as owner
				      * of locks: the fiber itself, or the
				      * group whose member runs on it while
				      * its opener waits */
	a_ptr         scope; /* owner writes: the running task's; NULL: none */
	struct alarm *alarm; /* owner: a block of the pool, or `spare`; NULL: no
			      * wait had a deadline yet */

	/* Fields of the running task. The worker checks them after each task:
	 * see task_cleanup.h. */
	uint32_t       cleanup; /* owner: CLEANUP_* */
	struct locals *locals;  /* owner: local values, see local.h; NULL:
				 * none */

	char         *low;     /* fixed; NULL: a thread's own stack, bounds
			        * unknown */
	size_t        size;    /* fixed: bytes from low to the record */
	uint32_t      id;      /* fixed: unique within its worker */
	char         *shallow; /* fixed; while the stack pointer is above it,
			        * group members may run on this stack during
			        * their opener's wait */
	bool          canary;  /* fixed: the stack has no guard page */
	bool          in_care; /* fixed: see sn_worker_stacks_check */
	struct link   roster;  /* under the worker's roster lock */
	struct waiter wait;    /* the record of sennit_fiber_wait */

	struct alarm spare; /* owner: used when no memory for another is
			     * available */

	struct task_name   name; /* owner writes: of the running task */
	struct fiber_times times;

	/* The identities of this stack in the tools; unused in plain builds. */
	void    *asan_fake;   /* owner */
	void    *tsan_fiber;  /* owner */
	unsigned valgrind_id; /* owner */
};

/* Make a fiber of the stack low[0..size-1]. Stacks lie `pitch` bytes apart. */
struct sennit_fiber *sn_fiber_make(char *low, size_t size, size_t pitch,
				   struct home *home, uint32_t id);
/* The minimum number of bytes for frames on a stack with `usable` bytes. */
size_t sn_fiber_room(size_t usable);

/* Start to measure the stack depth of f, which must be new. */
void sn_fiber_measure(struct sennit_fiber *f);
/* The stack depth in bytes of f since the measurement began or since the last
 * call. f must be measured and running. */
size_t sn_fiber_depth(struct sennit_fiber *f);

/* Forget an idle fiber. Its stack low[0..size-1] may then be reused. */
void sn_fiber_forget(struct sennit_fiber *f, size_t size);

/* Make *f the fiber of the calling thread's own stack. */
void sn_fiber_adopt_thread(struct sennit_fiber *f, struct home *home);

/* Whether the address lies on f's stack. Never for a thread's own stack. */
static ALWAYS_INLINE bool sn_fiber_holds(const struct sennit_fiber *f,
					 uintptr_t                  address)
{
	return address - (uintptr_t)f->low < f->size;
}

/* --- what reports read besides its state -------------------------------- */

static inline void *sn_fiber_identity(const struct sennit_fiber *f)
{
	return a_load_rlx(&f->identity); /* not raced: the owner asks */
}

static inline void sn_fiber_set_identity(struct sennit_fiber *f, void *identity)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&f->identity, identity);
}

static inline struct sennit_cancel_scope *sn_fiber_scope(
	const struct sennit_fiber *f)
{
	return a_load_rlx(&f->scope); /* not raced: the owner asks */
}

static inline void sn_fiber_set_scope(struct sennit_fiber        *f,
				      struct sennit_cancel_scope *scope)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&f->scope, (void *)scope);
}

/* --- switching ---------------------------------------------------------- */

#if defined(SN_ASAN) || defined(SN_TSAN)
/* The running thread is about to switch stacks. for_good: the stack of `from`
 * becomes idle. */
void sn_fiber_leaving(struct sennit_fiber *from, struct sennit_fiber *to,
		      bool for_good);
/* The running thread has just switched to f's stack. fresh: the stack was
 * idle. */
void sn_fiber_arrived(struct sennit_fiber *f, bool fresh);
#else
#define sn_fiber_leaving(from, to, for_good) ((void)0)
#define sn_fiber_arrived(f, fresh)           ((void)0)
#endif

/* Suspend `from`, which runs, and resume `to`, which is suspended. */
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

/* Suspend `from`, which runs, and call entry(to) on the idle stack of `to`.
 * entry begins with sn_fiber_arrived and ends with sn_fiber_end. */
NO_SANITIZE static inline void sn_fiber_start(struct sennit_fiber *from,
					      struct sennit_fiber *to,
					      arch_entry          *entry)
{
	void *top = (void *)((uintptr_t)to & ~(uintptr_t)15);

	from->home->current = to;
	sn_fiber_leaving(from, to, false);
	arch_note_low(top, to->low);
	if (unlikely(from->home->fp_shared))
		arch_start_shared(&from->suspended, top, entry, to, 0);
	else
		arch_start(&from->suspended, top, entry, to,
			   from->home->fp_control);
	sn_fiber_arrived(from, false);
}

/* The last call of an entry, which returns its result. The stack of `self` is
 * idle afterwards. */
NO_SANITIZE static inline arch_stack sn_fiber_end(struct sennit_fiber *self,
						  struct sennit_fiber *next)
{
	self->home->current = next;
	sn_fiber_leaving(self, next, true);
	return next->suspended;
}

#endif
