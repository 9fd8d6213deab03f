/* SPDX-License-Identifier: Apache-2.0 */
#include "park/topology.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of seats that a round examines. Seats of workers that do
 * not exist are skipped. */
#define MOST_STEPS (8 * STEAL_ORDER_TRIES)

/* --- sorting ----------------------------------------------------------- */

static int order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_seats(const void *left, const void *right)
{
	const struct topology_slot *a = left;
	const struct topology_slot *b = right;
	int                         by = order(a->place.node, b->place.node);

	if (!by)
		by = order(a->place.cache, b->place.cache);
	if (!by)
		by = order(a->place.core, b->place.core);
	return by ? by : order(a->worker, b->worker);
}

void sn_steal_order_sort(struct topology_slot seats[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		seats[i].worker = i;
	qsort(seats, n, sizeof(*seats), compare_seats);
}

/* --- rings -------------------------------------------------------------- */

static bool is_same(uint32_t a, uint32_t b)
{
	return a == b && a != STEAL_ORDER_NOWHERE;
}

/* Whether two workers share the core (k = 0), the cache (k = 1) or the node (k
 * = 2). */
static bool shares(const sennit_cpu_place *a, const sennit_cpu_place *b,
		   uint32_t k)
{
	bool node = is_same(a->node, b->node);
	bool cache = node && is_same(a->cache, b->cache);

	switch (k) {
	case 0:
		return cache && is_same(a->core, b->core);
	case 1:
		return cache;
	default:
		return node;
	}
}

/* Append the ring of seats [begin, end), unless it equals the previous one. */
static void append_ring(struct steal_rings *c, uint32_t begin, uint32_t end)
{
	if (c->count && c->of[c->count - 1].begin == begin &&
	    c->of[c->count - 1].end == end)
		return;
	c->of[c->count].begin = begin;
	c->of[c->count].end = end;
	c->count++;
}

void sn_steal_order_rings(struct steal_rings        *c,
			  const struct topology_slot seats[], uint32_t n,
			  uint32_t seat)
{
	const sennit_cpu_place *mine = &seats[seat].place;
	uint32_t                begin = seat;
	uint32_t                end = seat + 1;

	c->seat = seat;
	c->count = 0;
	for (uint32_t k = 0; k + 1 < STEAL_ORDER_RINGS; k++) {
		while (begin > 0 && shares(&seats[begin - 1].place, mine, k))
			begin--;
		while (end < n && shares(&seats[end].place, mine, k))
			end++;
		if (end - begin > 1)
			append_ring(c, begin, end);
	}
	append_ring(c, 0, n);
}

/* --- rounds ------------------------------------------------------------- */

void sn_steal_order_begin(struct steal_tour *t, const struct steal_rings *c,
			  uint32_t random)
{
	for (uint32_t k = 0; k < c->count; k++) {
		uint32_t size = c->of[k].end - c->of[k].begin;

		t->next[k] = c->of[k].begin + random % size;
		random = random * 2654435761u + 1;
	}
}

/* Whether the seat lies in a ring inside of ring k, or is the worker's own. */
static bool is_inside_ring(const struct steal_rings *c, uint32_t k,
			   uint32_t seat)
{
	return k ? seat >= c->of[k - 1].begin && seat < c->of[k - 1].end
		 : seat == c->seat;
}

/* The number of seats of ring k that lie in no ring inside of it. */
static uint32_t new_in(const struct steal_rings *c, uint32_t k)
{
	uint32_t size = c->of[k].end - c->of[k].begin;

	return k ? size - (c->of[k - 1].end - c->of[k - 1].begin) : size - 1;
}

/* Visit up to `most` seats of ring k. The next call continues there. */
static uint32_t visit_ring(struct steal_tour *t, const struct steal_rings *c,
			   uint32_t k, const struct topology_slot seats[],
			   uint32_t extent, uint32_t most, uint32_t *steps,
			   uint32_t out[])
{
	uint32_t left = new_in(c, k);
	uint32_t at = t->next[k];
	uint32_t n = 0;

	while (n < most && left && *steps) {
		if (is_inside_ring(c, k, at)) {
			at = k ? c->of[k - 1].end : at + 1;
		} else {
			if (seats[at].worker < extent)
				out[n++] = seats[at].worker;
			at++;
			left--;
			--*steps;
		}
		if (at == c->of[k].end)
			at = c->of[k].begin;
	}
	t->next[k] = at;
	return n;
}

uint32_t sn_steal_order_round(struct steal_tour *t, const struct steal_rings *c,
			      const struct topology_slot seats[],
			      uint32_t extent, uint32_t out[STEAL_ORDER_TRIES])
{
	uint32_t steps = MOST_STEPS;
	uint32_t n = 0;

	for (uint32_t k = 0; k < c->count; k++) {
		uint32_t left = STEAL_ORDER_TRIES - n;
		uint32_t most = k + 1 < c->count ? left - left / 2 : left;

		n += visit_ring(t, c, k, seats, extent, most, &steps, out + n);
	}
	return n;
}

/* --- cpu partition -------------------------------------------------------- */

void sn_cpu_partition_sort(uint32_t cpus[], struct topology_slot slots[],
			   uint32_t copy[], uint32_t n)
{
	memcpy(copy, cpus, n * sizeof(*cpus));
	sn_steal_order_sort(slots, n);
	for (uint32_t i = 0; i < n; i++)
		cpus[i] = copy[slots[i].worker];
}

sennit_cpu_mask sn_cpu_partition_get(sennit_cpu_mask all, uint32_t i,
				     uint32_t n)
{
	size_t begin, end;

	i %= n;
	if (all.count < n)
		return (sennit_cpu_mask){ &all.cpus[i % all.count], 1 };
	begin = (size_t)((uint64_t)all.count * i / n);
	end = (size_t)((uint64_t)all.count * (i + 1) / n);
	return (sennit_cpu_mask){ &all.cpus[begin], end - begin };
}
