/* SPDX-License-Identifier: Apache-2.0 */
/* resizing.h - schedulers whose number of workers changes, and a load of
 * tasks for them. */
#ifndef SN_TEST_RESIZING_H
#define SN_TEST_RESIZING_H

#include "attendance.h"

static inline sennit_scheduler *begin(uint32_t workers, uint32_t most,
				      enum sennit_start start)
{
	sennit_scheduler *s;

	for (uint32_t i = 0; i < MOST; i++)
		atomic_store(&starts[i], 0);
	s = start_with(SENNIT_CONFIG(.workers = workers, .max_workers = most,
				     .start = start,
				     .thread_init = note_index));
	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static inline void end(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

struct load {
	atomic_ullong     made, ran;
	atomic_bool       over;
	sennit_wait_group left;
};

/* Each task starts another until the end of the test. Every tenth task waits
 * briefly. */
static inline void breed(void *argument)
{
	struct load *l = argument;

	if (!atomic_load(&l->over)) {
		sennit_wait_group_add(&l->left, 1);
		if (atomic_fetch_add(&l->made, 1) % 10 == 0)
			sennit_yield();
		must_schedule(breed, l);
	}
	atomic_fetch_add(&l->ran, 1);
	sennit_wait_group_done(&l->left);
}

#endif
