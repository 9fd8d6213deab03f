/* SPDX-License-Identifier: Apache-2.0 */
/* depth.h - how much of its stack each task used, by task function (stack
 * high-water marks).
 *
 *	low                                        high
 *	| paint paint paint paint | used ...        |
 *	                          ^ bottom
 *
 * A stack is painted before use: each word gets a value that depends on its
 * address, so that a copied word does not match. The lowest word that changed
 * shows how deep the frames reached. Then the used part is painted again for
 * the next task.
 *
 * The table has one entry per function and lives as long as the scheduler. It
 * is lock-free and probed linearly. Functions that find no free entry share the
 * last one.
 */
#ifndef SN_DEPTH_H
#define SN_DEPTH_H

#include "base/atomic.h"

#include <stddef.h>
#include <stdint.h>

/* The number of functions with an entry of their own. */
#define STACK_DEPTH_FUNCTIONS 1024u

struct stack_depth {
	a_word function; /* any: 0 until taken, then fixed */
	a_u64  tasks;    /* any */
	a_u64  deepest;  /* any: bytes */
};

struct stack_depths {
	struct stack_depth
		of[STACK_DEPTH_FUNCTIONS + 1]; /* all zeros at first */
};

/* Record that a task of `function` used `bytes` bytes of stack. */
void sn_stack_depth_note(struct stack_depths *d, uintptr_t function,
			 size_t bytes);

/* Paint [low, high). Both are multiples of the word size; nothing there may be
 * in use. */
void sn_stack_depth_paint(char *low, char *high);

/* Paint from `low` up to a little below the caller's frame. */
void sn_stack_depth_paint_below(char *low);

/* The lowest word of [low, high) that has changed, or `high`. */
char *sn_stack_depth_bottom(char *low, char *high);

#endif
