/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - searches one file in a task.
 *
 *	walk --search--> look for lines (a task) --ticket--> print, in order
 *	  ^                                                |
 *	  +------------------ spare searches --------------+
 *
 * A search has its buffer and its matcher. The walk takes searches from a
 * channel in the order of their tickets. So the file whose turn is next always
 * has one, and the others wait for it.
 */
#ifndef GREP_SEARCH_H
#define GREP_SEARCH_H

#include "grep/options.h"
#include "grep/output.h"
#include "grep/pattern.h"

#include <sennit.h>

#include <stdatomic.h>

struct search;

/* What all tasks share. */
struct run {
	struct options      options;
	struct pattern     *pattern;
	struct output       output;
	sennit_group        group;
	sennit_ticket_queue order;
	sennit_channel      spare; /* struct search * */
	struct search     **searches;
	uint32_t            search_count;
	atomic_bool         matched;
	atomic_bool         failed;  /* something could not be read */
	int                 written; /* 0 or why not; whose turn it is */
};

/* Prints the reason, and makes the exit status 2. */
void run_failed(struct run *run, const char *name, const char *why);

/* Make as many searches as may be under way. Returns 0 or -ENOMEM. */
int  searches_init(struct run *run, uint32_t count);
void searches_free(struct run *run);

/* Searches the file at `path`, or standard input if that is "-", as the next in
 * order. The path is copied. Links are followed if the user has named them.
 * Returns 0, or an error with which the walk ends. */
int search_start(struct run *run, const char *path, bool is_named);

#endif
