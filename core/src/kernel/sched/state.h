/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the structs of a scheduler, of a worker, one thread's share of it,
 * of a fiber and of a wait. A heading names the header of the functions that
 * read and write what is below it. Parts that belong to rooms above the kernel
 * are in their own *_state.h.
 *
 *	threaded worker               a worker thread of the scheduler; its
 *	                              tasks may be stolen until they start
 *	bound worker                  a bound thread; its tasks are pinned to
 *	                              it, and run when it blocks or unbinds
 *
 * Only the worker's own thread accesses it, except for the deque's public end,
 * the inboxes, the sleeper and the counters.
 */
#ifndef SN_STATE_H
#define SN_STATE_H

#include "arch/cpu.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/torture.h"
#include "park/gate.h"
#include "park/parking.h"
#include "blocking/blocking_state.h"
#include "cpus/shares.h"
#include "flow/loop_state.h"
#include "observe/observe_state.h"
#include "trim/trim_state.h"
#include "queue/timers.h"
#include "park/topology.h"
#include "queue/deque.h"
#include "queue/backlog.h"
#include "queue/blocks.h"
#include "queue/inbox.h"
#include "queue/task_queue.h"
#include "queue/task.h"
#include "stack/stack.h"
#include "sennit/base.h"
#include "sennit/config.h"
#include "sennit/end.h"
#include "sennit/event.h"
#include "sennit/fiber.h"
#include "sennit/poller.h"
#include "sennit/report.h"
#include "sennit/resources.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cxx_globals;
struct locals;
struct sequels;
struct stack_depths;
struct startup;
struct worker;

/* --- waiter: wait/wait.h -------------------------------------------------- */

/* One wait of one fiber or thread: a record in the waiting fiber, or in the
 * frame of a call that needs more than one.
 *
 *	            claim: WAITING --signaller--> SIGNALLED + part
 *	                      |
 *	                      +-- home worker's timer --> TIMEDOUT
 *	                      +-- cancel of its scope --> CANCELLED
 *
 * The thread that changes `claim` makes the waiter run, exactly once; the
 * others do nothing. A wait that only its object's signaller can end skips the
 * claim.
 *
 * A wait for one of several objects has one record per object (its parts) and
 * one record for the whole. The whole has the claim and the alarm, and is in no
 * queue.
 */

/* The deadline of calls that cannot fail. */
#define SN_UNCANCELLED SENNIT_UNCANCELLED

enum {
	WAITER_IDLE = 0,
	WAITER_WAITING,
	WAITER_TIMEDOUT,
	WAITER_CANCELLED,
	WAITER_SIGNALLED /* this value and above: signalled by part (value -
			  * WAITER_SIGNALLED) */
};

struct sennit_cancel_scope;

/* Nobody's worker, and not that of an unbound thread either, NULL. */
#define WAITER_NO_HOME ((struct worker *)(uintptr_t)8)

/* The word on which an unbound thread sleeps. There is one per thread, so that
 * a late wake finds the word still valid. */
struct parker {
	a_u32          word;   /* any: 1: continue */
	sennit_poller *poller; /* owner writes, before it waits: where it sleeps
				* instead; NULL: on the word */
	uint32_t       groups; /* owner: those that it has opened and not waited
				* for, while it was not bound */
};

/* The deadline of a fiber's wait. It is separate from the waiter, because each
 * waiter lies on a page of its own. The timing wheel moves alarms long before
 * they are due, and would have a cache miss and a TLB miss for each. */
struct alarm {
	struct timer         timer;  /* owner */
	struct waiter       *waiter; /* owner: the whole */
	struct sennit_fiber *fiber;  /* owner */
};

struct waiter {
	struct link          link;  /* under the object's queue lock */
	struct sennit_fiber *fiber; /* fixed; NULL: a thread */
	struct worker       *home;  /* fixed: the fiber's; a thread has
				      * WAITER_NO_HOME */
	union {
		void    *place;   /* fixed: of the value that it sends to a
				   * channel, or receives */
		void    *tag;     /* handed: of the item of a pool */
		uint32_t permits; /* fixed: of a semaphore, that it wants */
		bool     writes;  /* fixed: it will own the reader-writer
				   * lock */
	};
	struct waiter_flags {
		bool raced;    /* fixed: several threads may end the wait; the
			        * claim decides */
		bool linked;   /* under the object's queue lock; raced only */
		bool enlisted; /* under the scope's lock; with a scope only */
		bool handed;   /* handed: the wake transfers ownership */
		bool watches;  /* fixed: the wake only makes it look again and
			        * transfers nothing */
		bool shielded; /* fixed: the groups around it cannot end it */
		bool slow;     /* fixed: raced, shielded, or of a thread. One
			        * flag, because a compiler may test two by one
			        * load, which also reads their neighbours */
		bool rearming; /* under the scope's lock: in its worker's pinned
			        * mail, to have its alarm armed again */
	} is;

