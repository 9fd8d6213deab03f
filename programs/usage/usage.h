/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - functions for programs that use getopt_long(). */
#ifndef USAGE_USAGE_H
#define USAGE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Print what is wrong, with which argument, and how to get help, to standard
 * error. Returns false. */
bool usage_wrong(const char *program, const char *what, const char *which);

/* Print the help to standard output. Returns whether that succeeded. */
bool usage_help(const char *help);

/* Read a decimal number without sign or blanks. Returns false and leaves *out
 * unchanged if there is none, or it is out of bounds. */
bool usage_number(const char *text, uint32_t least, uint32_t most,
		  uint32_t *out);

/* The same for the text at *text up to the byte `end`. Moves *text past that
 * byte. */
bool usage_number_at(const char **text, char end, uint32_t least, uint32_t most,
		     uint32_t *out);

#endif
