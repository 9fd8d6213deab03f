/* SPDX-License-Identifier: Apache-2.0 */
/* counts.pml - the number of blocked fibers of a worker, as another thread
 * computes it.
 *
 * Models sn_counters_blocked() and sn_counters_count_resume() of
 * core/src/kernel/sched/state.h on a machine that reorders stores and loads. The owner
 * blocks and resumes ROUNDS times and counts both. Its stores become visible in
 * any order, except where a release prevents it. The reader loads both counts
 * once, in any order, except where an acquire prevents it.
 *
 * Checked: the reader never sees more resumes than blocks.
 *
 *   M_STORE   the resume is stored without release
 *   M_LOAD    the resumes are loaded without acquire
 *   M_FIRST   the blocks are loaded first, with acquire
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif

/* The earlier blocks are visible first. */
#ifdef M_STORE
#define IS_RELEASED true
#else
#define IS_RELEASED (blocks > resumes)
#endif

byte blocks, resumes;		/* as others see them */
byte new_blocks, new_resumes;	/* as their owner has stored them */

/* A pending store may become visible at any time. */
active proctype memory()
{
end:	do
	:: atomic { blocks < new_blocks -> blocks++ }
	:: atomic { resumes < new_resumes && IS_RELEASED -> resumes++ }
	od
}

active proctype owner()
{
	byte i;

	for (i : 1 .. ROUNDS) {
		new_blocks++;
		new_resumes++
	}
}

active proctype reader()
{
	byte b, r;

	if
#ifdef M_FIRST
	:: b = blocks; r = resumes
#else
	:: r = resumes; b = blocks
#ifdef M_LOAD
	:: b = blocks; r = resumes
#endif
#endif
	fi;
	assert(b >= r)
}