	/* Only for raced waits: */
	a_u32          claim; /* any: the enum above; used in the whole */
	uint32_t       part;  /* fixed: index among the parts */
	struct waiter *whole; /* fixed: the record whose claim decides; for a
			       * single wait, itself */
	struct sennit_cancel_scope
		*scope; /* fixed: may cancel it; NULL: none */
	union {
		struct link    enlisted; /* under the scope's lock */
		struct parker *parker;   /* fixed: of a thread, raced or not;
					  * threads have no scope */
	};
};

/* --- wait queue: wait/wait.h ---------------------------------------------- */

/* The wait queue of one primitive, and the word that guards it.
 *
 *	word   { the primitive's bits : 29 | RACED | WAITERS | LOCKED }
 *	list   circular, oldest waiter first; NULL exactly when WAITERS is 0
 *
 * The fast paths of the primitive change the word by compare-and-set while it
 * is not LOCKED. The holder of the lock may store the whole word, and does so
 * once, to unlock. That store is its last access to the primitive, so a waiter
 * that it releases may free the memory at once. Therefore the condition that
 * releases a waiter (for example an event that is set, or a count of zero) must
 * become visible by that same store.
 *
 * The lock is held for a few instructions, never during a wait.
 */

#define WAIT_QUEUE_LOCKED  UINT32_C(1)
#define WAIT_QUEUE_WAITERS UINT32_C(2)
#define WAIT_QUEUE_RACED   UINT32_C(4) /* some waiter may be raced */
#define WAIT_QUEUE_BITS    UINT32_C(7)
#define WAIT_QUEUE_OWN     UINT32_C(8) /* lowest bit of the primitive's own */

/* --- task name: sched/fiber.h --------------------------------------------- */

/* The name that a running task has given itself.
 *
 *	version   odd while being written      words   characters, zero-padded
 *
 * The name is copied into the fiber's record. So a report on another thread can
 * read it whatever the task does: records stay mapped as long as the scheduler
 * lives. Only the owner writes. A reader reads the version before and after the
 * words. As in struct fiber_state no fence is needed: words are stored with
 * release and read with acquire, so a reader that sees a word of a new name
 * also sees the new version.
 */

#define TASK_NAME_WORDS (SENNIT_TASK_NAME_SIZE / 8)

struct task_name {
	a_u32 version; /* owner writes */
	a_u64 words[TASK_NAME_WORDS];
};

/* --- fiber state: sched/fiber.h ------------------------------------------- */

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
	a_ptr  object; /* owner writes: of the wait */
	a_u64  since;  /* owner writes: of the wait */
	a_u32  doing;  /* owner writes; handed to the waker as described
			  * above */
	a_u32  jump;   /* owner writes: a signed number, see struct jumps; here
			  * because there is room on the line that wakes
			  * write */
	a_word task;   /* owner writes: the task function, 0 for none */
	a_u64  deadline; /* owner writes: valid only with TIMED */
#ifdef SENNIT_SPAWN_SITES
	a_word site; /* owner writes: where the task was spawned; 0: not
		      * known */
#endif
};

/* --- waited lock: sched/fiber.h ------------------------------------------- */

/* Lets any thread read who holds the lock that a fiber waits for, without
 * touching memory that may be freed.
 *
 *	place   0                        waits for no lock with an owner
 *	        owner word               waits; the lock stays valid
 *	        owner word + READ        a reader reads the owner word
 *
 *	0 --fiber--> owner word --fiber--> 0
 *	               |    ^
 *	               reader
 *
 * With SHIELDED the fiber is in a group that cannot end the wait. The groups
 * stay open meanwhile, so a reader may look at them as well; if there is no
 * lock with an owner, the owner word is one that nobody writes.
 *
 * A lock must not be freed while a fiber waits for it. So a reader that keeps
 * the fiber in its wait may read the lock. The fiber leaves its wait by a
 * compare-and-set, which fails while a reader looks; it then waits for the few
 * instructions of the reader. Only waits that were linked to the lock's queue
 * pay for this, not locks without contention.
 *
 * Checked by core/test/model/waited_lock.pml.
 */

#define WAITED_LOCK_READ     UINT32_C(1)
#define WAITED_LOCK_SHIELDED UINT32_C(2)

