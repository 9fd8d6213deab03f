/* SPDX-License-Identifier: Apache-2.0 */
/* domain_record.h - a domain, and what its tasks and its end record. */
#ifndef SN_TEST_DOMAIN_RECORD_H
#define SN_TEST_DOMAIN_RECORD_H

#include "testing/with_workers.h"
#include "sennit/domain.h"

/* A domain and what its tasks record. */
struct part {
	sennit_scheduler *s;
	sennit_domain    *d;
	atomic_uint       ends;
	atomic_uint       ran;
	atomic_uint       due;  /* number of tasks that must have run by the
				 * end */
	atomic_bool       gone; /* tasks outside no longer use this */
	sennit_event      go;
};

static inline void note_end(void *argument)
{
	struct part *p = argument;

	EXPECT(atomic_load(&p->ran) == atomic_load(&p->due));
	atomic_fetch_add(&p->ends, 1);
}

static inline void begin(struct part *p, sennit_scheduler *s)
{
	memset(p, 0, sizeof(*p));
	p->s = s;
	assert_int_equal(sennit_domain_create(&p->d, s, note_end, p), 0);
}

static inline void send(struct part *p, sennit_task_fn *run)
{
	atomic_fetch_add(&p->due, 1);
	EXPECT(sennit_domain_schedule(p->d, run, p) == 0);
}

static inline void count_run(void *argument)
{
	atomic_fetch_add(&((struct part *)argument)->ran, 1);
}

static inline void wait_and_count(void *argument)
{
	struct part *p = argument;

	EXPECT(!sennit_event_wait(&p->go));
	count_run(p);
}

/* Release the reference. The domain ends soon after that. */
static inline void assert_ends(struct part *p)
{
	sennit_domain_release(p->d);
	assert_soon(atomic_load(&p->ends) == 1);
}

/* The same, and so many tasks have been counted at the end. */
static inline void assert_ends_after(struct part *p, unsigned runs)
{
	assert_ends(p);
	assert_int_equal(atomic_load(&p->ran), runs);
}

#endif
