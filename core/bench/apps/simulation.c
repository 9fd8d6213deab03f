/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.c - 10^5 fibers in the order of simulated time, by an event for
 * each.
 */
#include "simulation.h"

static sennit_event      turns[SIM_CUSTOMERS];
static sennit_wait_group left;

/* Let the next customer go on, if there is one. */
static void pass_on(void)
{
	if (sim_waiting)
		sennit_event_set(&turns[sim_next()]);
}

static void live(void *argument)
{
	const uint32_t customer = (uint32_t)(uintptr_t)argument;

	for (unsigned i = 0; i < SIM_VISITS; i++) {
		(void)!sennit_event_wait(&turns[customer]);
		sim_visit(customer);
		if (i + 1 < SIM_VISITS)
			sim_leave(customer);
		pass_on();
	}
	sennit_wait_group_done(&left);
}

static void events(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sim_begin();
	sennit_wait_group_init(&left, SIM_CUSTOMERS);
	for (uint32_t i = 0; i < SIM_CUSTOMERS; i++) {
		sennit_event_init(&turns[i], SENNIT_EVENT_AUTO);
		sim_leave(i);
		spawn_here(live, (void *)(uintptr_t)i);
	}
	pass_on();
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	sim_check();
}

static void serial(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	(void)sim_serially();
	bench_elapsed(r, begin);
}

const struct bench_row bench_simulation[] = {
	{ .names = { "R6-simulation/serial" }, .n = SIM_EVENTS, .run = serial },
	BENCH_ROW("R6-simulation/events", SIM_EVENTS, BENCH_ONE, events),
	{ .run = NULL },
};
