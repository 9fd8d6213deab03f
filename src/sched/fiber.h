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

#include "arch/cpu.h"
#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"
#include "os/os.h"
#include "wait/waiter.h"
#include "sennit/base.h"
#include "sennit/fiber.h"
#include "sennit/report.h"
#include "sennit/task.h"

/* --- task name ------------------------------------------------------------ */

/* The name that a running task has given itself.
 *
 *	version   odd while being written      words   characters, zero-padded
 *
 * The name is copied into the fiber's record. So a report on another thread can
 * read it whatever the task does: records stay mapped as long as the scheduler
 * lives. Only the owner writes. A reader reads the version before and after the
 * words. As in fiber.h no fence is needed: words are stored with release
 * and read with acquire, so a reader that sees a word of a new name also sees
 * the new version.
 */

#define TASK_NAME_WORDS (SENNIT_NAME_SIZE / 8)

struct task_name {
	a_u32 version; /* owner writes */
	a_u64 words[TASK_NAME_WORDS];
};

/* Store the name, cut to SENNIT_NAME_SIZE - 1 bytes; "" removes it. */
void sn_task_name_write(struct task_name *tag, const char *name);

/* Read the name. Returns false if there is none, or if it is being written. */
bool sn_task_name_read(struct task_name *tag, char name[SENNIT_NAME_SIZE]);

/* --- fiber state ---------------------------------------------------------- */

/* The part of a fiber that reports read: its task, its state, and what it waits
 * for. (A state word with a sequence number.)
 *
 *	doing   { serial : 24 | TIMED : 1 | waits_for : 5 | state : 2 }
 *
 *	RUNNING --owner--> BLOCKED --its waker--> READY --owner--> RUNNING
 *	        \--owner yields---------------------^
 *
 * The owner writes, except for the step from BLOCKED to READY, which the thread
 * that claimed the wait makes. Any thread may read: it reads `doing`, the other
 * fields, and `doing` again, and retries if `doing` has changed. This needs no
 * fence: the other fields are stored with release while RUNNING, and read with
 * acquire. So a reader that sees a field of a later wait also sees that the
 * earlier wait is over.
 */

#define FIBER_STATE_STATE  UINT32_C(3) /* enum sennit_report_state */
#define FIBER_STATE_KIND   2           /* shift: enum sennit_waits_for */
#define FIBER_STATE_KINDS  UINT32_C(32)
#define FIBER_STATE_TIMED  (UINT32_C(1) << 7)
#define FIBER_STATE_SERIAL (UINT32_C(1) << 8)

struct fiber_state {
	a_word task;     /* owner writes: the task function, 0 for none */
	a_ptr  object;   /* owner writes: of the wait */
	a_u64  since;    /* owner writes: of the wait */
	a_u32  doing;    /* owner writes; handed to the waker as described
			  * above */
	a_u64  deadline; /* owner writes: valid only with TIMED */
};

static inline void sn_fiber_state_init(struct fiber_state *s)
{
	a_init(&s->task, 0);
	a_init(&s->object, NULL);
	a_init(&s->since, 0);
	a_init(&s->doing, SENNIT_REPORT_RUNNING);
	a_init(&s->deadline, 0);
}

/* The fiber begins to run `task`; NULL: it runs none. */
static inline void sn_fiber_state_set_task(struct fiber_state *s,
					   sennit_task_fn     *task)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&s->task, (uintptr_t)task);
}

/* The task that the owner has stored. */
static inline sennit_task_fn *sn_fiber_state_get_task(
	const struct fiber_state *s)
{
	return (sennit_task_fn *)a_load_rlx(&s->task);
}

/* The running fiber is about to wait. No thread may wake it before this call.
 * `serial` must differ from that of the previous wait. */
static inline void sn_fiber_state_block(struct fiber_state *s, uint32_t kind,
					const void *object, uint32_t serial,
					sennit_time now, sennit_time deadline)
{
	uint32_t doing = serial * FIBER_STATE_SERIAL |
			 kind << FIBER_STATE_KIND | SENNIT_REPORT_BLOCKED;

	if (deadline < SN_UNCANCELLED) {
		doing |= FIBER_STATE_TIMED;
		/* -> fiber_state.read: RUNNING */
		a_store_rel(&s->deadline, deadline);
	}
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&s->object, (void *)(uintptr_t)object);
	a_store_rel(&s->since, now); /* -> fiber_state.read: RUNNING */
	/* -> fiber_state.read: BLOCKED, the rest */
	a_store_rel(&s->doing, doing);
}

/* The running fiber yields to others. */
static inline void sn_fiber_state_yield(struct fiber_state *s, uint32_t serial,
					sennit_time now)
{
	a_store_rel(&s->since, now); /* -> fiber_state.read: RUNNING */
	/* -> fiber_state.read: READY, the rest */
	a_store_rel(&s->doing,
		    serial * FIBER_STATE_SERIAL | SENNIT_REPORT_READY);
}

/* What the owner waits for: enum sennit_waits_for. */
static inline uint32_t sn_fiber_state_kind(const struct fiber_state *s)
{
	return a_load_rlx(&s->doing) / (1u << FIBER_STATE_KIND) %
	       FIBER_STATE_KINDS;
}

