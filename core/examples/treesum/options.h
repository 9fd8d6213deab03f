/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line. */
#ifndef TREESUM_OPTIONS_H
#define TREESUM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRAM "sennit-treesum"

struct options {
	char      **paths;  /* ends with NULL */
	const char *output; /* NULL: standard output */
	const char *timeline;
	uint32_t    workers; /* 0: one per CPU */
	uint32_t    buffers; /* 0: three for four workers */
	bool        verify;
};

/* Read the command line into *o.
 * Returns whether to continue. If not, *status is the exit status. */
bool options_read(struct options *o, int count, char **arguments, int *status);

#endif