struct waited_lock {
	a_word place; /* any: see above */
};

/* Which reader-writer locks a fiber holds as a reader, for reports: the lock
 * itself only counts its readers. What has no place is not known. A lock that
 * another fiber unlocks stays here until its place is needed. */
#define READ_LOCKS 3

/* One reader, in the word of a reader-writer lock. */
#define RWLOCK_READER (WAIT_QUEUE_OWN << 1)

struct read_locks {
	a_ptr lock[READ_LOCKS]; /* owner writes; NULL: none */
};

/* --- fiber: sched/fiber.h ------------------------------------------------- */

/* A fiber: a stack that can be suspended and resumed.
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
 * run_task.h. */
#define CLEANUP_LOCALS UINT32_C(1)
#define CLEANUP_NAME   UINT32_C(2)

/* Stack depth is measured; set for the whole life of the fiber. */
#define CLEANUP_DEPTH UINT32_C(4)

#define CLEANUP_OBSERVED UINT32_C(8) /* the task's begin was observed */

/* Floating-point control is not restored; set for the whole life of the
 * fiber. */
#define CLEANUP_FP_SHARED UINT32_C(16)

/* What the end of a task does not end. */
#define CLEANUP_STAYS (CLEANUP_DEPTH | CLEANUP_OBSERVED | CLEANUP_FP_SHARED)

#define CLEANUP_HELD UINT32_C(32) /* `held` is not 0 */

/* One unit, above the flags, for each group that the task has opened and not
 * waited for: see group/group.h. */
#define CLEANUP_GROUP UINT32_C(64)

/* One unit of `held` for each mutex that the task holds, and for each
 * reader-writer lock that it holds as a writer: see sn_wait_count_held. */
#define HELD_MUTEX  UINT32_C(1)
#define HELD_RWLOCK (UINT32_C(1) << 16)

struct sennit_fiber {
	arch_stack         suspended; /* owner: the context to resume */
	struct node        link;      /* handed: in the ready list, an inbox or
				       * the idle list */
	struct home       *home;      /* fixed: that of its worker */
	a_ptr              scope;     /* owner writes: the running task's; NULL:
				       * none */
	struct fiber_state state;     /* owner writes: what reports read */
	struct waiter      own;       /* the record of a wait for one object:
				       * see sn_waiter_own */
	struct alarm *alarm; /* owner: a block of the pool, or `spare`; NULL: no
			      * wait had a deadline yet */
	struct waited_lock look;     /* who holds the lock it waits for */
	a_ptr              identity; /* owner writes: its identity as owner
				      * of locks: the fiber itself, or the
				      * group whose member runs on it while
				      * its opener waits */
	struct read_locks  reads;

	/* Fields of the running task. The worker checks them after each task:
	 * see run_task.h. */
	uint32_t       cleanup; /* owner: CLEANUP_* */
	uint32_t       held;    /* owner: HELD_*; 0 without assertions */
	struct locals *locals;  /* owner: local values, see locals.h; NULL:
				 * none */

	char         *low;     /* fixed; NULL: a thread's own stack, bounds
			        * unknown */
	size_t        size;    /* fixed: bytes from low to the record */
	uint32_t      id;      /* fixed: unique within its worker */
	a_u32         helper;  /* the thread that makes its blocking call; 0:
			        * none does */
	char         *shallow; /* fixed; while the stack pointer is above it,
			        * group members may run on this stack during
			        * their opener's wait */
	bool          canary;  /* fixed: the stack has no guard page */
	bool          check_at_end; /* fixed: see sn_worker_stacks_check */
	unsigned      valgrind_id;  /* owner: as asan_fake below; here as there
				    * is room */
	struct link   roster;       /* under the worker's roster lock */
	struct waiter wait;         /* the record of sennit_fiber_wait */

	struct node    rearm;    /* in the pinned mail, to have the alarm of its
				  * wait armed again */
	struct waiter *rearming; /* that wait */

	struct sequels *sequels; /* owner: of its outermost call that runs
				  * continuations (future.c); NULL: none */

	struct alarm spare; /* owner: used when no memory for another is
			     * available */

	struct task_name   name; /* owner writes: of the running task */
	struct fiber_times times;

	/* The identities of this stack in the tools; unused in plain builds. */
	void *asan_fake;  /* owner */
	void *tsan_fiber; /* owner */
};

/* What a wait and its wake touch of the record lies on the first two cache
 * lines, or on three if the wait has a deadline or may be cancelled. With
 * 10,000 fibers these lines are what waits cost. */
