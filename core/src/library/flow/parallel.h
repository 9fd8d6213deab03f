/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - what the parallel loops share: options, the test whether to
 * stop, the test whether to cut (lazy binary splitting).
 *
 *	loop  |--done--|--piece--|------ left ------|
 *	                         |--left--|---cut---|  no task to steal:
 *	                                               offer half
 *
 * A cut is pushed onto the worker's own deque. A thief takes it, or the worker
 * itself does in the end. While a cut lies there, nothing else is cut. So a
 * worker that works alone cuts only as often as the range can be halved, and
 * goes through the range from its beginning to its end.
 */
#ifndef SN_PARALLEL_H
#define SN_PARALLEL_H

#include "base/compiler.h"
#include "os/os.h"
#include "group/cancel.h"
#include "sennit/parallel.h"

#include <errno.h>

/* One call. Its group contains all pieces. */
struct parallel {
	sennit_group      group;         /* open while it runs */
	sennit_scheduler *scheduler;     /* fixed */
	sennit_time       deadline;      /* fixed */
	size_t            grain;         /* fixed; 0: the library chooses */
	uint32_t          workers;       /* fixed: approximate number of
					  * workers, at least 1 */
	bool              deterministic; /* fixed */
	sennit_time       opened;        /* fixed; 0: with a grain */
};

/* Prepare *p for the public call `call`. Returns 0, -EINVAL or -E2BIG. */
SENNIT_MUST_USE int sn_parallel_init(struct parallel               *p,
				     const sennit_parallel_options *options,
				     sennit_time deadline, const char *call);

/* Run run(argument) as a member of *p. Wait for it and for all members that
 * were added meanwhile. Returns the first error. */
SENNIT_MUST_USE int sn_parallel_run(struct parallel *p, sennit_member_fn *run,
				    void *argument);

/* The size of the largest piece of n indices when no grain is given. */
size_t sn_parallel_most(const struct parallel *p, size_t n);

/* A loop. Its pieces have at most `grain` indices. Without a grain the clock
 * determines their size, up to `most`. The first piece of a range is one index.
 * No piece is longer than the range's pieces before it together, or those since
 * one that took too long. So a piece that meets indices which cost much more
 * than those before meets few of them. */
struct loop {
	sennit_group    *group;   /* fixed: the group that the cuts join */
	sennit_range_fn *body;    /* fixed */
	void            *context; /* fixed */
	const char      *call;    /* fixed: name of the public call */
	sennit_time      opened;  /* fixed: when the call began */
	size_t           grain;   /* fixed */
	size_t           most;    /* fixed */
};

/* The rest of a loop that one worker has to process. */
struct range {
	size_t              begin;
	size_t              end;
	size_t              piece;  /* indices per piece; at least 1 */
	size_t              whole;  /* what has no more indices is not cut */
	size_t              calm;   /* indices processed since its beginning, or
				     * since a piece took too long */
	uint64_t            pace;   /* what an index of the last piece took, in
				     * 1/256 ns; 0: unknown */
	sennit_time         looked; /* reading of the clock since which nothing
				     * else has run; 0: there is none */
	const sennit_group *cuts;   /* that what is cut off joins */
};

struct range sn_parallel_range(const struct loop *l, size_t begin, size_t end);

/* Process one piece of *r, and then what is due on w, the caller's worker. */
SENNIT_MUST_USE int sn_parallel_step(const struct loop *l, struct range *r,
				     struct worker *w);

/* Process pieces of *r, at least one, on w, the caller's worker. Continue until
 * the range is empty, until an error, which is returned, or until a cut is
 * wanted. */
SENNIT_MUST_USE int sn_parallel_pieces(const struct loop *l, struct range *r,
				       struct worker *w);

/* Where to cut *r, which is longer than a piece: at a multiple of the grain. */
size_t sn_parallel_middle(const struct loop *l, const struct range *r);

/* The part of *r behind the cut. Nothing is known of its indices. */
struct range sn_parallel_rest(const struct loop *l, struct range *r);

/* Process [begin, end) and cut off members of the loop's group. These may still
 * be running when this returns. Call it on a fiber. Returns the first error. */
SENNIT_MUST_USE int sn_parallel_loop(const struct loop *l, size_t begin,
				     size_t end);

/* Whether the members of *g must stop. Returns 0, -ECANCELED or -ETIMEDOUT. */
SENNIT_MUST_USE static inline int sn_parallel_stops(const sennit_group *g)
{
	if (sn_cancel_scope_is_cancelled(&g->scope_))
		return -ECANCELED;
	return sn_cancel_scope_is_late(&g->scope_) ? -ETIMEDOUT : 0;
}

/* Whether other workers need a part of *r, on which w, the caller's worker,
 * works, and *r is long enough for two. If w already has tasks, they are
 * published instead. */
bool sn_parallel_is_wanted(const struct range *r, struct worker *w);

/* Make run(argument) a member of *g, which the caller has opened and waits for,
 * so that others can run it. Returns false if there is no memory, or if no
 * worker wants it and the wait could not run it as a call. The caller must then
 * run it itself. */
SENNIT_MUST_USE bool sn_parallel_offer(sennit_group *g, sennit_member_fn *run,
				       void *argument);

/* Call this between two pieces, which count as tasks: ready fibers run, and the
 * upkeep that is due is done. What the caller has cut off joins `cuts`; NULL:
 * nothing. Returns whether anything was done. */
bool sn_parallel_give_way(struct worker *w, const sennit_group *cuts);

static inline size_t sn_parallel_divide(size_t n, size_t by)
{
	return n / by + !!(n % by);
}

#endif
