/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - what programs with options by getopt_long() share. */
#ifndef USAGE_USAGE_H
#define USAGE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Prints to standard error what is wrong, which argument is, and where there is
 * help. Returns false. */
bool usage_wrong(const char *program, const char *what, const char *which);

/* Prints the help to standard output. Returns whether it could. */
bool usage_help(const char *help);

/* Reads a decimal number, without sign or blanks. Returns false, and *out is as
 * it was, if there is none between the bounds. */
bool usage_number(const char *text, uint32_t least, uint32_t most,
		  uint32_t *out);

/* The same at *text up to the byte `end`, behind which *text is moved. */
bool usage_number_at(const char **text, char end, uint32_t least, uint32_t most,
		     uint32_t *out);

#endif
