/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - caches of 64-byte lines that are kept coherent by invalidation
 * (MESI), one per thread and without limits to their size.
 *
 * A line is exclusive in one cache, or shared by several, or in none. A read
 * of a line that others hold transfers it, and so does a write to a line that
 * others hold: the writer becomes its only holder. What was in no cache costs
 * nothing here. Only one thread runs at a time (machine.h), so nothing here
 * is atomic.
 */
#ifndef SN_TEST_LINES_H
#define SN_TEST_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_CACHES 320u /* the most threads */

struct lines_counts {
	uint64_t transfers; /* of lines between caches */
	uint64_t far;       /* of these, those between nodes */
	uint64_t hottest;   /* of these, those of the line that moved most */
};

/* Caches from `first` on, `each` by `each`, belong to one node. Caches below
 * `first` belong to the first one. 0: all belong to one. */
void lines_set_nodes(unsigned first, unsigned each);

/* Access bytes from `address` on; `pc` is where. Returns how many lines were
 * transferred. */
unsigned lines_access(unsigned cache, uintptr_t address, size_t size,
		      bool write, uintptr_t pc);

/* Forget what was counted. The caches keep their lines. */
void lines_count_anew(void);

struct lines_counts lines_counted(void);

/* Print the program counters with the most transfers, and how many. */
void lines_print_places(double operations);

#endif
