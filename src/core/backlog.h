/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - background tasks: what is done when there is nothing else to do.
 *
 *	push --> oldest ... newest --> pass: to whoever has nothing else
 *	                           \-> pass when due: to whoever is busy
 *
 * A ring under a lock: background tasks are few or long, or nobody waits for
 * them. What workers look at all the time is the count, which needs no lock.
 *
 * Invariants
 *   - `count` changes under the lock only, and says what is in the ring when
 *     that is free. Without the lock it may be late by a push whose maker has
 *     yet to look for sleepers, or by a pass.
 *   - While tasks are there, `due` is BACKLOG_PATIENCE after one was passed on
 *     last, or after the first was pushed.
 */
#ifndef SN_BACKLOG_H
#define SN_BACKLOG_H

#include "base/atomic.h"
#include "core/ring.h"

#include <pthread.h>

/* How long a task waits for somebody to run out of other work before one who
 * has not is given it: long beside what a task takes, short beside patience. */
#define BACKLOG_PATIENCE (10 * SENNIT_MILLISECOND)

struct backlog {
	pthread_mutex_t lock;
	struct ring     tasks; /* under lock */

	_Alignas(CACHE_LINE) a_u32 count; /* under lock; read by any */
	a_u64 due; /* under lock; read by any: when who is busy takes one */
};

/* Whoever gets a task passed on; an error leaves it where it is. */
typedef int backlog_keeper(void *keeper, struct task t);

void sn_backlog_init(struct backlog *b, const sennit_allocator *memory);
void sn_backlog_free(struct backlog *b);

/* Add t, now. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_backlog_push(struct backlog *b, struct task t,
				    sennit_time now);

/* Give memory back that a longer backlog has needed. Any thread. */
void sn_backlog_trim(struct backlog *b);

/* Whoever adds tasks to the ring: all that it has, or none and an error. */
typedef int backlog_filler(void *filler, struct ring *tasks);

/* Have fill(filler, ring) add tasks, now, in one step. Returns what it did. */
SENNIT_MUST_USE int sn_backlog_fill(struct backlog *b, backlog_filler *fill,
				    void *filler, sennit_time now);

/* Give the oldest to keep(keeper, task), now. False: there was none, or it was
 * not kept. */
bool sn_backlog_pass(struct backlog *b, sennit_time now, backlog_keeper *keep,
		     void *keeper);

/* How many there are: see above. */
static inline uint32_t sn_backlog_count(const struct backlog *b)
{
	return a_load_rlx(&b->count);
}

static inline bool sn_backlog_is_empty(const struct backlog *b)
{
	return !sn_backlog_count(b);
}

/* Whether tasks have waited for so long that they are everybody's business. */
static inline bool sn_backlog_is_due(const struct backlog *b, sennit_time now)
{
	/* Stale: one worker too many takes one, or it is seen next time. */
	return unlikely(!sn_backlog_is_empty(b)) && now >= a_load_rlx(&b->due);
}

#endif
