/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - searches one file in a task.
 *
 *	walk --search--> look for lines (a task) --ticket--> print, in order
 *	  ^                                                |
 *	  +------------------ spare searches --------------+
 *
 * Each search has a buffer and a matcher. The walk takes spare searches from a
 * channel in the order of the tickets. So the file whose turn is next always
 * has a search, and the others wait for it.
 */
#ifndef GREP_SEARCH_H
#define GREP_SEARCH_H

#include "grep/options.h"
#include "grep/output.h"
#include "grep/pattern.h"

#include <sennit.h>

#include <stdatomic.h>

struct search;

/* The state that all tasks share. */
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
	atomic_bool         failed;  /* a file could not be read */
	int                 written; /* 0 or the write error; owned by the
				      * search whose turn it is */
};

/* Print the reason, and set the exit status to 2. */
void run_failed(struct run *run, const char *name, const char *why);

/* Make `count` searches, the maximum in progress. Returns 0 or -ENOMEM. */
int  searches_init(struct run *run, uint32_t count);
void searches_free(struct run *run);

/* Search the file at `path`, or standard input if that is "-", next in order.
 * The path is copied. Links are followed if the user has named the file.
 * Returns 0, or an error that ends the walk. */
int search_start(struct run *run, const char *path, bool is_named);

#endif
