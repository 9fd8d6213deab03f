/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - runs this program again. It includes no header of Windows, because
 * those declare names that tests have as their own. */
#ifndef SN_TEST_AGAIN_H
#define SN_TEST_AGAIN_H

#include "posix.h"

#include <stddef.h>
#include <stdint.h>

/* The exit status of abort(). */
#define ABORTED 3

/* Runs this program with these arguments until it ends. `text` becomes what it
 * writes to standard error. Returns the exit status. */
uint32_t run_program_again(const char *arguments, char *text, size_t size);

/* Takes away what the C library adds: a carriage return before each end of a
 * line, and words of its own when it aborts. */
void drop_system_words(char *text);

#endif
