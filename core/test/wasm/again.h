/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - runs this test again, in a process of its own. */
#ifndef SN_TEST_AGAIN_H
#define SN_TEST_AGAIN_H

#include <stddef.h>
#include <stdint.h>

/* The exit status of node after abort(). */
#define ABORTED 7

/* Runs this program with these arguments until it ends. `text` becomes what it
 * writes to standard error. Returns the exit status. */
uint32_t run_program_again(const char *arguments, char *text, size_t size);

/* Takes away what node writes when the program aborts. */
void drop_system_words(char *text);

#endif
