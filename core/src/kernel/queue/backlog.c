/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/backlog.h"
#include "queue/task_queue.h"

#include "base/torture.h"
#include "os/os.h"

void sn_backlog_init(struct backlog *b, const sennit_allocator *memory)
{
	pthread_mutex_init(&b->lock, NULL);
	sn_task_queue_init(&b->tasks, memory);
	a_init(&b->count, 0);
	a_init(&b->due, 0);
}

void sn_backlog_free(struct backlog *b)
{
	sn_task_queue_free(&b->tasks);
	pthread_mutex_destroy(&b->lock);
}

static void note_count_locked(struct backlog *b)
{
	a_store_rlx(&b->count, sn_task_queue_count(&b->tasks)); /* relaxed: see
							   * inbox.h */
}

int sn_backlog_fill(struct backlog *b, backlog_filler *fill, void *filler,
		    sennit_time now)
{
	bool was_empty;
	int  err;

	os_lock(&b->lock);
	was_empty = sn_task_queue_is_empty(&b->tasks);
	err = fill(filler, &b->tasks);
	if (!err && was_empty)
		a_store_rlx(&b->due, now + BACKLOG_PATIENCE); /* a hint */
	note_count_locked(b);
	pthread_mutex_unlock(&b->lock);
	TORTURE_POINT(); /* pushed, but no worker woken yet */
	return err;
}

void sn_backlog_trim(struct backlog *b)
{
	os_lock(&b->lock);
	sn_task_queue_trim(&b->tasks);
	pthread_mutex_unlock(&b->lock);
}

static int push_one(void *task, struct task_queue *tasks)
{
	return sn_task_queue_push_back(tasks, *(const struct task *)task);
}

int sn_backlog_push(struct backlog *b, struct task t, sennit_time now)
{
	return sn_backlog_fill(b, push_one, &t, now);
}

bool sn_backlog_pass(struct backlog *b, sennit_time now, backlog_taker *take,
		     void *taker)
{
	struct task t;
	bool        passed;

	if (sn_backlog_is_empty(b))
		return false;
	os_lock(&b->lock);
	passed = !sn_task_queue_is_empty(&b->tasks) &&
		 !take(taker, sn_task_queue_oldest(&b->tasks));
	if (passed) {
		sn_task_queue_pop_front(&b->tasks, &t);
		a_store_rlx(&b->due, now + BACKLOG_PATIENCE); /* a hint */
	}
	note_count_locked(b);
	pthread_mutex_unlock(&b->lock);
	return passed;
}
