/* SPDX-License-Identifier: Apache-2.0 */
/* background_pile.h - background tasks that count their runs. */
#ifndef SN_TEST_BACKGROUND_PILE_H
#define SN_TEST_BACKGROUND_PILE_H

#include "with_workers.h"

static inline void must_schedule_late(sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run,
				.argument = argument,
				.flags = SENNIT_TASK_BACKGROUND };

	EXPECT(sennit_schedule_task(&t) == 0);
}

struct pile {
	sennit_scheduler *s;
	sennit_wait_group done;
	atomic_uint       ran;
	atomic_uint       others; /* normal tasks that have run */
	atomic_uint       early;  /* background tasks before the last of
				   * these */
	atomic_bool       found;
	pthread_t         stranger; /* a thread that must not run any */
	sennit_event      go;
};

static inline void run_one(void *argument)
{
	struct pile *p = argument;

	atomic_fetch_add(&p->ran, 1);
	sennit_wait_group_done(&p->done);
}

enum { SOME = 20 };

#endif
