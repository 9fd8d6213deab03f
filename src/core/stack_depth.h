/* SPDX-License-Identifier: Apache-2.0 */
/* stack_depth.h - how deep tasks have used their stacks, by function.
 *
 *	low                                        high
 *	| paint paint paint paint | used ...        |
 *	                          ^ bottom
 *
 * A stack is painted before it is used: each word gets a value that depends on
 * its address, so that no copy of another one passes for it. The lowest word
 * that is not as painted tells how far frames have come down. Then what was
 * used is painted again, for the next task.
 *
 * The table has a place for each function, for the scheduler's life, lock-free
 * and probed linearly; functions that find none share the last place.
 */
#ifndef SN_STACK_DEPTH_H
#define SN_STACK_DEPTH_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <stdbool.h>

/* How many functions have a place of their own. */
#define STACK_DEPTH_FUNCTIONS 1024u

struct stack_depth {
	a_word function; /* any: 0 until taken, then fixed */
	a_u64  tasks;    /* any */
	a_u64  deepest;  /* any: bytes */
};

struct stack_depths {
	struct stack_depth
		of[STACK_DEPTH_FUNCTIONS + 1]; /* all zero at first */
};

/* A task of the function has used so many bytes. */
void sn_stack_depth_note(struct stack_depths *d, uintptr_t function,
			 size_t bytes);

/* Paint [low, high): whole words, of which nothing is in use. */
void sn_stack_depth_paint(char *low, char *high);

/* The same from low on up to a little below the caller's frame. */
void sn_stack_depth_paint_below(char *low);

/* The lowest word of [low, high) that is not as painted, or high. */
char *sn_stack_depth_bottom(char *low, char *high);

#endif
