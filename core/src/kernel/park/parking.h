/* SPDX-License-Identifier: Apache-2.0 */
/* parking.h - which workers sleep, which search for work, and whom to wake: an
 * eventcount with one token per worker.
 *
 *	working --nothing to do--> searching --nothing found--> announced
 *	   ^                        |    ^                          |
 *	   +---- found something ---+    +-- work appeared ---------+
 *	                                 +-- claimed by a waker --- asleep
 *
 *	counts   { searchers : 32 | sleepers : 32 }
 *	idle     { empty : 32 | asleep : 32 } for 32 workers: who has announced
 *	         its sleep, and who of them has no task that others could take
 *	token    per worker: the word it sleeps on; 0, or 1 + the index of
 *	         the worker that has the work it was woken for
 *
 * Invariants
 *   - While a task that any worker may run is queued and a worker is
 *     asleep, one of these exists: a searcher; a producer about to look
 *     for sleepers; an announced worker about to look again; or (after an
 *     owner's unfenced push) an announced worker whose first sleep ends
 *     by itself.
 *   - A waker that takes a sleeper's bit counts it as a searcher at once.
 *     So a burst of tasks wakes one worker, and that worker wakes the
 *     next one if necessary.
 *   - The last searcher to find work wakes another worker if there is
 *     more work.
 *   - `sleepers` is the number of bits and of threadless workers. It may
 *     be too high for a moment, never too low: a worker is counted before
 *     its bit is set, and uncounted only after its bit is cleared. This
 *     is checked whenever `threadless` is set, and at the end.
 *   - Only the thread that took a worker's bit sets its token.
 *   - The `threadless` sleepers have no bit: they are workers that could
 *     be given a thread. A waker that finds no other sleeper has one
 *     started; from then on it counts as a searcher.
 *   - A sleeper that retires becomes threadless before its bit is
 *     cleared, so a waker sees one of the two.
 *   - A worker that is empty has nothing on its deque. Its inbox may have
 *     tasks while it is about to look, or their producer about to say
 *     so; both then look for sleepers, or for tasks. So who looks at all
 *     workers leaves out those that are empty.
 *
 * A producer publishes work, executes a fence and looks for sleepers. A worker
 * announces its sleep, executes a fence and looks for work. At least one of
 * them sees the other. Only a worker that pushes onto its own deque omits the
 * fence. Therefore the first sleep of a worker is short, and a process barrier
 * after it reveals pushes that were still in a store buffer; unless all others
 * sleep already, because to announce is a fence.
 *
 * Checked by core/test/model/park.pml.
 */
#ifndef SN_PARKING_H
#define SN_PARKING_H

#include "base/atomic.h"
#include "sennit/base.h"
#include "sennit/poller.h"
#include "sennit/scheduler.h"

#define PARKING_EACH  32u /* workers of a word of `idle` */
#define PARKING_WORDS (SENNIT_WORKERS_MAX / PARKING_EACH)

struct sleeper;

struct parking {
	_Alignas(CACHE_LINE) a_u64 counts;              /* any */
	_Alignas(CACHE_LINE) a_u64 idle[PARKING_WORDS]; /* any */
	struct sleeper **sleepers;                      /* fixed: by index */
	uint32_t         workers;                       /* fixed */
	a_u32 present;    /* under threads_lock: workers that take new work,
			   * including threadless ones */
	a_u32 threadless; /* under threads_lock: how many of them have no
			   * thread */
	void (*start)(struct parking *p); /* fixed: starts a thread for one of
					   * them */
};

struct sleeper {
	struct parking *parking; /* fixed */
	uint32_t        index;   /* fixed */
	a_u32           token;   /* any: not 0 = wake up */
	sennit_poller  *poller;  /* owner writes, before it announces: where it
				  * sleeps; NULL: on the token's futex */
};

void sn_parking_init(struct parking *p, struct sleeper **sleepers,
		     uint32_t workers);

/* Before any other thread sees *p: the first `asleep` workers begin as if
 * asleep. Each withdraws when its thread runs. */
void sn_parking_begin(struct parking *p, uint32_t asleep);

/* Set the numbers of present and of threadless workers. `searching` more count
 * as searchers: 1 if the thread that is about to start for one of them is one,
 * -1 if it was and could not be started; producers may then have relied on it
 * meanwhile. The caller holds the lock of the worker threads. */
void sn_parking_resize(struct parking *p, uint32_t present, uint32_t threadless,
		       int searching);

/* Nobody uses *p any more: check that the sleepers were counted right. */
void sn_parking_check_end(const struct parking *p);

/* The calling worker s has announced its sleep and gives up its thread: it
 * becomes threadless. Call this under the lock of the worker threads. Returns
 * false if a waker was faster; s must then withdraw.
 */
SENNIT_MUST_USE bool sn_parking_retire(struct sleeper *s);

void sn_sleeper_init(struct sleeper *s, struct parking *p, uint32_t index);

