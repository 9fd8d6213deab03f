/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the output of the run: messages, sums, summary, last line. */
#ifndef TREESUM_REPORT_H
#define TREESUM_REPORT_H

#include "entries.h"
#include "options.h"
#include "progress.h"

struct report {
	size_t       summed;
	size_t       failed;    /* names that could not be read */
	size_t       different; /* files for which sha256sum has another sum */
	uint64_t     links;     /* to directories, not followed */
	uint64_t     bytes;
	sennit_time  elapsed;
	uint32_t     workers;
	sennit_stats stats;
};

/* Print a message on standard error for each entry that needs one, and count
 * them. */
void report_messages(struct report *r, const struct entries *all);

/* Print the sums to the file, or to standard output if it is NULL.
 * Returns whether all were written. Prints the reason if not. */
bool report_sums(const struct entries *all, const char *file);

/* Print the summary on standard error. */
void report_summary(const struct report *r, const char *picture);

/* Print the last line on standard output. compared is 0, or the negative errno
 * value for which sha256sum was not run. */
void report_end(const struct report *r, const struct options *o, int compared);

#endif
