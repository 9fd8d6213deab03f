/* SPDX-License-Identifier: Apache-2.0 */
/* local_values.h - what tests of local values share: values, and a record of
 * their destruction. */
#ifndef SN_TEST_LOCAL_VALUES_H
#define SN_TEST_LOCAL_VALUES_H

#include "testing/misuse.h"

static inline sennit_local_key must_create(void (*destructor)(void *value))
{
	sennit_local_key key = { 0, 0 };

	EXPECT(sennit_local_key_create(&key, destructor) == 0);
	return key;
}

static inline void must_set(sennit_local_key key, void *value)
{
	EXPECT(sennit_local_set(key, value) == 0);
}

struct local_case {
	sennit_local_key  key, other;
	atomic_uint       ended;
	atomic_uint       wrong;
	sennit_event      go;
	sennit_wait_group ready, done;
};

static inline void count_up(void *value)
{
	atomic_fetch_add(&((struct local_case *)value)->ended, 1);
}

/* Schedule run(w) on this worker and wait until it has ended. */
static inline void run_here(sennit_task_fn *run, struct local_case *w)
{
	sennit_wait_group_init(&w->done, 1);
	must_schedule_here(run, w);
	sennit_wait_group_wait(&w->done);
}

static inline void find_nothing_and_set(void *argument)
{
	struct local_case *w = argument;

	EXPECT(!sennit_local_get(w->key));
	must_set(w->key, w);
	sennit_wait_group_done(&w->done);
}

#endif