_Static_assert(offsetof(struct sennit_fiber, state.deadline) <= 64 &&
		       offsetof(struct sennit_fiber, own.claim) <= 128 &&
		       offsetof(struct sennit_fiber, look) <= 192,
	       "a waiting fiber needs two or three lines of its record");

/* --- jumps: sched/fiber.h ------------------------------------------------- */

/* Jump pointers, for walks over lists of fibers. Each fiber lies on a page of
 * its own. A walk from one to the next would wait for main memory and page
 * tables at each step, as the address of the next is in the one before. So a
 * fiber that joins a list leaves its address with the one that joined JUMP
 * places before, and the walk fetches so far ahead.
 *
 *	a -> b -> c -> d -> e -> f ...     the list
 *	a ------------------> e            `jump` of a
 *
 * A worker passes its fibers through one of these when they begin to wait where
 * others wait, and through another when they become ready behind others: many
 * are woken, and run, in the order in which they waited. All jumps are hints. A
 * wrong one costs a useless prefetch.
 *
 * Source: Roth and Sohi, Effective Jump-Pointer Prefetching for Linked Data
 * Structures, 1999.
 */
#define JUMP 4u

/* Records lie on lines of so many bytes; `jump` counts in them. */
#define JUMP_STEP 64

struct jumps {
	struct sennit_fiber *last[JUMP]; /* owner: of its own fibers; NULL:
					  * none yet, or it has left */
	uint32_t             at;         /* owner: the oldest of them */
};

/* --- run queue: sched/run_queue.h ----------------------------------------- */

/* What a worker has to run, and in which order.
 *
 *	ready    fibers that can continue, first in, first out
 *	pinned   tasks that stay with the worker
 *	deque    tasks that thieves may take; only in multi-threaded workers
 *
 * Ready fibers run first. After every WORKER_UPKEEP dispatches it is a task's
 * turn. Where the newest task comes first, the oldest comes before it if tasks
 * have waited for MAX_TASK_AGE: see struct aging. Only the worker's own thread
 * accesses this, except for the thieves' end of the deque.
 */

/* How long the oldest own task has waited, and what dispatches take. */
struct aging {                /* all: owner */
	sennit_time looked;   /* the last reading of the clock; 0: unknown, as
			       * the worker was idle since, or as an old task
			       * has run since */
	sennit_time since;    /* there have been own tasks at each look since
			       * then, and no turn of the oldest; 0: no look */
	sennit_time ends;     /* when the turn of the oldest tasks ends */
	sennit_time row;      /* until when they run one after the other in that
			       * turn */
	sennit_time quiet;    /* time with short dispatches since long ones */
	uint32_t    newest;   /* the position after the newest task when an old
			       * one began */
	uint32_t    left;     /* the tasks that the turn may have beside; 0: it
			       * has not begun */
	uint32_t    to_clock; /* upkeeps until the clock is read */
	uint32_t    interval; /* dispatches between upkeeps */
	uint32_t    next;     /* those up to the next upkeep, at most */
	uint32_t    passed;   /* those since a task had its turn, at most */
	bool        is_short; /* dispatches were short */
};

struct run_queue {
	struct fifo ready;        /* owner: fibers to resume */
	uint32_t    dispatches;   /* owner: dispatches until the next upkeep */
	uint32_t    skips;        /* owner: upkeeps that may be left out
				    * before the next */
	bool        pinned_next;  /* owner: whose turn it is in a queue with
				    * pinned and other tasks */
	bool        oldest_next;  /* owner: the oldest task comes next: from an
				    * upkeep to the dispatch after it */
	bool        oldest_first; /* fixed: the order of own tasks */
	bool        threaded;     /* fixed: threaded worker: it has a deque */
	bool        unfenced;     /* fixed: own pushes need no fence */
	bool        draining;     /* owner: takes no new tasks */
	bool        recorded;     /* owner: events are recorded */
	bool        pushes;       /* owner: own tasks go to the deque without a
				    * fence, and nobody records that; not while
				    * it drains */
	bool        pops;         /* owner: own tasks come from the deque,
				    * newest first */
	struct task_queue pinned; /* owner: tasks that stay */
	struct deque      deque;  /* threaded workers only */
	struct aging      aging;  /* owner */
	struct jumps      jumps;  /* of the fibers in `ready` */
};

/* --- mailbox: sched/mailbox.h --------------------------------------------- */

/* What other threads leave with a worker: ready fibers, and tasks that the
 * worker or any thief may start.
 *
 * It has a cache line of its own, because any thread writes it. So the worker's
 * own lines stay exclusive.
 */