/* Whether a worker sleeps and no worker searches. A producer should then wake
 * one. Reads one word without a fence; may be stale in both directions. */
static inline bool sn_parking_is_hungry(const struct parking *p)
{
	/* One comparison for 'no searchers, some sleepers'. Staleness: see
	 * above. */
	return a_load_rlx(&p->counts) - 1 < UINT32_MAX;
}

/* Whether a worker sleeps. */
static inline bool sn_parking_has_sleepers(const struct parking *p)
{
	return (uint32_t)a_load_rlx(&p->counts) != 0; /* stale: see above */
}

/* The number of workers that search or sleep, including threadless ones. */
static inline uint32_t sn_parking_idlers(const struct parking *p)
{
	uint64_t counts = a_load_rlx(&p->counts); /* stale: see above */

	return (uint32_t)(counts >> 32) + (uint32_t)counts;
}

/* Whether a worker searches or sleeps; one word, one comparison. */
static inline bool sn_parking_has_idlers(const struct parking *p)
{
	return a_load_rlx(&p->counts) != 0; /* stale: see above */
}

/* Whether all workers sleep, and none of the capacity is missing. A hint. */
static inline bool sn_parking_all_sleep(const struct parking *p)
{
	return a_load_rlx(&p->counts) == p->workers;
}

/* Whether all workers search or sleep. A hint. */
static inline bool sn_parking_is_quiet(const struct parking *p)
{
	return sn_parking_idlers(p) >= a_load_rlx(&p->present);
}

/* Whether there is one worker, of those that take new work. A hint. */
static inline bool sn_parking_is_lone(const struct parking *p)
{
	return a_load_rlx(&p->present) == 1;
}

/* Begin to search. Returns false if more than half of the awake workers search
 * already, because one more would only add contention. The caller then sleeps
 * at once. */
bool sn_parking_search(struct parking *p);

/* A searcher found work. Returns true if it was the last searcher. It must then
 * wake another worker if there is more work for any worker (sn_parking_wake_one
 * checks again that one is needed). */
bool sn_parking_found(struct parking *p);

/* Announce that s is about to sleep. `searching` says whether it is a searcher.
 * Afterwards the caller must look for work once more, and then sleep or
 * withdraw. Returns whether all workers now count as sleepers. Then the look
 * misses no push: all were made before a sleep, and whoever wakes up later sees
 * s in `counts`. */
bool sn_parking_announce(struct sleeper *s, bool searching);

/* Whether a waker has claimed and counted s: a sleep would end at once. */
static inline bool sn_parking_is_claimed(const struct sleeper *s)
{
	return a_load_rlx(&s->token); /* the caller reads it with acquire before
				       * it relies on it */
}

/* Whether s has announced its sleep and nobody has claimed it. May be stale. */
static inline bool sn_parking_is_asleep(const struct sleeper *s)
{
	return a_load_rlx(&s->parking->idle[s->index / PARKING_EACH]) >>
		       s->index % PARKING_EACH &
	       1;
}

/* Whether the worker with this index sleeps and has no task that others could
 * take. For one who has announced its sleep, or has left the count of
 * searchers, and executed a fence: the worker then sees it before it waits for
 * somebody to take its next task. */
static inline bool sn_parking_is_empty(const struct parking *p, uint32_t index)
{
	return a_load_rlx(&p->idle[index / PARKING_EACH]) >>
		       (PARKING_EACH + index % PARKING_EACH) &
	       1;
}

/* Sleep until claimed or until the deadline. Returns false if the deadline
 * passed. */
bool sn_parking_sleep(struct sleeper *s, sennit_time deadline);

/* A task was left with s, and the caller has executed a fence: s is not empty,
 * even if it sleeps. The caller must then execute a fence and look for
 * sleepers, or for tasks. */
void sn_parking_fill(struct sleeper *s);

/* Stop being asleep. Afterwards the caller counts as a searcher. Either the
 * waker that took the bit counted it, and this waits for the waker's token, or
 * the caller counts itself. */
void sn_parking_withdraw(struct sleeper *s);

/* The worker that had the work for which s was woken; s's own index if the
 * waker named none. s must have withdrawn. That worker may no longer have the
 * work. */
static inline uint32_t sn_parking_about(const struct sleeper *s)
{
	uint32_t token = a_load_rlx(&s->token); /* only this worker's: the bit
						 * is clear */

	return token ? token - 1 : s->index;
}

/* Wake one sleeper for work that any worker may do, if one sleeps and none
 * searches: `preferred`, the worker that has the work, if it sleeps; else any
 * sleeper; else a threadless worker. The caller must have published the work
 * and executed a fence. */
void sn_parking_wake_one(struct parking *p, uint32_t preferred);

/* Wake s, if it sleeps, for work that only s can do. The caller must have
 * published the work. This function executes the fence. Returns whether s
 * slept, and is on its way now. */
bool sn_parking_wake(struct sleeper *s);

#endif
