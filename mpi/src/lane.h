/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - the outstanding requests of one worker, and how they are polled.
 *
 *	fiber    posts its request, wakes the hook, waits for an event
 *	worker   its hook polls: between fibers, when idle, when a nap ends
 *	helper   polls instead while the worker is in a long task (helper.h)
 *
 * There are two kinds of requests:
 *   - a `single` is one MPI request. All of them form one array, for one
 *     MPI_Testsome;
 *   - a `polled` is anything else that a function can test: one of several
 *     requests, a probe, a request that its owner keeps.
 *
 * Invariants
 *   M1  Polling needs the lane's lock. So only one thread at a time tests a
 *       request, as MPI demands, and a fiber that withdraws finds its request
 *       either in the lane or done.
 *   M2  Everything in the lane is polled again: post and withdraw are done by
 *       fibers of the worker, so the hook is called after each post, and
 *       returns SENNIT_NEVER only if the lane is empty, under the lock. No
 *       wake-up is lost, because no thread sleeps on the lane: a completion
 *       sets an event.
 *   M3  Nothing touches a `single` or a `polled` after its event was set: it
 *       is in the frame of a fiber that may have continued.
 *   M4  The engine counts a request before it is in the lane, and subtracts it
 *       after it has left the lane.
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

/* How often a lane is polled while something is outstanding.
 *
 *	a fiber begins to wait   it polls itself, for `direct.time` at most
 *	since then   < eager     its worker polls at every opportunity
 *	             later       after naps: an eighth of the time since, and
 *	                         longer where polls are slow
 *
 * Both first times adapt: an answer within the maximum time sets the time to
 * the maximum, and a later one makes it shorter. So the lane polls eagerly for
 * partners that answer quickly, and messages that come now and then cost a nap
 * each.
 *
 * If both sides only napped, neither would notice that the other answers at
 * once, because each sees the naps of the other. So now and then a wait is a
 * probe: it polls eagerly during a nap of the other side, which then finds its
 * answer early, and is eager from then on.
 *
 * Polls that end naps, including the wake-ups before them, take 1/PACE_SHARE of
 * the time. They are paid from a credit that grows with time, up to
 * PACE_CREDIT, and a nap lasts until the credit is not negative. A busy worker
 * needs no wake-up, so it polls more often, and large messages move meanwhile.
 * So many outstanding requests, which are slow to poll, cost no more than few.
 *
 * The cost of a poll is the CPU time of its thread. On a heavily loaded machine
 * a poll takes many times as long: Open MPI yields the CPU in a poll that finds
 * nothing, if it is configured to yield when idle, and gets it back after other
 * processes have run.
 *
 * Bounds, checked by mpi/test/pace.c:
 *   - naps are at most `nap`, or PACE_SHARE times the time of a poll and
 *     PACE_WAKE, whichever is longer; never more than PACE_NAPS_MOST times
 *     `nap`;
 *   - without answers in time, all polls, eager ones included, take
 *     1/PACE_SHARE of a CPU, and each PACE_PROBE_LAST contains one probe;
 *   - two sides that answer at once poll all the time after PACE_PROBE_LAST,
 *     and after PACE_PROBE_FIRST if they did so until then.
 */

#define PACE_SHARE 48

/* The most time that polls may use at once, in ns. */
#define PACE_CREDIT 1000000

/* The time to wake a worker for a poll and put it back to sleep, in ns. */
#define PACE_WAKE 20000

/* The shortest eager time except 0, in ns: a few polls. */
#define PACE_EAGER_LEAST 2000

/* The shortest nap, in ns: the system does not make shorter ones shorter. */
#define PACE_NAP_LEAST 20000

/* No nap is longer than this many times `nap`, whatever polls cost. */
#define PACE_NAPS_MOST 64

/* The time between two probes, in ns. It doubles while probes find nothing. */
#define PACE_PROBE_FIRST (4 * SENNIT_MILLISECOND)
#define PACE_PROBE_LAST  (512 * SENNIT_MILLISECOND)

/* The longest time for which a fiber polls itself, in ns, and the shortest
 * except 0. */
#define DIRECT_MOST  20000
#define DIRECT_LEAST 1000

/* Like PACE_PROBE_FIRST, for fibers that poll themselves. */
#define DIRECT_PROBE (20 * SENNIT_MILLISECOND)

/* All members belong to the lane, under its lock. */
struct mpi_pace {
	uint32_t    spin;   /* fixed: the longest eager time, in ns */
	uint32_t    nap;    /* fixed: the longest nap, in ns */
	uint32_t    eager;  /* the current eager time, in ns */
	int64_t     credit; /* the time that polls without a result may use, in
			     * ns; below 0: a debt */
	sennit_time paid;   /* when the credit was last increased */
	sennit_time cost;   /* of a poll without a result, in ns. It grows
			     * slowly, because a poll that moves a large message
			     * takes longer */
	sennit_time since;  /* time of the last success or the last request */
	sennit_time probed; /* when the last probe began */
	uint32_t    probe;  /* time from then to the next probe, in ns */
};

static inline void sn_mpi_pace_init(struct mpi_pace *p, uint32_t spin,
				    uint32_t nap)
{
	*p = (struct mpi_pace){ .spin = spin, .nap = nap, .eager = spin };
	p->probe = PACE_PROBE_FIRST;
}

/* A request was added: the eager time begins. */
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

/* Return when to poll again, after a poll that ended at `now`, outside the
 * eager time. `cost` is the CPU time in ns of the poll, if it found nothing. 0:
 * it found something, and costs as much as the last one that did not. `wake` is
 * PACE_WAKE if its thread slept before, else 0. */
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

