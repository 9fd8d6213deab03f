/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of sennit-grep. */
#ifndef GREP_OPTIONS_H
#define GREP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRAM "sennit-grep"

struct options {
	const char *pattern;
	uint32_t    workers; /* 0: one per CPU */
	bool        fixed;
	bool        ignore_case;
	bool        words;
	bool        recursive;
	bool        numbers;
	bool        count;
	bool        list;
	bool        names;   /* print the name before each line */
	bool        is_here; /* the only path is the working folder, by
			      * default */
	char      **paths;   /* ends with NULL */
};

/* Read the command line. Returns whether the program should continue. Otherwise
 * *status is its exit status. */
bool options_read(struct options *o, int count, char **arguments, int *status);

#endif