struct mailbox {
	struct inbox fibers; /* any: ready fibers */
	struct inbox tasks;  /* any, including thieves: struct queued_task */
	a_u32        idle;   /* owner writes; 1: the worker has nothing to do,
			       * and will look into `tasks` first */
	a_u32 callers; /* any: bound worker: threads that may still access the
			       * worker after they have left a fiber here; the
			       * worker is not freed before this is zero */
};

/* --- stack cache: sched/worker_stacks.h ----------------------------------- */

/* The idle stacks of a worker, last used first.
 *
 * Only the worker's own thread accesses it.
 */

struct stack_cache {
	struct node *idle;  /* owner: last used first */
	void        *first; /* handed: the first stack, not in use yet; NULL: in
			     * use */
};

/* --- own parking: sched/worker.h ------------------------------------------ */

/* Where a worker sleeps that waits only for its own fibers. Wakers that look
 * for help do not count it, and only a wake of this worker ends its sleep. */

struct own_parking {
	struct parking  parking; /* with this worker alone */
	struct sleeper  sleeper; /* any */
	struct sleeper *only[1]; /* fixed: the sleeper, as parking's array */
};

/* --- pinned mail: sched/mailbox.h ----------------------------------------- */

/* Tasks from other threads that only this worker may run, and fibers whose
 * alarms only it may arm again, for an earlier deadline.
 *
 *	sender  pushes the task; then puts the note among the worker's fibers,
 *	        unless it is there
 *	owner   finds the note among its fibers: takes the note, then the tasks
 *
 * The note is what others and the worker itself look for: a worker with a note
 * has a fiber in its mailbox, which it alone can take. So all that holds for
 * fibers, when a worker sleeps, leaves or ends, holds for pinned mail.
 */

struct pinned_mail {
	struct inbox tasks;  /* any: struct queued_task */
	struct inbox rearms; /* under their scopes' locks: fibers whose waits
			      * have got an earlier deadline */
	struct node  note;   /* whoever sets told */
	a_u32        told; /* any: 1: the note is among the fibers, or is about
			     * to be */
};

/* --- balance: sched/steal.h ----------------------------------------------- */

/* Whether a worker's tasks wait or end: see steal.h. */

struct balance_state {         /* all: owner */
	uint64_t seen_blocked; /* fibers that waited at the last count */
	uint64_t seen_tasks;   /* tasks that had ended at the last count */
	uint64_t dealt_at;     /* `blocks` when it last dealt */
	uint32_t pile;         /* the waits that have begun recently, weighted:
			        * at most SHARE_PILE_MAX */
	uint32_t waits;        /* recent tasks that began to wait */
	uint32_t tasks;        /* recent tasks: these, and those that ended */
};

/* --- steal: sched/steal.h ------------------------------------------------- */

/* Which victims a worker visits: see steal.h. */

struct steal_state {
	uint32_t           random;      /* owner */
	uint32_t           last_victim; /* owner: the worker that last had
					 * tasks; its own index: none */
	struct steal_rings rings; /* fixed: its neighbours; only if there are
				   * places */
};

/* --- counters: sched/worker.h --------------------------------------------- */

/* The counters of a worker.
 *
 * The worker writes its own counters with plain stores, and any thread may read
 * them. The number of fibers that wait or are ready is blocks - resumes.
 */

struct counters { /* all: owner writes */
	a_u64 tasks, steals, parks, blocks, resumes, blocked_peak;
};

/* The sums over several workers. */
struct counters_sum {
	uint64_t tasks, steals, parks, blocks, resumes, fibers_peak;
};

/* --- roster: sched/worker.h ----------------------------------------------- */

/* The fibers of a worker, including idle ones, for reports.
 *
 * A worker adds and removes its own fibers. Any thread may walk the list under
 * the lock.
 */

struct roster {
	pthread_mutex_t lock;   /* rank: below bound_workers.lock */
	struct link    *fibers; /* under lock: all except the thread's own */
	a_u32           count;  /* owner writes: number of fibers */
	uint32_t        last;   /* owner: the last id that was assigned */
	bool            hidden; /* owner: no other thread can find the worker,
				 * so nobody else takes the lock */
};

/* --- idle: sched/idle.h --------------------------------------------------- */

/* The state of a worker's idle time: see idle.h. */

/* In `time`: the worker is idle. */
#define IDLE_NOW (UINT64_C(1) << 63)

