/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_BITS  6
#define TABLE_BITS 20 /* of lines, and of places */
#define TABLE_SIZE (1u << TABLE_BITS)
#define WORDS      (LINES_CACHES / 64)
#define PLACES     24 /* printed */

struct line {
	uintptr_t number; /* 0: free */
	uint64_t  holders[WORDS];
	bool      exclusive; /* its one holder may write it */
	uint64_t  moved;
	bool      touched;
};

struct place {
	uintptr_t pc;
	uint64_t  transfers;
};

static struct line         lines[TABLE_SIZE];
static struct place        places[TABLE_SIZE];
static struct lines_counts counted;
static unsigned            node_first, node_each;

static uint32_t hash(uintptr_t key)
{
	return (uint32_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - TABLE_BITS));
}

static struct line *find_line(uintptr_t number)
{
	uint32_t at = hash(number);

	for (unsigned n = 0; n < TABLE_SIZE; n++) {
		struct line *l = &lines[(at + n) % TABLE_SIZE];

		if (!l->number)
			l->number = number;
		if (l->number == number)
			return l;
	}
	fprintf(stderr, "cachelines: more than %u lines\n", TABLE_SIZE);
	abort();
}

static void note_place(uintptr_t pc)
{
	uint32_t at = hash(pc);

	while (places[at].pc && places[at].pc != pc)
		at = (at + 1) % TABLE_SIZE;
	places[at].pc = pc;
	places[at].transfers++;
}

static unsigned node_of(unsigned cache)
{
	return !node_each || cache < node_first
		       ? 0
		       : (cache - node_first) / node_each;
}

static bool holds(const struct line *l, unsigned cache)
{
	return l->holders[cache / 64] >> cache % 64 & 1;
}

/* Whether the line comes from another node (a read: from no cache of this one;
 * a write: or has to be taken from a cache there). */
static bool is_far(const struct line *l, unsigned cache, bool write)
{
	bool near = false, far = false;

	if (!node_each)
		return false;
	for (unsigned other = 0; other < LINES_CACHES; other++) {
		if (other == cache || !holds(l, other))
			continue;
		if (node_of(other) == node_of(cache))
			near = true;
		else
			far = true;
	}
	return write ? far : !near;
}

static bool is_held_by_others(const struct line *l, unsigned cache)
{
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t held = l->holders[i];

		if (i == cache / 64)
			held &= ~(UINT64_C(1) << cache % 64);
		if (held)
			return true;
	}
	return false;
}

static bool transfer(struct line *l, unsigned cache, bool write)
{
	bool others = is_held_by_others(l, cache);

	if (others) {
		counted.transfers++;
		counted.far += is_far(l, cache, write);
		l->moved++;
		if (l->moved > counted.hottest)
			counted.hottest = l->moved;
	}
	if (write)
		for (unsigned i = 0; i < WORDS; i++)
			l->holders[i] = 0;
	l->holders[cache / 64] |= UINT64_C(1) << cache % 64;
	l->exclusive = write || !others;
	return others;
}

unsigned lines_access(unsigned cache, uintptr_t address, size_t size,
		      bool write, uintptr_t pc)
{
	uintptr_t end = (address + (size ? size : 1) - 1) >> LINE_BITS;
	unsigned  moved = 0;

	for (uintptr_t n = address >> LINE_BITS; n <= end; n++) {
		struct line *l = find_line(n);

		counted.touched += !l->touched;
		l->touched = true;
		if (holds(l, cache) && (!write || l->exclusive))
			continue;
		if (transfer(l, cache, write)) {
			note_place(pc);
			moved++;
		}
	}
	return moved;
}

void lines_set_nodes(unsigned first, unsigned each)
{
	node_first = first;
	node_each = each;
}

void lines_count_anew(void)
{
	counted = (struct lines_counts){ 0 };
	for (uint32_t i = 0; i < TABLE_SIZE; i++) {
		lines[i].moved = 0;
		lines[i].touched = false;
		places[i] = (struct place){ 0 };
	}
}

struct lines_counts lines_counted(void)
{
	return counted;
}

static int more(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->transfers < b->transfers) - (a->transfers > b->transfers);
}

void lines_print_places(double rounds)
{
	struct place *sorted = malloc(sizeof(places));

	if (!sorted)
		return;
	for (uint32_t i = 0; i < TABLE_SIZE; i++)
		sorted[i] = places[i];
	qsort(sorted, TABLE_SIZE, sizeof(*sorted), more);
	for (unsigned i = 0; i < PLACES && sorted[i].transfers; i++)
		printf("0x%" PRIxPTR " %8.2f\n", sorted[i].pc,
		       (double)sorted[i].transfers / rounds);
	free(sorted);
}
