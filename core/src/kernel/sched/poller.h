/* SPDX-License-Identifier: Apache-2.0 */
/* poller.h - when a worker polls, and how it sleeps in its poller.
 *
 *	ready fibers, tasks --none--> turn --none--> search, peek
 *	    |                                          |
 *	    +-- each period: flush                     v
 *	                                    announce, look again, sleep
 *
 * A worker with a poller sleeps in the poller instead of on its token's futex.
 * The protocol of park/parking.h stays as it is: only where a claimed sleeper
 * sleeps, and how its token's store is made known, differ.
 *
 * A period is POLLER_UPKEEP dispatches. It is shorter where they are long: as
 * many as took POLLER_PERIOD ns, by the last period, beside those that run
 * fibers which the last look has made ready. The first one after an idle time
 * is measured after POLLER_FIRST dispatches, and ends there if they were long.
 * So what is complete is taken after one period, and after two that follow a
 * sleep.
 *
 * Invariants
 *   N1  A worker that is announced and sleeps in its poller is woken by a token
 *       set after it announced: set_token() calls `wake` after the store, and a
 *       wake that came after the poller last returned ends the next sleep. So
 *       no wake is lost between the last look at the token and the sleep.
 *   N2  The sleep changes the poller alone, which is the worker's own. Fibers
 *       are made ready by turn, peek and flush, inside the gate: the sweeper
 *       (life/end.c) never sees the ready list change under it.
 *   N3  Every operation that the kernel has keeps one fiber waiting until the
 *       last completion, or alive until it has waited for that. So the worker
 *       does not retire, and the scheduler does not end, while the kernel may
 *       write to a buffer.
 *   N4  What was asked for is submitted before the worker sleeps, and at the
 *       latest 2 * POLLER_UPKEEP dispatches later: by the second flush, as the
 *       first one after a sleep may leave it to the next sleep. Only what
 *       would be found behind the fibers that were woken already, as receives
 *       are, may wait until those have run.
 *   N5  A worker with a poller never sleeps on its token's futex, as nobody
 *       wakes that: a claimed worker that withdraws awaits its token by
 *       yielding its CPU. The token is set a few instructions after the claim.
 *   N6  `wake` touches the poller after its worker may run. Whoever wakes keeps
 *       the worker alive until then (send_home() in wait/wake.c), and the
 *       poller lives as long as the worker.
 *   N7  A worker whose hooks have something to wait for asks them wherever it
 *       calls turn, peek and flush, so inside the gate, and sleeps no longer
 *       than they said; after the sleep it searches, and so asks again.
 *
 * Checked by core/test/model/poller.pml.
 */
#ifndef SN_POLLER_H
#define SN_POLLER_H

#include "os/os.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "sennit/poller.h"

/* Dispatches between two calls of flush while fibers wait on the poller, and
 * between two times that a hook is asked: at most this many, and fewer where as
 * many as last time would take longer than POLLER_PERIOD ns. A dispatch that is
 * longer than that delays the next flush by its own length alone. */
#define POLLER_UPKEEP 16u
#define POLLER_FIRST  4u
#define POLLER_PERIOD 20000u

/* Whether there is anything to poll: one test for the worker without. */
static inline bool sn_poller_state_is_busy(const struct poller_state *p)
{
	return p->waiting | p->active;
}

/* Ask all hooks that have something to wait for. */
NOINLINE void sn_poller_state_ask(struct poller_state *p);

/* The earliest time at which a hook must be asked again. */
NOINLINE sennit_time sn_poller_state_due(const struct poller_state *p);

/* The worker is gone, and its hooks with it. */
void sn_poller_state_free(struct poller_state *p);

/* Whether w has anything to poll. */
static inline bool sn_poller_is_busy(const struct worker *w)
{
	return sn_poller_state_is_busy(&w->polled);
}

/* Whether only the poller is expected to bring work: a lone worker, all of
 * whose fibers wait for I/O. A sleep finds that as soon as a search does. */
static inline bool sn_poller_is_all(const struct worker *w)
{
	return w->polled.waiting &&
	       sn_counters_blocked(&w->counters) <= w->polled.waiting &&
	       !w->polled.active && sn_parking_is_lone(w->parking);
}

/* The worker has nothing to run. Whether fibers are ready now. */
static inline bool sn_poller_turn(struct worker *w)
{
	if (unlikely(sn_poller_is_busy(w))) {
		if (w->polled.waiting)
			w->poller->ops->turn(w->poller);
		if (w->polled.active)
			sn_poller_state_ask(&w->polled);
	}
	return w->run.ready.head;
}

