/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - what no wait may change: thread, thread-local variables, errno,
 * the running fiber. */
#include "testing/with_workers.h"

#include <errno.h>

static _Thread_local int thread_local_mark;

struct meeting {
	sennit_wait_group gathered;
	sennit_wait_group done;
	sennit_event      go;
	sennit_mutex      lock;
	sennit_cond       changed;
	unsigned          passed; /* under lock */
};

/* Every call here blocks, or may block. */
static void wait_in_every_way(struct meeting *m)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);

	sennit_wait_group_done(&m->gathered);
	sennit_wait_group_wait(&m->gathered);
	sennit_yield();
	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(sennit_event_wait_until(
		       &never, sennit_after(SENNIT_MILLISECOND)) == -ETIMEDOUT);
	sennit_mutex_lock(&m->lock);
	m->passed++;
	sennit_cond_notify_all(&m->changed);
	sennit_yield();
	while (m->passed < 20)
		EXPECT(!sennit_cond_wait(&m->changed, &m->lock));
	sennit_mutex_unlock(&m->lock);
	sennit_event_set(&m->go);
	EXPECT(!sennit_event_wait(&m->go));
}

static void stay_the_same(void *argument)
{
	struct meeting *m = argument;
	const pthread_t thread = pthread_self();
	sennit_fiber   *fiber;
	int            *mark = &thread_local_mark;

	sennit_yield();
	fiber = sennit_fiber_current();
	wait_in_every_way(m);
	EXPECT(pthread_equal(thread, pthread_self()));
	EXPECT(fiber == sennit_fiber_current());
	EXPECT(mark == &thread_local_mark);
	sennit_wait_group_done(&m->done);
}

static void keep_errno(void *argument)
{
	struct meeting *m = argument;
	int             mine = (int)((uintptr_t)&mine >> 4 & 0xffff) + 1000;

	errno = mine;
	wait_in_every_way(m);
	EXPECT(errno == mine);
	sennit_wait_group_done(&m->done);
}

static void hold_meeting(sennit_task_fn *attend)
{
	struct meeting m = { .go = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };

	sennit_wait_group_init(&m.gathered, 20);
	sennit_wait_group_init(&m.done, 20);
	for (unsigned i = 0; i < 19; i++)
		must_schedule(attend, &m);
	attend(&m);
	sennit_wait_group_wait(&m.done);
}

TEST_WITH_WORKERS(a_wait_keeps_the_thread_and_its_locals)
{
	hold_meeting(stay_the_same);
}

TEST_WITH_WORKERS(a_wait_keeps_errno)
{
	hold_meeting(keep_errno);
}
