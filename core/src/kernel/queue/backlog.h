/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - the queue of background tasks, which run when a worker has no
 * other work.
 *
 *	push --> oldest ... newest --> pass: to a worker without other work
 *	                           \-> pass when due: to a busy worker
 *
 * A queue under a lock is enough: background tasks are few, or long, or not
 * urgent. Workers look at the count often, and the count needs no lock.
 *
 * Invariants
 *   - `count` changes under the lock only, and says what is in the queue when
 *     that is free. Without the lock it may be late by a push whose maker has
 *     yet to look for sleepers, or by a pass.
 *   - While tasks are there, `due` is BACKLOG_PATIENCE after one was passed on
 *     last, or after the first was pushed.
 */
#ifndef SN_BACKLOG_H
#define SN_BACKLOG_H

#include "base/torture.h"
#include "queue/task_queue.h"
#include "sennit/base.h"

#include <pthread.h>

/* How long the oldest task waits for an idle worker before a busy worker gets
 * it. This is long compared with a task, and short for a person who waits. */
#define BACKLOG_PATIENCE (10 * SENNIT_MILLISECOND)

struct backlog {
	pthread_mutex_t   lock;
	struct task_queue tasks; /* under lock */

	_Alignas(CACHE_LINE) a_u32 count; /* under lock; read by any */
	a_u64 due; /* under lock; read by any: when a busy worker takes one */
};

/* Takes the task. On an error the task stays in the backlog. */
typedef int backlog_taker(void *taker, struct task t);

void sn_backlog_init(struct backlog *b, const sennit_allocator *memory);
void sn_backlog_free(struct backlog *b);

/* Add t at the time `now`. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_backlog_push(struct backlog *b, struct task t,
				    sennit_time now);

/* Free memory that a longer backlog needed. Any thread. */
void sn_backlog_trim(struct backlog *b);

/* Adds tasks to the queue. Adds all its tasks and returns 0, or adds none and
 * returns an error. */
typedef int backlog_filler(void *filler, struct task_queue *tasks);

/* Let fill(filler, queue) add tasks in one step, at the time `now`. Returns the
 * result of fill. */
SENNIT_MUST_USE int sn_backlog_fill(struct backlog *b, backlog_filler *fill,
				    void *filler, sennit_time now);

/* Pass the oldest task to take(taker, task), at the time `now`. Returns false
 * when there was no task, or take returned an error. */
bool sn_backlog_pass(struct backlog *b, sennit_time now, backlog_taker *take,
		     void *taker);

/* The number of tasks; may be stale as the invariants say. */
static inline uint32_t sn_backlog_count(const struct backlog *b)
{
	return a_load_rlx(&b->count);
}

static inline bool sn_backlog_is_empty(const struct backlog *b)
{
	return !sn_backlog_count(b);
}

/* Whether the oldest task has waited for BACKLOG_PATIENCE, so that busy workers
 * must take it. */
static inline bool sn_backlog_is_due(const struct backlog *b, sennit_time now)
{
	/* A stale value makes one worker too many take a task, or delays this
	 * until the next look. */
	return unlikely(!sn_backlog_is_empty(b)) && now >= a_load_rlx(&b->due);
}

#endif