/* --- polling by the fiber itself ----------------------------------------- */

/* Owned by the lane's worker. */
struct mpi_direct {
	uint32_t    most;   /* fixed: the longest time, in ns */
	uint32_t    time;   /* the current time, in ns; 0: fibers do not poll */
	sennit_time probed; /* when it was last set to the maximum for a
			     * probe */
};

static inline void sn_mpi_direct_init(struct mpi_direct *d, uint32_t spin)
{
	const uint32_t most = spin < DIRECT_MOST ? spin : DIRECT_MOST;

	*d = (struct mpi_direct){ .most = most, .time = most };
}

/* Return how long a fiber that begins to wait at `now` may poll. */
static inline uint32_t sn_mpi_direct_time(struct mpi_direct *d, sennit_time now)
{
	if (!d->time && now - d->probed >= DIRECT_PROBE) {
		d->probed = now;
		d->time = d->most;
	}
	return d->time;
}

/* The fiber polled without success. */
static inline void sn_mpi_direct_vain(struct mpi_direct *d)
{
	d->time = d->time / 4 < DIRECT_LEAST ? 0 : d->time / 4;
}

/* A wait that took `ns` is over. */
static inline void sn_mpi_direct_found(struct mpi_direct *d, sennit_time ns)
{
	if (ns <= d->most)
		d->time = d->most;
}

/* --- lane ----------------------------------------------------------------- */

/* A poll of more than LOOK_SLOW ns makes the lane slow, for LOOK_SLOW_FOR times
 * as long. On a heavily loaded machine each poll that finds nothing may yield
 * the CPU until all other processes have run. So on a slow lane a fiber lets
 * the others begin their operations before its first poll, and does not poll a
 * second time. Then one poll serves all fibers. */
#define LOOK_SLOW     1000000
#define LOOK_SLOW_FOR 16

struct mpi_engine;

/* A request; in the frame of the fiber that waits. */
struct mpi_single {
	MPI_Request  request; /* the lane's while it is posted */
	MPI_Status   status;  /* valid once done */
	int          error;   /* valid once done */
	uint32_t     at;      /* under lock: its index */
	bool         done;    /* under lock */
	sennit_event ready;
};

/* Anything else that can be polled. It is in the frame of the fiber that waits.
 * If `scheduler` is set, it is allocated, and the lane frees it when it is
 * complete and returns that reference for release. `test` reports whether it is
 * complete; it is called on any thread, under the lock. */
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

	a_u64 looked; /* owner writes: when the worker last polled, or when it
		       * will poll again; may be early */
	a_u32 slow;   /* see LOOK_SLOW */
	bool  asking; /* owner: its hook runs */
	struct mpi_direct direct; /* owner */

	sennit_time last;     /* owner: time of its last poll outside the eager
			       * time */
	sennit_time last_cpu; /* owner: CPU time of its thread at that time */

	pthread_mutex_t     lock;
	struct mpi_pace     pace;  /* under lock */
	sennit_time         again; /* under lock: end of the nap */
	sennit_time         quick; /* under lock: time of the quickest probe,
				     * in ns */
	sennit_time         slow_until; /* under lock */
	uint32_t            count;      /* under lock: number of singles */
	uint32_t            room;       /* under lock: size of the arrays */
	MPI_Request        *request; /* under lock; same indices as `single` */
	struct mpi_single **single;  /* under lock */
	MPI_Status         *status;  /* under lock: for MPI_Testsome */
	int                *index;   /* under lock: likewise */
	struct mpi_polled  *polled;  /* under lock */
};

/* The result of a poll. */
struct mpi_found {
	uint32_t          done;       /* number of completed singles and
				       * polled */
	uint32_t          references; /* number of references to release once no
				       * lock is held */
	sennit_scheduler *from;       /* the scheduler of all of them */
};

/* Returns NULL if there is no memory. `spin` and `nap` are in ns. */
struct mpi_lane *sn_mpi_lane_create(struct mpi_engine *e, uint32_t spin,
				    uint32_t nap);
void             sn_mpi_lane_free(struct mpi_lane *l);

/* Start again with these options. Called from a fiber of the lane's worker. */
void sn_mpi_lane_set_pace(struct mpi_lane *l, uint32_t spin, uint32_t nap);

/* Add a request. Called from a fiber of the lane's worker. Returns false if
 * there is no memory. */
bool sn_mpi_lane_post(struct mpi_lane *l, struct mpi_single *s);
void sn_mpi_lane_post_polled(struct mpi_lane *l, struct mpi_polled *p);

/* Remove a request. Called from a fiber of the lane's worker. Returns false if
 * it is already done and its event set. */
bool sn_mpi_lane_withdraw(struct mpi_lane *l, struct mpi_single *s);
bool sn_mpi_lane_withdraw_polled(struct mpi_lane *l, struct mpi_polled *p);

/* Return the CPU time of the calling thread. */
sennit_time sn_mpi_lane_cpu(void);

/* Poll everything now, under the lock. `cpu` is the CPU time of the calling
 * thread now; the eager time does not need it. `wake`: as in
 * sn_mpi_pace_next. */
struct mpi_found sn_mpi_lane_poll(struct mpi_lane *l, sennit_time now,
				  sennit_time cpu, uint32_t wake);

static inline bool sn_mpi_lane_is_slow(const struct mpi_lane *l)
{
	return a_load_rlx(&l->slow); /* stale: one poll more or less */
}

static inline bool sn_mpi_lane_is_empty(const struct mpi_lane *l)
{
	return !l->count && !l->polled;
}

#endif