struct idle_state {
	uint32_t spin_ns;          /* owner: maximum length of the next spin, in
				    * ns */
	bool     starts_searching; /* handed: begins as a searcher that is
				    * already counted */
	bool     retiring;         /* owner: asleep, out of the gate, about to
				    * give up its thread */
	a_u64    time;             /* owner writes: the sum of idle times; with
				    * IDLE_NOW: when the current one began minus
				    * the sum of those before it */
};

/* Whom a worker has woken last for a fiber, of its scheduler. */
struct woken {
	const struct idle_state *idle; /* owner: NULL: it runs by now */
	uint64_t                 time; /* owner: its idle time's word then */
};

/* --- poller: sched/poller.h ----------------------------------------------- */

/* What a worker polls: fibers that wait on its poller, and its hooks. See
 * poller.h. */

struct poller_state {
	uint32_t            waiting; /* owner: fibers that wait on the poller */
	uint32_t            ready;   /* owner: of those, the complete ones
				     * that have not run since */
	uint32_t            active;  /* owner: hooks that must be asked */
	uint32_t            allowed; /* owner: dispatches that one period may
				     * have, by the last one; 0: none was */
	uint32_t            counted; /* owner: dispatches of this period */
	uint32_t            later;   /* owner: those that it may have beside; 0:
				     * it is measured already */
	sennit_time         since;   /* owner: when it began */
	sennit_poller_hook *hooks;   /* owner: all of them */
	sennit_poller_hook *asking;  /* owner: the one whose `ask` runs */
};

/* --- bound workers: life/bind.h ------------------------------------------ */

/* The workers of bound threads, and the counters of workers that have been
 * unbound. */

struct bound_workers {
	pthread_mutex_t     lock;
	struct link        *list; /* under lock: of struct binding */
	struct counters_sum past; /* under lock: of threads that have unbound */
	a_ptr spare; /* any: memory of a worker whose thread has unbound; NULL:
		      * none */
};

/* The part of a worker. */
struct binding {
	struct link link;    /* under bound_workers.lock */
	bool        leaving; /* owner: it is unbinding, and runs its remaining
			      * tasks */
};

/* --- thread: life/worker_threads.h --------------------------------------- */

/* The thread of a worker. */

struct thread_state {
	pthread_t       id;       /* fixed while it runs */
	a_u32           number;   /* owner writes: the system's thread id; in a
				   * report it may be that of the previous
				   * thread while another begins; 0: no thread
				   * has begun */
	a_u32           present;  /* under counts.lock: whether there is a
				   * thread */
	struct startup *startup;  /* fixed: the creator that the thread reports
				   * to; NULL: none */
	bool            founding; /* handed: the scheduler's creator started the
				   * thread */
};

/* --- worker counts: life/worker_threads.h -------------------------------- */

/* The numbers of workers of a scheduler: see worker_threads.h. */

struct worker_counts {
	a_u32 target;  /* under lock: number of workers wanted */
	a_u32 open;    /* under lock: workers below this take new work */
	a_u32 extent;  /* under lock: workers from this on have no thread */
	a_u32 retired; /* under lock: open workers without a thread, because
		        * they were idle */
	sennit_time     start_after; /* under lock: no thread is started before
				      * this time */
	pthread_mutex_t lock;
	void *(*main)(void *worker); /* fixed: the thread's main function */
};

/* --- cpu masks: sched/cpu_masks.h ----------------------------------------- */

/* A scheduler's copy of the CPU masks of its threads. It is needed because
 * threads may start at any time. */

struct cpu_masks {
	sennit_cpu_mask *masks; /* fixed: the masks and then their CPUs, one
				 * after the other, in one block; NULL: none */
	size_t           size;  /* fixed: bytes of that block */
	size_t           count; /* fixed */
};

/* --- end: life/end.h ------------------------------------------------------ */

/* The threads that are still inside a scheduler that ends: see end.h. */

/* The maximum number of ended threads that are left for the client to join. */
#define FINALISE_EXITS 32

struct end_state {
	a_u32    inside; /* any: threads that may still access the scheduler, +
			  * 1 until DONE */
	uint32_t exits;  /* under lock: number of threads in `exited` */
	bool     abandoned;    /* fixed once the gate is DONE */
	sennit_event   *freed; /* fixed: to be set after the last use of the
			      * allocator, unless a weak handle keeps the block;
			      * NULL: none */
	pthread_mutex_t lock;
	pthread_t exited[FINALISE_EXITS]; /* under lock: threads that have left
					   * and must be joined */
};

/* --- clients of the end: life/end_clients.h ------------------------------- */

