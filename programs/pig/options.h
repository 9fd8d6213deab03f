/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of sennit-pig. */
#ifndef PIG_OPTIONS_H
#define PIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM "sennit-pig"

struct options {
	int      level;   /* 1 to 9 */
	uint32_t workers; /* 0: one per CPU */
	size_t   block;   /* bytes of input that one task compresses */
	bool     decompress;
	bool     test;
	bool     to_stdout;
	bool     keep;
	bool     force;
	bool     verbose;
	bool     nameless; /* neither name nor time in the header */
	char   **files;    /* ends with NULL */
};

/* Read the command line. Returns whether the program should continue. Otherwise
 * *status is its exit status. */
bool options_read(struct options *o, int count, char **arguments, int *status);

#endif