/* The worker searches. */
static inline void sn_poller_peek(struct worker *w)
{
	if (likely(!sn_poller_is_busy(w)))
		return;
	if (w->polled.waiting)
		w->poller->ops->peek(w->poller);
	if (w->polled.active)
		sn_poller_state_ask(&w->polled);
}

/* How many dispatches may come before the next flush, if those since the last
 * one took `ns`. A few short ones say little: so at most POLLER_FIRST times as
 * many. Others may have made the upkeep due, too: then it is too many, once. */
static inline uint32_t sn_poller_due(uint32_t dispatches, sennit_time ns)
{
	const uint32_t most = dispatches < POLLER_UPKEEP / POLLER_FIRST
				      ? dispatches * POLLER_FIRST
				      : POLLER_UPKEEP;
	sennit_time    due = dispatches * (sennit_time)POLLER_PERIOD / (ns | 1);

	if (due >= most)
		due = most;
	return due ? (uint32_t)due : 1;
}

/* The most dispatches of a period. Fibers that the last look has made ready
 * count beside those that may take the time: who is found now runs after them
 * in any case, as ready fibers run in order. */
static inline uint32_t sn_poller_most(const struct poller_state *p)
{
	const uint32_t most = p->allowed + p->ready;

	return p->allowed && most < POLLER_UPKEEP ? most : POLLER_UPKEEP;
}

/* There is something to poll: have the next flush come in time. Returns the
 * dispatches that remain. */
static inline uint32_t sn_poller_soon(struct worker *w)
{
	return sn_run_queue_due_within(&w->run, sn_poller_most(&w->polled));
}

/* The worker goes on after an idle time, in which it has looked. What the last
 * period has left comes back, so that short bursts of dispatches between idle
 * times have an upkeep no more often than others. */
static inline void sn_poller_resume(struct worker *w, sennit_time now)
{
	struct poller_state *p = &w->polled;
	uint32_t             due;

	if (likely(!sn_poller_is_busy(w)))
		return;
	w->run.dispatches += p->later;
	due = sn_run_queue_due_within(&w->run, POLLER_UPKEEP);
	p->since = now;
	p->counted = sn_run_queue_due_within(&w->run, POLLER_FIRST);
	p->later = due - p->counted;
}

/* The first dispatches of a period were short: it goes on. */
static inline bool sn_poller_goes_on(struct worker *w, uint32_t later)
{
	struct poller_state *p = &w->polled;
	const uint32_t       most = sn_poller_most(p);

	if (!later || most <= p->counted)
		return false;
	if (later > most - p->counted)
		later = most - p->counted;
	p->counted += sn_run_queue_due_within(&w->run, later);
	return true;
}

/* The worker's upkeep: see N4. */
static inline void sn_poller_flush(struct worker *w)
{
	struct poller_state *p = &w->polled;
	const uint32_t       later = p->later;
	sennit_time          now;

	p->later = 0;
	if (likely(!sn_poller_is_busy(w)))
		return;
	now = os_now();
	p->allowed = sn_poller_due(p->counted, now - p->since);
	if (sn_poller_goes_on(w, later))
		return;
	if (w->polled.waiting)
		w->poller->ops->flush(w->poller);
	if (w->polled.active)
		sn_poller_state_ask(p);
	if (sn_poller_is_busy(w)) {
		p->since = now;
		p->counted = sn_poller_soon(w);
	}
}

/* The worker is about to sleep until `wake`: the time to wake. See N7. */
static inline sennit_time sn_poller_asleep(const struct worker *w,
					   sennit_time          wake)
{
	sennit_time due;

	if (likely(!w->polled.active))
		return wake;
	due = sn_poller_state_due(&w->polled);
	return due < wake ? due : wake;
}

/* Whether a hook keeps the worker from sleeping at `now`. */
static inline bool sn_poller_is_due(const struct worker *w, sennit_time now)
{
	return unlikely(w->polled.active) &&
	       sn_poller_state_due(&w->polled) <= now;
}

/* In place of a sleep, which the system may prolong by 50 us even where its
 * time has passed. Returns false if the worker may sleep. */
static inline bool sn_poller_stay_awake(const struct worker *w)
{
	if (likely(!w->polled.active) || !sn_poller_is_due(w, os_now()))
		return false;
	os_thread_yield();
	return true;
}

#endif