/* The clients that are informed of a scheduler's end, and the handles that keep
 * its memory block.
 *
 *	clients   wait for the end; each has a record on its stack, and the
 *	          first is the heir, which takes the scheduler apart
 *	notices   functions to call; a caller that waits in a fiber lends one
 *	weak      handles; the scheduler's block stays until the last is gone
 *
 *	client    WAITS --last thread inside--> LEAVES --last client--> FREE
 *
 * The clients together have the scheduler's own weak reference. Each one leaves
 * when it is told, the heir after it has taken the scheduler apart. The last
 * one to leave drops that reference, and then lets the others return.
 *
 * Invariants
 *   - A client joins while it holds a reference, and gives up with a new one.
 *     So no client joins or gives up once the last thread inside has looked.
 *   - Until a client leaves, the block stays, so that it may ask the gate for
 *     its reference when its deadline passes.
 *   - A client that is FREE may be gone.
 *   - `told` and the notices change under the lock. A caller that finds
 *     `told` set calls its function itself.
 *
 * Checked by core/test/model/end.pml.
 */

enum { CLIENT_WAITS = 0, CLIENT_LEAVES, CLIENT_FREE };

/* A client that waits for the end. */
struct client {
	struct link link;  /* under end_clients.lock */
	a_u32       state; /* any: one of the above; slept on */
};

/* What is called at the end. */
struct notice {
	struct link    link;     /* under end_clients.lock */
	sennit_end_fn *run;      /* fixed */
	void          *argument; /* fixed */
	bool           lent;     /* fixed: by a caller that waits; not freed */
};

/* The part of a scheduler that exists as long as anyone has a handle. */
struct sennit_weak_scheduler {
	a_u32 references; /* any: weak handles, + 1 while the scheduler
			   * exists */
};

/* The part of a scheduler. It needs no destructor. */
struct end_clients {
	struct sennit_weak_scheduler weak;
	sennit_word                  lock;
	const sennit_allocator      *memory;  /* fixed: for notices */
	a_u32                        awaited; /* number of clients that have not
					  * left; under lock until the end */
	struct link                 *clients; /* under lock: struct client */
	struct link                 *notices; /* under lock: struct notice */
	bool                         told; /* under lock: all notices have been
					  * called */
};

/* --- scheduler ------------------------------------------------------------ */

/* A scheduler: the state that its workers share.
 *
 * Fields are fixed after creation unless marked otherwise, so that workers read
 * them without disturbing each other.
 */

/* Each part belongs to a module, as the parts of struct worker do. */
struct sennit_scheduler {
	sennit_config    config;     /* fixed: every default filled in */
	sennit_allocator memory;     /* fixed */
	char             name[16];   /* fixed */
	struct worker  **workers;    /* fixed: array of `capacity` workers */
	struct sleeper **sleepers;   /* fixed: their sleepers, for parking */
	uint32_t         capacity;   /* fixed: maximum number of workers */
	uint32_t         process;    /* fixed: the process, see fork.h */
	bool             asymmetric; /* fixed: os_process_barrier() works */
	uint64_t         fp_control; /* fixed: of the creating thread */

	struct worker_counts  counts; /* of worker_threads,
					* retire */
	struct cpu_masks      masks;  /* of slots */
	struct topology_slot *places; /* fixed: `capacity` entries sorted by
				        * place; NULL: too few workers, see
				        * steal.h */

	struct parking        parking;
	struct stacks         stacks;
	struct stack_depths  *depths; /* fixed; NULL: stacks are not measured */
	struct observe_shared observe; /* of observe, metrics, trace */
	struct pool           pool;
	struct backlog        backlog; /* any: background tasks */
	struct blocking_threads blocking;

	_Alignas(CACHE_LINE) struct gate gate;
	_Alignas(CACHE_LINE) a_u32 next_worker; /* of worker_threads: any: the
						 * next worker for tasks from
						 * outside */
	struct slots_state slots;               /* of slots */
	struct trim_shared trim;                /* of trim */

	_Alignas(CACHE_LINE) struct end_state end; /* of end */
	struct end_clients          clients;       /* of end_clients */
	struct bound_workers        bound;         /* of bind */
	struct scheduler_list_state in_list;       /* of debugger */
	struct trace_state          tracing;       /* of trace */
};

/* The fields that every thread reads lie before `parking`, whose words all
 * threads write. The gate, next_worker and the count of the end are words that
 * all threads write, each on lines of its own. */
_Static_assert(offsetof(struct sennit_scheduler, parking) % CACHE_LINE == 0,
	       "parking is apart from what is fixed");
