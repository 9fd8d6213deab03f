/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - contexts by fibers of emscripten keep variables, at any depth, and
 * a stack can be started again. As core/test/unit/switch.c, which fills
 * registers, does for processors. */
#include "testing/test.h"

#include "arch/cpu.h"

#include <stdlib.h>
#include <string.h>

#define SIZE ((size_t)64 * 1024)

struct pair {
	arch_stack main, other;
	char      *low, *top;
	uint64_t   sum;
	int        depth, rounds, starts;
};

static int set_up(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->low = aligned_alloc(4096, SIZE);
	p->top = p->low + SIZE;
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	free(p->low);
	free(p);
	return 0;
}

#define TEST_OF_PAIR(f)                 \
	TEST_ENTRIES(f, struct pair *p, \
		     { #f, f##_case, set_up, tear_down, NULL })

static void start(struct pair *p, arch_entry *entry)
{
	arch_note_low(p->top, p->low);
	arch_start(&p->main, p->top, entry, p, 0);
}

/* Values of four types live across a switch in each frame. */
__attribute__((noinline)) static uint64_t descend(struct pair *p, int depth)
{
	int      i = depth;
	uint64_t l = (uint64_t)depth << 33;
	float    f = (float)depth / 4;
	double   d = (double)depth / 8;
	uint64_t below = 0;

	if (depth)
		below = descend(p, depth - 1);
	else
		arch_switch(&p->other, p->main);
	assert_int_equal(i, depth);
	assert_true(l == (uint64_t)depth << 33);
	assert_true(f == (float)depth / 4);
	assert_true(d == (double)depth / 8);
	return below + 1;
}

static arch_stack wander(void *argument)
{
	struct pair *p = argument;

	p->starts++;
	for (int i = 0; i < p->rounds; i++)
		p->sum += descend(p, p->depth);
	return p->main;
}

static void go_through(struct pair *p, int depth, int rounds)
{
	p->depth = depth;
	p->rounds = rounds;
	p->sum = 0;
	start(p, wander);
	for (int i = 0; i < rounds; i++)
		arch_switch(&p->main, p->other);
	assert_int_equal(p->sum, (uint64_t)rounds * (uint64_t)(depth + 1));
}

TEST_OF_PAIR(variables_survive_at_any_depth)
{
	go_through(p, 0, 1000);
	go_through(p, 1, 100);
	go_through(p, 50, 100);
	go_through(p, 150, 10);
	assert_int_equal(p->starts, 4);
}

/* Also if the starter has frames of its own. */
__attribute__((noinline)) static int start_below(struct pair *p, int depth)
{
	const int mine = depth * 7;

	if (depth)
		return start_below(p, depth - 1) + mine;
	go_through(p, 3, 2);
	return mine;
}

TEST_OF_PAIR(starter_keeps_its_frames)
{
	assert_int_equal(start_below(p, 20), 7 * 20 * 21 / 2);
}

static arch_stack note_address(void *argument)
{
	struct pair *p = argument;
	char         here = 1;

	p->sum = (uintptr_t)&here;
	arch_switch(&p->other, p->main);
	return p->main;
}

/* Frames of the machine are written below the address of the variable, and do
 * not reach the stack's neighbours. */
TEST_OF_PAIR(only_the_stack_is_written)
{
	char *block = aligned_alloc(4096, SIZE + 2 * 4096);

	memset(block, 0x5a, SIZE + 2 * 4096);
	free(p->low);
	p->low = block + 4096;
	p->top = p->low + SIZE;
	start(p, note_address);
	assert_in_range(p->sum, (uintptr_t)p->low, (uintptr_t)p->top);
	arch_switch(&p->main, p->other);
	for (int i = 0; i < 4096; i++) {
		assert_int_equal(block[i], 0x5a);
		assert_int_equal(p->top[i], 0x5a);
	}
	p->low = block;
}
