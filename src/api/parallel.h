/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - what the parallel loops share: options, the question whether to
 * stop, the question whether to cut.
 *
 *	loop  |--done--|--piece--|------ left ------|
 *	                         |--left--|---cut---|  nobody has anything
 *	                                               to take: offer half
 *
 * A cut is pushed on the own deque, from which a thief takes it, or else the
 * worker itself in the end. While one lies there nothing is cut: so whoever
 * works alone cuts as often as a range can be halved, no more.
 */
#ifndef SN_API_PARALLEL_H
#define SN_API_PARALLEL_H

#include "base/check.h"
#include "os/os.h"
#include "worker/loop.h"
#include "scheduler/place.h"
#include "worker/cancel_scope.h"
#include "sennit/parallel.h"

#include <errno.h>

/* One call: the group that all its pieces are in. */
struct parallel {
	sennit_group      group;
	sennit_scheduler *scheduler;     /* fixed */
	size_t            grain;         /* fixed: 0: chosen by us */
	uint32_t          workers;       /* fixed: about how many, at least 1 */
	bool              deterministic; /* fixed */
};

/* Open *p for the public call of that name. 0 or -EINVAL. */
SENNIT_MUST_USE int sn_parallel_open(struct parallel               *p,
				     const sennit_parallel_options *options,
				     const char                    *call);

/* Have run(argument) done as a member of *p and wait for it and for all that
 * have become members meanwhile. Returns the first error. */
SENNIT_MUST_USE int sn_parallel_run(struct parallel *p, sennit_member_fn *run,
				    void *argument);

/* The longest piece of n indices where no grain is given. */
size_t sn_parallel_most(const struct parallel *p, size_t n);

/* A loop: pieces of at most grain; without one, of some length that is found
 * out by the clock, but at most `most`. */
struct loop {
	sennit_group    *group;   /* fixed: what is cut off is a member of it */
	sennit_range_fn *body;    /* fixed */
	void            *context; /* fixed */
	const char      *call;    /* fixed: the public call's name */
	size_t           grain;   /* fixed */
	size_t           most;    /* fixed */
};

/* What somebody has still to do of it. */
struct range {
	size_t begin;
	size_t end;
	size_t piece; /* how many at once; at least 1 */
};

struct range sn_parallel_range(const struct loop *l, size_t begin, size_t end);

/* Do pieces of *r, at least one, on w, the caller's: until there are none, or
 * an error, which is returned; or until a cut is wanted. */
SENNIT_MUST_USE int sn_parallel_pieces(const struct loop *l, struct range *r,
				       struct worker *w);

/* Where to cut *r, which is longer than a piece: at a multiple of the grain. */
size_t sn_parallel_middle(const struct loop *l, const struct range *r);

/* Do [begin, end), cutting off members of the loop's group, which may still be
 * under way in the end. On a fiber. Returns the first error. */
SENNIT_MUST_USE int sn_parallel_loop(const struct loop *l, size_t begin,
				     size_t end);

/* Whether what is inside *g has to stop: 0, -ECANCELED or -ETIMEDOUT. */
SENNIT_MUST_USE static inline int sn_parallel_stops(const sennit_group *g)
{
	if (sn_cancel_scope_is_cancelled(&g->scope_))
		return -ECANCELED;
	if (unlikely(g->scope_.deadline_ != SENNIT_NEVER) &&
	    os_now() >= g->scope_.deadline_)
		return -ETIMEDOUT;
	return 0;
}

/* Whether others could do with a part of *r, which w, the caller's, works on,
 * and which has enough for two. If something lies there they are shown that. */
bool sn_parallel_is_wanted(const struct range *r, struct worker *w);

/* Make run(argument) a member of *g, which the caller has opened and waits for,
 * for others to do. False: there is no memory, or a wait could not have it as a
 * call and nobody wants it; then the caller does it itself. */
SENNIT_MUST_USE bool sn_parallel_offer(sennit_group *g, sennit_member_fn *run,
				       void *argument);

/* Between two pieces, which count as tasks do: what is ready runs, what is due
 * is done. */
void sn_parallel_give_way(struct worker *w);

static inline size_t sn_parallel_divide(size_t n, size_t by)
{
	return n / by + !!(n % by);
}

#endif
