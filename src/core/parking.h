/* SPDX-License-Identifier: Apache-2.0 */
/* parking.h - who is asleep, who is looking for work, and who must be woken.
 *
 *	working --nothing to do--> searching --nothing found--> announced
 *	   ^                        |    ^                          |
 *	   +---- found something ---+    +-- work appeared ---------+
 *	                                 +-- claimed by a waker --- asleep
 *
 *	counts   { searchers : 32 | sleepers : 32 }
 *	asleep   one bit per worker that has announced its sleep
 *	token    per worker: the word it sleeps on; 0, or 1 + the number of who
 *	         has the work that it was woken for
 *
 * Invariants
 *   - While a task that anyone may run is queued and a worker is asleep, there
 *     is a searcher, or a producer about to look for sleepers, or an announced
 *     worker about to look again, or (after an owner's unfenced push) an
 *     announced worker whose first sleep ends by itself.
 *   - A waker that takes a sleeper's bit counts it as a searcher in its stead,
 *     so a burst of tasks wakes one worker, who wakes the next if need be.
 *   - The last searcher to find work wakes another if more can be had.
 *   - `sleepers` may be counted early, never late: a bit is set after it was
 *     counted and no longer counted only after it was cleared.
 *   - A worker's token is set only by whoever took its bit.
 *   - `threadless` sleepers have no bit: workers that could be started. Whoever
 *     finds no other sleeper has one started, which counts as a searcher from
 *     then on.
 *   - A sleeper that retires is threadless before its bit is cleared: a waker
 *     sees one of the two.
 *
 * A producer publishes, passes a fence and looks; a worker announces, passes a
 * fence and looks: one of them sees the other. Only a worker that pushes onto
 * its own deque skips the fence; a worker's first sleep is short, and a
 * process barrier after it shows what such a push left in a store buffer.
 *
 * Checked by test/model/park.pml.
 */
#ifndef SN_PARKING_H
#define SN_PARKING_H

#include "base/atomic.h"
#include "sennit/base.h"
#include "sennit/scheduler.h"

#define PARKING_WORDS (SENNIT_WORKERS_MAX / 64)

struct sleeper;

struct parking {
	_Alignas(CACHE_LINE) a_u64 counts;                /* any */
	_Alignas(CACHE_LINE) a_u64 asleep[PARKING_WORDS]; /* any */
	struct sleeper **sleepers;                        /* fixed: by index */
	uint32_t         workers;                         /* fixed */
	a_u32 present;    /* under threads_lock: workers that take new work, the
			   * threadless ones included */
	a_u32 threadless; /* the same: how many of them have no thread */
	void (*start)(struct parking *p); /* fixed: give one a thread */
};

struct sleeper {
	struct parking *parking; /* fixed */
	uint32_t        index;   /* fixed */
	a_u32           token;   /* any: not 0 = wake up */
};

void sn_parking_init(struct parking *p, struct sleeper **sleepers,
		     uint32_t workers);

/* So many workers, the first ones, begin as if asleep: each withdraws when its
 * thread runs. Before anybody else sees *p. */
void sn_parking_begin(struct parking *p, uint32_t asleep);

/* So many workers are there now, of which so many are threadless. Calls of this
 * and those below that change `threadless` take turns. */
void sn_parking_resize(struct parking *p, uint32_t present,
		       uint32_t threadless);

/* A threadless worker is on its way: counted as a searcher in its stead. */
void sn_parking_started(struct parking *p);

/* It could not be started: threadless again. Somebody may have trusted it. */
void sn_parking_unstarted(struct parking *p);

/* s, the caller's, has announced its sleep and loses its thread: threadless
 * from now on, under the lock of the worker threads. False: a waker was faster,
 * and s withdraws.
 */
SENNIT_MUST_USE bool sn_parking_retire(struct sleeper *s);

void sn_sleeper_init(struct sleeper *s, struct parking *p, uint32_t index);

/* Whether somebody sleeps and nobody searches: whoever adds work should wake
 * one. Unfenced and one word; stale either way. */
static inline bool sn_parking_is_hungry(const struct parking *p)
{
	/* One compare for 'no searchers, some sleepers'. Stale: see above. */
	return a_load_rlx(&p->counts) - 1 < UINT32_MAX;
}

/* Whether somebody sleeps. */
static inline bool sn_parking_has_sleepers(const struct parking *p)
{
	return (uint32_t)a_load_rlx(&p->counts) != 0; /* stale: see above */
}

/* How many search or sleep, those that could be started included. */
static inline uint32_t sn_parking_idlers(const struct parking *p)
{
	uint64_t counts = a_load_rlx(&p->counts); /* stale: see above */

	return (uint32_t)(counts >> 32) + (uint32_t)counts;
}

/* Whether anybody does: one word, one compare. */
static inline bool sn_parking_has_idlers(const struct parking *p)
{
	return a_load_rlx(&p->counts) != 0; /* stale: see above */
}

/* Whether nobody works: all search or sleep. A guess. */
static inline bool sn_parking_is_quiet(const struct parking *p)
{
	return sn_parking_idlers(p) >= a_load_rlx(&p->present);
}

/* Begin to search, unless more than half of those awake do: one more would only
 * be in their way. Then false, and the caller sleeps at once. */
bool sn_parking_search(struct parking *p);

/* A searcher found work. True: it was the last one and shall wake another if
 * more work is there for anyone (sn_parking_wake_one looks at hunger again). */
bool sn_parking_found(struct parking *p);

/* Announce that s is about to sleep, as a searcher or not; afterwards the
 * caller looks for work once more, and sleeps or withdraws. */
void sn_parking_announce(struct sleeper *s, bool searching);

/* Whether s has been claimed and counted: its sleep would end at once. */
static inline bool sn_parking_is_told(const struct sleeper *s)
{
	return a_load_rlx(&s->token); /* who acts on it looks by acquire */
}

/* Sleep until claimed or the deadline passes; false: the deadline passed. */
bool sn_parking_sleep(struct sleeper *s, sennit_time deadline);

/* Stop being asleep; afterwards the caller is a searcher: counted by the waker
 * that took the bit, whose token this waits for, or by itself. */
void sn_parking_withdraw(struct sleeper *s);

/* Who has the work that s, which has withdrawn, was woken for; its own index if
 * nobody has said. May have it no more. */
static inline uint32_t sn_parking_about(const struct sleeper *s)
{
	uint32_t token = a_load_rlx(&s->token); /* ours: the bit is clear */

	return token ? token - 1 : s->index;
}

/* Wake one sleeper for work that anyone may do, if one sleeps and nobody
 * searches: the preferred one, who has the work, if that sleeps, a threadless
 * one if no other. The caller has published and fenced. */
void sn_parking_wake_one(struct parking *p, uint32_t preferred);

/* Wake s for work that only it can do, if it sleeps. The caller has published;
 * the fence is in here. */
void sn_parking_wake(struct sleeper *s);

#endif
