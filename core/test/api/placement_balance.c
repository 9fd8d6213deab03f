/* SPDX-License-Identifier: Apache-2.0 */
/* placement_balance.c - which workers help a busy thread or task, with few
 * workers and with many. */
#include "rendezvous.h"
#include "testing/with_workers.h"

/* --- balance ------------------------------------------------------------ */

static void schedule_rendezvous(struct rendezvous *r, unsigned needed,
				unsigned here)
{
	prepare_rendezvous(r, needed);
	for (unsigned i = here; i < needed; i++)
		must_schedule(meet, r);
}

TEST_WITH_THREADS(every_worker_helps_a_bound_thread)
{
	struct rendezvous r;
	unsigned          round;

	for (round = 0; round < 50; round++) {
		schedule_rendezvous(&r, w->threads, 0);
		sennit_wait_group_wait(&r.done);
	}
}

static void rendezvous_from_a_task(void *argument)
{
	struct rendezvous *r = argument;

	schedule_rendezvous(r, r->needed, 1);
	meet(r);
}

TEST_WITH_THREADS(every_worker_helps_a_busy_task)
{
	struct rendezvous r = { .needed = w->threads };
	unsigned          round;

	for (round = 0; round < 50; round++) {
		in_a_task(rendezvous_from_a_task, &r);
		sennit_wait_group_wait(&r.done);
	}
}

TEST_WITH_THREADS(sleeping_workers_help_a_busy_task)
{
	struct rendezvous r = { .needed = w->threads };
	unsigned          round;

	for (round = 0; round < 10; round++) {
		const uint64_t parks = stats_of(w->s).parks;

		in_a_task(rendezvous_from_a_task, &r);
		sennit_wait_group_wait(&r.done);
		assert_soon(stats_of(w->s).parks > parks);
	}
}

TEST_WITH_THREADS(placement_spread_reaches_every_worker)
{
	sennit_scheduler *s;
	struct rendezvous r = { .needed = w->threads };
	unsigned          round;

	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .placement = SENNIT_PLACEMENT_SPREAD));
	for (round = 0; round < 20; round++) {
		in_a_task(rendezvous_from_a_task, &r);
		sennit_wait_group_wait(&r.done);
	}
	move_back(w, s);
}

/* --- more workers than a thief visits in a round ------------------------ */

/* Nodes of two cores each. The machine that runs the test has fewer. */
static bool fake_place(void *asked, uint32_t cpu, sennit_cpu_place *out)
{
	atomic_fetch_add((atomic_uint *)asked, 1);
	*out = (sennit_cpu_place){ .node = cpu / 4,
				   .cache = cpu / 2,
				   .core = cpu };
	return true;
}

static void expect_all_meet(const sennit_config *config, struct world *w)
{
	sennit_scheduler *s = move_to(config);
	struct rendezvous r = { .needed = config->workers };
	unsigned          round;

	for (round = 0; round < 5; round++) {
		in_a_task(rendezvous_from_a_task, &r);
		sennit_wait_group_wait(&r.done);
		schedule_rendezvous(&r, config->workers, 0);
		sennit_wait_group_wait(&r.done);
	}
	move_back(w, s);
}

TEST_WITH_ONE(many_workers_help_as_few_do)
{
	expect_all_meet(SENNIT_CONFIG(.workers = 24), w);
	expect_all_meet(
		SENNIT_CONFIG(.workers = 24, .spin_ns = SENNIT_SPIN_NONE), w);
	expect_all_meet(SENNIT_CONFIG(.workers = 24, .max_workers = 60,
				      .placement = SENNIT_PLACEMENT_SPREAD),
			w);
}

TEST_WITH_ONE(many_with_neighbours_do_too)
{
	atomic_uint asked = 0;

	expect_all_meet(SENNIT_CONFIG(.workers = 24,
				      .affinity = SENNIT_AFFINITY_ONE_OF,
				      .cpu_place = fake_place,
				      .cpu_place_context = &asked),
			w);
	assert_int_equal(atomic_load(&asked), 24);
	expect_all_meet(SENNIT_CONFIG(.workers = 24,
				      .affinity = SENNIT_AFFINITY_ONE_OF),
			w); /* the places that the system reports */
}

TEST_WITH_ONE(no_neighbours_are_asked_for_few_or_on_no_cpu)
{
	atomic_uint asked = 0;

	expect_all_meet(SENNIT_CONFIG(.workers = 24, .cpu_place = fake_place,
				      .cpu_place_context = &asked),
			w);
	expect_all_meet(SENNIT_CONFIG(.workers = 2,
				      .affinity = SENNIT_AFFINITY_ONE_OF,
				      .cpu_place = fake_place,
				      .cpu_place_context = &asked),
			w);
	assert_int_equal(atomic_load(&asked), 0);
}
