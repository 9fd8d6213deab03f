/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.h - a simulation by processes: 10^5 customers, each a fiber, come
 * back to a counter ten times after random times. Only one of them runs at any
 * moment: the next one in the order of simulated time.
 *
 * A heap has the customers that wait, by time. Source: Williams (1964).
 */
#ifndef SN_BENCH_APPS_SIMULATION_H
#define SN_BENCH_APPS_SIMULATION_H

#include "harness.h"

#define SIM_CUSTOMERS 100000
#define SIM_VISITS    10
#define SIM_EVENTS    UINT64_C(1000000)

/* A customer and when it comes; times of two customers differ. */
struct arrival {
	uint64_t time;
	uint32_t customer;
};

static struct arrival sim_heap[SIM_CUSTOMERS];
static uint32_t       sim_waiting;
static uint64_t       sim_random;
static uint64_t       sim_now;    /* simulated time */
static uint64_t       sim_visits; /* visits so far */
static uint64_t       sim_order;  /* depends on the order of all visits */

static inline void sim_begin(void)
{
	sim_waiting = 0;
	sim_random = 1;
	sim_now = sim_visits = sim_order = 0;
}

/* The customer will come after a random time. */
static inline void sim_leave(uint32_t customer)
{
	uint32_t at = sim_waiting++;
	uint64_t time;

	sim_random = sim_random * UINT64_C(6364136223846793005) + 1;
	time = sim_now + ((sim_random >> 40) + 1) * SIM_CUSTOMERS;
	time += customer - time % SIM_CUSTOMERS;
	for (; at && time < sim_heap[(at - 1) / 2].time; at = (at - 1) / 2)
		sim_heap[at] = sim_heap[(at - 1) / 2];
	sim_heap[at].time = time;
	sim_heap[at].customer = customer;
}

/* Remove the customer that comes next and go to its time. */
static inline uint32_t sim_next(void)
{
	const struct arrival first = sim_heap[0];
	const struct arrival last = sim_heap[--sim_waiting];
	uint32_t             at = 0, child;

	for (; (child = 2 * at + 1) < sim_waiting; at = child) {
		if (child + 1 < sim_waiting &&
		    sim_heap[child + 1].time < sim_heap[child].time)
			child++;
		if (last.time <= sim_heap[child].time)
			break;
		sim_heap[at] = sim_heap[child];
	}
	sim_heap[at] = last;
	sim_now = first.time;
	return first.customer;
}

static inline void sim_visit(uint32_t customer)
{
	sim_visits++;
	sim_order = (sim_order ^ customer) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The same without fibers: what the order must be. */
static inline uint64_t sim_serially(void)
{
	static uint8_t visits[SIM_CUSTOMERS];

	sim_begin();
	for (uint32_t i = 0; i < SIM_CUSTOMERS; i++) {
		visits[i] = 0;
		sim_leave(i);
	}
	while (sim_waiting) {
		uint32_t customer = sim_next();

		sim_visit(customer);
		if (++visits[customer] < SIM_VISITS)
			sim_leave(customer);
	}
	return sim_order;
}

static inline void sim_check(void)
{
	const uint64_t visits = sim_visits, order = sim_order;

	bench_check(visits == SIM_EVENTS, "simulation: lost visits");
	bench_check(order == sim_serially(), "simulation: wrong order");
}

#endif
