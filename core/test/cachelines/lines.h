/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - cache lines, the machine that counts them, the operations. */
#ifndef SN_TEST_LINES_H
#define SN_TEST_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- lines ------------------------------------------------------------- */

/* Caches of 64-byte lines that are kept coherent by invalidation
 * (MESI), one per thread and without limits to their size.
 *
 * A line is exclusive in one cache, or shared by several, or in none. A read
 * of a line that others hold transfers it, and so does a write to a line that
 * others hold: the writer becomes its only holder. What was in no cache costs
 * nothing here. Only one thread runs at a time (machine.h), so nothing here
 * is atomic. */

#define LINES_CACHES 320u /* the most threads */

struct lines_counts {
	uint64_t transfers; /* of lines between caches */
	uint64_t far;       /* of these, those between nodes */
	uint64_t hottest;   /* of these, those of the line that moved most */
	uint64_t touched;   /* lines, by whatever cache */
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
void lines_print_places(double rounds);

/* --- machine ----------------------------------------------------------- */

/* A machine with a processor and a cache for each thread, which
 * runs the library one thread at a time.
 *
 * Implements base/torture.h in place of base/determinism.c. Each thread
 * has a clock. At each point the thread whose clock is lowest goes on. A clock
 * advances with what its thread does: accesses (those that transfer a line take
 * longer), pauses, wakes, machine_work(). So a run depends on nothing but the
 * program, and the threads do as much in a microsecond as on a machine with a
 * processor for each.
 *
 * hooks.c tells this of each access to memory of code that was compiled with
 * -fsanitize=thread. */

/* An access by the calling thread. `pc` is where. */
void machine_access(const volatile void *address, size_t size, bool write,
		    uintptr_t pc);

/* The calling thread computes for so many nanoseconds. */
void machine_work(uint64_t ns);

/* --- operations -------------------------------------------------------- */

/* What is counted: operations of a scheduler with so many
 * workers, on the machine of machine.h. */

struct operation {
	const char *name;
	/* Runs the operation some times; calls lines_count_anew() when all is
	 * warm. Returns how often it ran since. */
	unsigned (*run)(unsigned workers);
	double most; /* transfers for one, with MANY workers */
};

/* The number of workers of the bound. */
#define MANY 64u

extern const struct operation operations[];
extern const unsigned         operation_count;

/* --- waits ------------------------------------------------------------- */

/* How many lines of its own a fiber and its waker touch when it is woken from
 * such a wait and waits again. What the compiler keeps in frames is not seen:
 * three lines of the stack more. */
struct wait {
	const char *name;
	void (*wait)(unsigned round); /* of each fiber; rounds are 0 and 1 by
				       * turns */
	void (*wake)(unsigned round); /* of all fibers */
	double most;                  /* lines */
};

extern const struct wait waits[];
extern const unsigned    wait_count;

double wait_lines(const struct wait *w);

#endif
