/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - counters of the run, and a line that shows them. */
#ifndef TREESUM_PROGRESS_H
#define TREESUM_PROGRESS_H

#include <sennit.h>

#include <stdbool.h>

typedef _Atomic(uint64_t) counter;

struct progress {
	bool        is_shown; /* standard error is a terminal */
	sennit_time begin;
	counter     found; /* files */
	counter     done;  /* files, of those found */
	counter     bytes;
	counter     links; /* to directories, not followed */
};

/* Relaxed: no conclusion is drawn from one counter about another. */
static inline void progress_count(counter *c, uint64_t n)
{
	atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static inline uint64_t progress_read(const counter *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

void progress_init(struct progress *p);

/* Wait until `tasks` is zero, and show the progress meanwhile. */
void progress_wait(struct progress *p, sennit_wait_group *tasks);

/* Show how many of all files have been compared. */
void progress_compared(const struct progress *p, size_t done, size_t all);

/* Remove the line. */
void progress_clear(const struct progress *p);

/* Write n into text, with commas between thousands: "12,345". */
#define NUMBER_SIZE 32
const char *progress_number(char text[NUMBER_SIZE], uint64_t n);

/* Write n bytes into text, with a unit: "1.3 GB". */
const char *progress_bytes(char text[NUMBER_SIZE], double n);

#endif