_Static_assert(offsetof(struct sennit_scheduler, gate) % CACHE_LINE == 0 &&
		       offsetof(struct sennit_scheduler, next_worker) -
				       offsetof(struct sennit_scheduler,
						gate) ==
			       CACHE_LINE,
	       "the gate is alone on its lines");
_Static_assert(offsetof(struct sennit_scheduler, end) % CACHE_LINE == 0,
	       "the count of the end is apart from the turn of workers");

/* --- worker --------------------------------------------------------------- */

/* Each part belongs to the modules that its comment names ("of ...").
 *
 * Cache lines: first what the owner writes at every dispatch; then what thieves
 * read and write, in run.deque; then what any thread writes, from mail on. */
struct worker {
	struct home        home;        /* first, because fibers know it */
	struct stack_cache idle_stacks; /* stacks without context */
	struct parking    *parking;     /* fixed: the scheduler's */
	int               *error;       /* fixed: the thread's errno */
	a_u64              clock;       /* owner writes: not after the start of
					 * what runs, and as recent as is
					 * cheap */
	struct counters    counters;    /* what it has done */
	struct run_queue   run;         /* of run_queue */
	struct pool_cache  cache;       /* owner */

	struct idle_state    idle;    /* of idle */
	struct steal_state   steal;   /* of steal */
	struct balance_state balance; /* of steal */
	struct trim_state    trim;    /* of trim */
	struct observe_state observe; /* of observe */
	struct claim         slot;    /* of slots */
	struct backlog      *backlog; /* fixed: the scheduler's, or own */
	struct timers        timers;  /* owner */
	sennit_poller       *poller;  /* owner: see poller.h; NULL: none */
	struct poller_state  polled;  /* of poller */
	a_u32                polls;   /* owner writes: of stall: whether it had
				       * something to poll when it last went to
				       * sleep */

	uint32_t  index;        /* fixed: a threaded worker's index, from 0 */
	uint32_t  serial;       /* fixed: unique in the process, not 0 */
	uintptr_t last_seen_at; /* of run_task: an address on the
					   * thread's own stack; 0: none */
	struct cxx_globals *exceptions; /* fixed: the exception state of the
					 * thread */
	struct recorder     recorder;   /* of trace */
	struct sennit_fiber main;       /* the thread's own stack */
	struct thread_state thread;     /* of worker_threads */
	struct roster       roster;     /* its fibers except main */
	struct binding      binding;    /* of bind; bound workers only */

	_Alignas(CACHE_LINE) struct mailbox mail; /* what others leave */
	sennit_scheduler *scheduler; /* fixed; here for threads that wake a
					 * fiber */
	bool              threaded; /* fixed: threaded worker; here for the same
					 * reason */
	struct sleeper sleeper; /* any: the threaded worker's among those of its
					 * scheduler */
	a_u64          forced;  /* of steal: any: time of the last
					 * forced take */
	struct woken   woken;   /* of idle; here as there is room */
	struct own_parking own_parking; /* where it sleeps for fibers alone */
	struct backlog
		own; /* bound workers only: in a scheduler without workers */
	struct pinned_mail pinned_mail; /* tasks for it alone */
	struct jumps       waits; /* of its fibers that join wait queues; here
				 * because there is room */
	struct loop_state  loop;  /* of parallel; here for the same reason */
};

/* Lines of the owner: a pair of lines before the run queue, with nothing of
 * other threads. */
_Static_assert(offsetof(struct worker, run) == CACHE_LINE,
	       "home, clock and counters fill the owner's first lines");
_Static_assert(offsetof(struct worker, run.deque) == 2 * CACHE_LINE,
	       "what is ready and whose turn it is share the next ones");
/* Lines of others: a thread that leaves a fiber or a queued task, and wakes the
 * worker for it, accesses one line, which contains nothing that the owner
 * writes at every dispatch. */
_Static_assert(offsetof(struct worker, mail) % CACHE_LINE == 0 &&
		       offsetof(struct worker, own_parking) -
				       offsetof(struct worker, mail) ==
			       CACHE_LINE,
	       "the mailbox shares its lines with what a waker needs alone");
_Static_assert(offsetof(struct worker, sleeper) + sizeof(struct sleeper) -
			       offsetof(struct worker, mail) <=
		       64,
	       "and all of that is on the first of them");

/* The calling thread's worker. NULL on an unbound thread. Fibers never leave
 * their thread, so the value may be kept across waits. */
extern _Thread_local struct worker *sn_self
	__attribute__((tls_model("initial-exec")));

/* The worker of *f. */
static inline struct worker *sn_worker_of(const struct sennit_fiber *f)
{
	return (struct worker *)f->home;
}

#endif
