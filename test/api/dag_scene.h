/* SPDX-License-Identifier: Apache-2.0 */
/* dag_scene.h - a small DAG whose nodes fail, wait or cancel, and what they
 * recorded. */
#ifndef SN_TEST_DAG_SCENE_H
#define SN_TEST_DAG_SCENE_H

#include "dag_plan.h"

/* The data of a run. */
struct scene {
	sennit_event  never; /* never set */
	sennit_event  begun;
	sennit_group *outer;
	atomic_uint   marks;
	int           seen; /* result seen by wait_in_vain */
};

static inline void open_scene(struct scene *s)
{
	*s = (struct scene){ .seen = 0 };
	sennit_event_init(&s->never, SENNIT_EVENT_MANUAL, false);
	sennit_event_init(&s->begun, SENNIT_EVENT_MANUAL, false);
}

static inline int mark(void *data, void *argument)
{
	atomic_fetch_or(&((struct scene *)data)->marks,
			(unsigned)(uintptr_t)argument);
	return 0;
}

static inline int give_up(void *data, void *argument)
{
	(void)mark(data, argument);
	return -EIO;
}

static inline int wait_in_vain(void *data, void *argument)
{
	struct scene *s = data;

	(void)mark(data, argument);
	sennit_event_set(&s->begun);
	s->seen = sennit_event_wait_until(&s->never, sennit_after(GIVE_UP));
	return s->seen;
}

static inline int fail_late(void *data, void *argument)
{
	struct scene *s = data;

	sennit_event_wait(&s->begun);
	return give_up(data, argument);
}

/* Nodes 0, 1, 2 with these functions and the order given by `after`. Each node
 * sets bit 1 << its number. */
struct cast {
	sennit_dag_fn *run;
	int            after[2]; /* node numbers; negative: none */
};

static inline sennit_dag *rehearse(const struct cast *cast, unsigned n)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           node;

	for (uintptr_t i = 0; i < n; i++) {
		void *bit = (void *)((uintptr_t)1 << i);

		assert_int_equal(sennit_dag_builder_add(&b, cast[i].run, bit,
							NULL, &node),
				 0);
		for (int k = 0; k < 2; k++)
			if (cast[i].after[k] >= 0)
				assert_int_equal(
					sennit_dag_builder_order(
						&b, (uint32_t)cast[i].after[k],
						node),
					0);
	}
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	return d;
}

#endif
