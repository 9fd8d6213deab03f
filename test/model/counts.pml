/* SPDX-License-Identifier: Apache-2.0 */
/* counts.pml - how many fibers of a worker wait, as another thread counts them.
 *
 * Stands for sn_counters_blocked() and sn_counters_count_resume() of
 * src/worker/counters.h on a machine that neither keeps stores nor loads in order.
 * The owner blocks and resumes ROUNDS times and counts either; its stores become
 * visible in any order but for what a release keeps back. The reader loads both
 * counts once, in any order but for what an acquire keeps back.
 *
 * Checked: the reader never sees more resumes than blocks.
 *
 * Mutants, each of which must fail:
 *   M_STORE   the resume is stored without release
 *   M_LOAD    the resumes are loaded without acquire
 *   M_FIRST   the blocks are loaded first, with acquire
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif

/* The blocks before it are visible first. */
#ifdef M_STORE
#define IS_RELEASED true
#else
#define IS_RELEASED (blocks > resumes)
#endif

byte blocks, resumes;		/* as all see them */
byte new_blocks, new_resumes;	/* as their owner has stored them */

/* A store that is not yet visible becomes so, at any time. */
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
