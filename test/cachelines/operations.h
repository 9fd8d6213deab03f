/* SPDX-License-Identifier: Apache-2.0 */
/* operations.h - what is counted: operations of a scheduler with so many
 * workers, on the machine of machine.h. */
#ifndef SN_TEST_OPERATIONS_H
#define SN_TEST_OPERATIONS_H

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

#endif
