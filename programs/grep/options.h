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
	bool        names;   /* before each line */
	bool        is_here; /* the one path is that of the working folder, and
			      * nobody has named it */
	char      **paths;   /* ends with NULL */
};

/* Returns whether the program is to go on. Otherwise *status is its exit
 * status. */
bool options_read(struct options *o, int count, char **arguments, int *status);

#endif