/* Set the start time of the current wait. */
static inline void sn_fiber_state_set_since(struct fiber_state *s,
					    sennit_time         now)
{
	a_store_rlx(&s->since, now);
}

/* The wait is over. The thread that has claimed it calls this before the fiber
 * can be resumed. */
static inline void sn_fiber_state_ready(struct fiber_state *s)
{
	uint32_t doing = a_load_rlx(&s->doing) & ~FIBER_STATE_STATE;

	/* -> fiber_state.read: READY, the rest */
	a_store_rel(&s->doing, doing | SENNIT_REPORT_READY);
}

/* The fiber runs again. */
static inline void sn_fiber_state_run(struct fiber_state *s)
{
	a_store_rlx(&s->doing, SENNIT_REPORT_RUNNING);
}

/* Copy *s into the report entry. Returns false if no task is alive here. */
bool sn_fiber_state_read(struct fiber_state *s, sennit_report_entry *e);

/* --- owner look ----------------------------------------------------------- */

/* Lets any thread read who holds the lock that a fiber waits for, without
 * touching memory that may be freed.
 *
 *	place   0                        waits for no lock with an owner
 *	        owner word               waits; the lock stays valid
 *	        owner word + LOOKED_AT   a reader reads the owner word
 *
 *	0 --fiber--> owner word --fiber--> 0
 *	               |    ^
 *	               reader
 *
 * A lock must not be freed while a fiber waits for it. So a reader that keeps
 * the fiber in its wait may read the lock. The fiber leaves its wait by a
 * compare-and-set, which fails while a reader looks; it then waits for the few
 * instructions of the reader. Only waits that were linked to the lock's queue
 * pay for this, not locks without contention.
 *
 * Checked by test/model/owner_look.pml.
 */

#define OWNER_LOOK_LOOKED_AT UINT32_C(1)

struct owner_look {
	a_word place; /* any: see above */
};

static inline void sn_owner_look_init(struct owner_look *l)
{
	a_init(&l->place, 0);
}

/* The calling fiber is about to wait for the lock whose owner is *owner. */
static inline void sn_owner_look_open(struct owner_look *l,
				      sennit_pointer    *owner)
{
	/* -> owner_look.open: the lock */
	a_store_rel(&l->place, (uintptr_t)owner);
}

/* The wait is over: nobody reads the lock through *l after this call. */
static inline void sn_owner_look_close(struct owner_look *l)
{
	/* only a reader changes the mark, and the CAS checks it */
	uintptr_t place = a_load_rlx(&l->place) &
			  ~(uintptr_t)OWNER_LOOK_LOOKED_AT;
	uintptr_t old = place;

	/* <- owner_look.done */
	while (unlikely(!a_cas_weak_acq(&l->place, &old, 0))) {
		if (old != place)
			os_thread_yield();
		old = place;
	}
}

/* Store in *owner who holds the lock that the fiber of *l waits for; NULL: it
 * is not known. Returns false if the fiber does not wait for a lock, or if
 * another reader looks. */
static inline bool sn_owner_look_read(struct owner_look *l, void **owner)
{
	uintptr_t place = a_load_rlx(&l->place); /* a guess; the CAS checks
						  * it */

	if (!place || place & OWNER_LOOK_LOOKED_AT)
		return false;
	/* <- owner_look.open */
	if (!a_cas_acq(&l->place, &place, place | OWNER_LOOK_LOOKED_AT))
		return false;
	TORTURE_POINT();
	/* relaxed: see "Why no cycle is false" in docs/design/diagnosis.md */
	*owner = a_load_rlx((sennit_pointer *)place);
	/* -> owner_look.done: the lock has been read */
	a_store_rel(&l->place, place);
	return true;
}

/* --- fiber ---------------------------------------------------------------- */

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
 * loop.h. */
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

/* Of observe: times in the units of observe/histogram.h. */
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
	 * see loop.h. */
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

/* --- lock set ------------------------------------------------------------- */

/* Holds the queue locks of several objects at once.
 *
 * The locks are taken in the order of their addresses, each once, so that two
 * callers cannot deadlock. While all of them are held, none of the objects can
 * change. So the caller sees all objects in one consistent state, and can add a
 * waiter to all their queues in one step. Only the holder changes a locked
 * word, so the word itself stores the value that it will have after the unlock.
 */

/* The maximum number of objects in one call. */
enum { LOCK_SET_MAX = 64 };

struct lock_set {
	size_t       count; /* number of different words; they are sorted by
			     * address */
	sennit_word *words[LOCK_SET_MAX];
};

/* Add *word to the set, unless it is already in it. */
void sn_lock_set_add(struct lock_set *l, sennit_word *word);

void sn_lock_set_take(const struct lock_set *l);

/* Unlock all. Each word gets the value that sn_lock_set_set stored. */
void sn_lock_set_drop(const struct lock_set *l);

/* The value that *word, which is locked, will have after the unlock. */
static inline uint32_t sn_lock_set_get(sennit_word *word)
{
	/* not raced: only the lock's holder changes it */
	return a_load_rlx(word) & ~WAIT_QUEUE_LOCKED;
}

static inline void sn_lock_set_set(sennit_word *word, uint32_t value)
{
	a_store_rlx(word, value | WAIT_QUEUE_LOCKED);
}

#endif
