/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - the outstanding requests of one worker, and the look at them.
 *
 *	fiber    posts what it waits for, has the hook asked, waits for an event
 *	worker   its hook looks: between fibers, when idle, when a nap ends
 *	helper   looks instead while the worker does not come to it (helper.h)
 *
 * Two kinds wait:
 *   - a `single` is one request: all of them are one array, for one
 *     MPI_Testsome;
 *   - a `polled` is anything else that a function can test: one of several
 *     requests, a probe, a request that stays its owner's.
 *
 * Invariants
 *   M1  Who looks holds the lane's lock. So MPI is asked about a request by one
 *       thread at a time, as it demands, and a fiber that withdraws finds its
 *       request either in the lane or done.
 *   M2  Whatever is in the lane is looked at again: post and withdraw are done
 *       by fibers of the worker, so the hook is asked after each post, and says
 *       SENNIT_NEVER only when, under the lock, the lane is empty. No wake-up
 *       is lost, as nobody sleeps on the lane: a completion sets an event.
 *   M3  Nothing touches a `single` or a `polled` after its event was set: it
 *       lies in the frame of a fiber that may have gone on.
 *   M4  The engine counts what is posted before it is in the lane, and counts
 *       it out after it has left it.
 */
#ifndef SN_LANE_H
#define SN_LANE_H

#include "base/atomic.h"
#include "sennit/base.h"
#include "sennit/event.h"
#include "sennit/poller.h"
#include "sennit/scheduler.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

/* --- pace ----------------------------------------------------------------- */

/* How often MPI is asked while something is outstanding.
 *
 *	a fiber begins to wait   it asks itself, for `direct.time` at most
 *	since then   < eager     its worker asks at every opportunity
 *	             later       after naps: an eighth of the time since, and
 *	                         longer where looks are slow
 *
 * Both first times adapt: an answer within the longest time makes it the
 * longest, and a later one makes it shorter. So partners that answer are polled
 * for, and messages that come now and then cost a nap each.
 *
 * Two sides that only nap would never find out that both answer at once: each
 * sees the naps of the other. So now and then a wait is a probe: it is eager
 * through a nap of the other side, which then finds its answer early, and is
 * eager from there on.
 *
 * Looks that end naps, with the wake-ups before them, take 1/PACE_SHARE of the
 * time: they are paid from a credit that grows with the time, up to
 * PACE_CREDIT, and a nap lasts until the credit is no debt. A worker that is
 * busy pays for no wake-up, so it looks more often, and large messages move
 * meanwhile. So many outstanding requests, which are slow to look at, cost no
 * more than few.
 *
 * A look costs the CPU time of its thread. On a machine with much load it lasts
 * for many times as long: Open MPI gives the CPU away in a look in vain, if it
 * is told to yield when idle, and gets it back when others have had their turn.
 *
 * Bounds, checked by test/mpi/pace.c:
 *   - naps are at most `nap`, or PACE_SHARE times as long as a look and
 *     PACE_WAKE take, whichever is longer; never more than PACE_NAPS_MOST times
 *     `nap`;
 *   - without answers in time, all looks, eager ones included, take
 *     1/PACE_SHARE of a CPU, and in each PACE_PROBE_LAST one probe;
 *   - two sides that answer at once ask all the time after PACE_PROBE_LAST, and
 *     after PACE_PROBE_FIRST if they did so until then.
 */

#define PACE_SHARE 48

/* The most that looks may take at once, in ns. */
#define PACE_CREDIT 1000000

/* What waking a worker for a look and putting it to sleep takes, in ns. */
#define PACE_WAKE 20000

/* The shortest eager time but none, in ns: a few looks. */
#define PACE_EAGER_LEAST 2000

/* The shortest nap, in ns: the system makes shorter ones no shorter. */
#define PACE_NAP_LEAST 20000

/* No nap is longer than so many times `nap`, whatever looks cost. */
#define PACE_NAPS_MOST 64

/* The time between two probes, in ns: doubled while they are in vain. */
#define PACE_PROBE_FIRST (4 * SENNIT_MILLISECOND)
#define PACE_PROBE_LAST  (512 * SENNIT_MILLISECOND)

/* The longest time for which a fiber asks itself, in ns, and the shortest but
 * none. */
#define DIRECT_MOST  20000
#define DIRECT_LEAST 1000

/* As PACE_PROBE. */
#define DIRECT_PROBE (20 * SENNIT_MILLISECOND)

