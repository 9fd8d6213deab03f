/* SPDX-License-Identifier: Apache-2.0 */
/* stack_depth.c - paint shows the used depth for any contents. Each function
 * has its own entry, and further functions share the last entry.
 */
#include "testing/with_workers.h"

#include "observe/depth.h"

enum { WORDS = 512 };

static uintptr_t ground[WORDS];

static char *at(unsigned word)
{
	return (char *)&ground[word];
}

TEST(all_of_fresh_paint_is_unused)
{
	memset(ground, 0, sizeof(ground));
	sn_stack_depth_paint(at(1), at(WORDS - 1));
	assert_ptr_equal(sn_stack_depth_bottom(at(1), at(WORDS - 1)),
			 at(WORDS - 1));
	assert_true(!ground[0] && !ground[WORDS - 1]);
}

TEST(the_lowest_word_written_is_found)
{
	static const uintptr_t values[] = { 0, 1, UINTPTR_MAX };

	for (unsigned i = 0; i < 3; i++) {
		sn_stack_depth_paint(at(0), at(WORDS));
		ground[300] = ~values[i];
		ground[40] = values[i];
		assert_ptr_equal(sn_stack_depth_bottom(at(0), at(WORDS)),
				 at(40));
	}
}

TEST(a_copy_of_paint_is_no_paint)
{
	sn_stack_depth_paint(at(0), at(WORDS));
	memcpy(at(7), at(8), sizeof(ground[0]));
	assert_ptr_equal(sn_stack_depth_bottom(at(0), at(WORDS)), at(7));
}

TEST(tasks_are_counted_and_the_deepest_kept)
{
	static struct stack_depths d;
	uint64_t                   tasks = 0, deepest = 0;

	sn_stack_depth_note(&d, 77, 100);
	sn_stack_depth_note(&d, 77, 300);
	sn_stack_depth_note(&d, 77, 200);
	for (unsigned i = 0; i <= STACK_DEPTH_FUNCTIONS; i++) {
		if (a_load_rlx(&d.of[i].function) != 77)
			continue;
		tasks += a_load_rlx(&d.of[i].tasks);
		deepest += a_load_rlx(&d.of[i].deepest);
	}
	assert_int_equal(tasks, 3);
	assert_int_equal(deepest, 300);
}

TEST(those_without_a_place_share_the_last)
{
	static struct stack_depths d;
	const struct stack_depth  *last = &d.of[STACK_DEPTH_FUNCTIONS];

	for (uintptr_t f = 1; f <= STACK_DEPTH_FUNCTIONS; f++)
		sn_stack_depth_note(&d, f * 4096, f);
	assert_int_equal(a_load_rlx(&last->tasks), 0);
	for (unsigned i = 0; i < STACK_DEPTH_FUNCTIONS; i++)
		assert_int_equal(a_load_rlx(&d.of[i].tasks), 1);
	sn_stack_depth_note(&d, 3, 10);
	sn_stack_depth_note(&d, 5, 20);
	assert_int_equal(a_load_rlx(&last->tasks), 2);
	assert_int_equal(a_load_rlx(&last->deepest), 20);
	assert_int_equal(a_load_rlx(&last->function), 0);
}
