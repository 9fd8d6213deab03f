/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how often MPI is asked while something is outstanding.
 *
 *	since the last success   < eager       at every opportunity
 *	                         later         after a nap: a quarter of the
 *	                                       time since; a message is late by
 *	                                       a quarter of its wait
 *
 * `eager` adapts: a success within the longest eager time makes it the longest,
 * a later one halves it. So partners that answer are polled for, and messages
 * that come now and then cost a nap each. Two sides that wait for each other's
 * naps get faster with each turn, as each nap is a fraction of the wait.
 *
 * A nap is at least PACE_SHARE times as long as a look takes: many outstanding
 * requests, which are slow to look at, cost no more than few.
 */
#ifndef SN_MPI_PACE_H
#define SN_MPI_PACE_H

#include "sennit/base.h"

#include <stdbool.h>

#define PACE_SHARE 20

/* The shortest eager time, in ns: a few looks. */
#define PACE_EAGER_LEAST 2000

/* All of it belongs to the lane, under its lock. */
struct mpi_pace {
	uint32_t    spin;  /* fixed: the longest eager time, in ns */
	uint32_t    nap;   /* fixed: the longest nap, in ns */
	uint32_t    eager; /* the eager time now, in ns */
	sennit_time since; /* the last success, or the first request */
};

static inline void sn_mpi_pace_init(struct mpi_pace *p, uint32_t spin,
				    uint32_t nap)
{
	*p = (struct mpi_pace){ .spin = spin, .nap = nap, .eager = spin };
}

/* A request was added. The first one, and one that comes after a while, begins
 * a time of its own. */
static inline void sn_mpi_pace_added(struct mpi_pace *p, sennit_time now)
{
	p->since = now;
}

static inline void sn_mpi_pace_found(struct mpi_pace *p, sennit_time now)
{
	uint32_t half = p->eager / 2;

	if (now - p->since <= p->spin)
		p->eager = p->spin;
	else
		p->eager = half < PACE_EAGER_LEAST ? PACE_EAGER_LEAST : half;
	p->since = now;
}

static inline bool sn_mpi_pace_is_eager(const struct mpi_pace *p,
					sennit_time            now)
{
	return now < p->since + p->eager;
}

/* When to look again after a look that ended at `now`, took `cost` ns and found
 * nothing, out of the eager time. */
static inline sennit_time sn_mpi_pace_next(const struct mpi_pace *p,
					   sennit_time now, sennit_time cost)
{
	sennit_time waited = now - p->since;
	sennit_time nap = waited / 4;

	if (nap > p->nap)
		nap = p->nap;
	if (nap < cost * PACE_SHARE)
		nap = cost * PACE_SHARE;
	return now + nap;
}

#endif