/* All of it belongs to the lane, under its lock. */
struct mpi_pace {
	uint32_t    spin;   /* fixed: the longest eager time, in ns */
	uint32_t    nap;    /* fixed: the longest nap, in ns */
	uint32_t    eager;  /* the eager time now, in ns */
	int64_t     credit; /* what looks in vain may take, in ns; below 0: a
			     * debt */
	sennit_time paid;   /* when it was counted */
	sennit_time cost;   /* of a look in vain, in ns: grows slowly, as a look
			     * that moves a large message takes longer */
	sennit_time since;  /* the last success, or the last request */
	sennit_time probed; /* when the last probe began */
	uint32_t    probe;  /* the time from then to the next one, in ns */
};

static inline void sn_mpi_pace_init(struct mpi_pace *p, uint32_t spin,
				    uint32_t nap)
{
	*p = (struct mpi_pace){ .spin = spin, .nap = nap, .eager = spin };
	p->probe = PACE_PROBE_FIRST;
}

/* A request was added: a time begins. */
static inline void sn_mpi_pace_added(struct mpi_pace *p, sennit_time now)
{
	p->since = now;
	if (now - p->probed < p->probe)
		return;
	p->probed = now;
	if (p->probe < PACE_PROBE_LAST)
		p->probe *= 2;
	p->eager = p->spin + p->nap;
}

static inline void sn_mpi_pace_found(struct mpi_pace *p, sennit_time now)
{
	uint32_t less = p->eager > p->spin ? 0 : p->eager / 4;

	if (now - p->since <= p->spin) {
		p->eager = p->spin;
		p->probe = PACE_PROBE_FIRST;
	} else {
		p->eager = less < PACE_EAGER_LEAST ? 0 : less;
	}
	p->since = now;
}

static inline bool sn_mpi_pace_is_eager(const struct mpi_pace *p,
					sennit_time            now)
{
	return now < p->since + p->eager;
}

/* When to look again after a look that ended at `now`, out of the eager time.
 * It took `cost` ns of its thread's CPU time in vain, or has found something
 * and costs as much as the last one in vain: 0. `wake` is PACE_WAKE if its
 * thread slept before, else 0. */
static inline sennit_time sn_mpi_pace_next(struct mpi_pace *p, sennit_time now,
					   sennit_time cost, uint32_t wake)
{
	sennit_time nap = wake ? (now - p->since) / 8 : 0;
	int64_t     look;

	if (p->cost && cost > p->cost + p->cost / 8)
		cost = p->cost + p->cost / 8 + 1;
	if (cost)
		p->cost = cost;
	look = (int64_t)(p->cost + wake);
	p->credit += (int64_t)((now - p->paid) / PACE_SHARE);
	p->paid = now;
	if (p->credit > PACE_CREDIT)
		p->credit = PACE_CREDIT;
	p->credit -= look;
	if (p->credit < -look)
		p->credit = -look;
	if (nap < PACE_NAP_LEAST)
		nap = PACE_NAP_LEAST;
	if (nap > p->nap)
		nap = p->nap;
	if (p->credit < 0 && nap < (uint64_t)-p->credit * PACE_SHARE)
		nap = (uint64_t)-p->credit * PACE_SHARE;
	if (nap > (uint64_t)p->nap * PACE_NAPS_MOST)
		nap = (uint64_t)p->nap * PACE_NAPS_MOST;
	return now + nap;
}

/* --- the fiber's own questions ------------------------------------------- */

/* It belongs to the lane's worker. */
struct mpi_direct {
	uint32_t    most;   /* fixed: the longest time, in ns */
	uint32_t    time;   /* the time now, in ns; 0: fibers do not ask */
	sennit_time probed; /* when it was last made the longest for a probe */
};

static inline void sn_mpi_direct_init(struct mpi_direct *d, uint32_t spin)
{
	const uint32_t most = spin < DIRECT_MOST ? spin : DIRECT_MOST;

	*d = (struct mpi_direct){ .most = most, .time = most };
}

/* How long a fiber may ask that begins to wait at `now`. */
static inline uint32_t sn_mpi_direct_time(struct mpi_direct *d, sennit_time now)
{
	if (!d->time && now - d->probed >= DIRECT_PROBE) {
		d->probed = now;
		d->time = d->most;
	}
	return d->time;
}

/* It asked in vain. */
static inline void sn_mpi_direct_vain(struct mpi_direct *d)
{
	d->time = d->time / 4 < DIRECT_LEAST ? 0 : d->time / 4;
}

/* A wait is over that took `ns`. */
static inline void sn_mpi_direct_found(struct mpi_direct *d, sennit_time ns)
{
	if (ns <= d->most)
		d->time = d->most;
}

