/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - runs this test again, in a process of its own. */
#ifndef SN_TEST_AGAIN_H
#define SN_TEST_AGAIN_H

#include <stddef.h>
#include <stdint.h>

/* The exit status of node after abort(). */
#define ABORTED 7

/* What main() was called with. The third argument, if there is one, becomes
 * the variable SENNIT_TEST_OFFENCE, because programs of WebAssembly have an
 * environment of their own. */
void note_arguments(int argc, char **argv);

/* Runs this test until it ends, with what that variable is now. `text` becomes
 * what it writes to standard error. Returns the exit status. `arguments` is
 * empty. */
uint32_t run_program_again(const char *arguments, char *text, size_t size);

/* Takes away what node writes when the program aborts. */
void drop_system_words(char *text);

#endif