/* --- lane ----------------------------------------------------------------- */

/* A look of more than LOOK_SLOW ns makes the lane slow, for LOOK_SLOW_FOR times
 * as long. On a machine with much load each question in vain may give the CPU
 * away: a turn of all other processes. So fibers of a slow lane do not ask for
 * themselves alone: each lets the others begin their operations before its
 * first question, and has no second one. Then one turn serves all. */
#define LOOK_SLOW     1000000
#define LOOK_SLOW_FOR 16

struct mpi_engine;

/* In the frame of the fiber that waits. */
struct mpi_single {
	MPI_Request  request; /* the lane's while it is posted */
	MPI_Status   status;  /* once done */
	int          error;   /* once done */
	uint32_t     at;      /* under lock: its place */
	bool         done;    /* under lock */
	sennit_event ready;
};

/* In the frame of the fiber that waits, or, if `scheduler` is set, allocated:
 * then the lane frees it when it is complete, and has that reference released.
 * `test` says whether it is complete, on any thread, under the lock. */
struct mpi_polled {
	bool (*test)(struct mpi_polled *p);
	sennit_event      *event;     /* set once complete */
	sennit_scheduler  *scheduler; /* a reference; NULL: not allocated */
	struct mpi_polled *next;      /* under lock */
	bool               done;      /* under lock */
};

struct mpi_lane {
	sennit_poller_hook hook;   /* first; owner */
	struct mpi_engine *engine; /* owner; the helper only while listed */
	struct mpi_lane   *next;   /* under the engine's lock */

	a_u64 looked; /* owner writes: when the worker last came, or when it
		       * will come again; may be early */
	a_u32 slow;   /* see LOOK_SLOW */
	bool  asking; /* owner: its hook runs */
	struct mpi_direct direct; /* owner */

	sennit_time last;     /* owner: its last look outside the eager time */
	sennit_time last_cpu; /* owner: the CPU time of its thread then */

	pthread_mutex_t lock;
	struct mpi_pace pace;       /* under lock */
	sennit_time     again;      /* under lock: the end of the nap */
	sennit_time     quick;      /* under lock: the quickest probe, in ns */
	sennit_time     slow_until; /* under lock */
	uint32_t        count;      /* under lock: singles */
	uint32_t        room;       /* under lock: places of the arrays */
	MPI_Request    *request; /* under lock; the same places as `single` */
	struct mpi_single **single; /* under lock */
	MPI_Status         *status; /* under lock: for MPI_Testsome */
	int                *index;  /* under lock: likewise */
	struct mpi_polled  *polled; /* under lock */
};

/* What a look has found. */
struct mpi_found {
	uint32_t          done;       /* singles and polled */
	uint32_t          references; /* to release, once no lock is held */
	sennit_scheduler *from;       /* the scheduler of all of those */
};

/* Returns NULL if there is no memory. */
struct mpi_lane *sn_mpi_lane_create(struct mpi_engine *e, uint32_t spin,
				    uint32_t nap);
void             sn_mpi_lane_free(struct mpi_lane *l);

/* Begin anew with these options. From a fiber of the lane's worker. */
void sn_mpi_lane_set_pace(struct mpi_lane *l, uint32_t spin, uint32_t nap);

/* From a fiber of the lane's worker. Returns false if there is no memory. */
bool sn_mpi_lane_post(struct mpi_lane *l, struct mpi_single *s);
void sn_mpi_lane_post_polled(struct mpi_lane *l, struct mpi_polled *p);

/* From a fiber of the lane's worker. Returns false if it is done already, and
 * the event set. */
bool sn_mpi_lane_withdraw(struct mpi_lane *l, struct mpi_single *s);
bool sn_mpi_lane_withdraw_polled(struct mpi_lane *l, struct mpi_polled *p);

/* The CPU time of the calling thread. */
sennit_time sn_mpi_lane_cpu(void);

/* Look at everything, now, under the lock. `cpu` is the CPU time of the calling
 * thread now; the eager time does not need it. `wake`: as of
 * sn_mpi_pace_next. */
struct mpi_found sn_mpi_lane_poll(struct mpi_lane *l, sennit_time now,
				  sennit_time cpu, uint32_t wake);

static inline bool sn_mpi_lane_is_slow(const struct mpi_lane *l)
{
	return a_load_rlx(&l->slow); /* stale: one question more or less */
}

static inline bool sn_mpi_lane_is_empty(const struct mpi_lane *l)
{
	return !l->count && !l->polled;
}

#endif
