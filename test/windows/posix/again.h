/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - runs this program again. It includes no header of Windows, because
 * those declare names that tests have as their own. */
#ifndef SN_TEST_AGAIN_H
#define SN_TEST_AGAIN_H

#include <stddef.h>
#include <stdint.h>

/* Runs this program with these arguments until it ends. `text` becomes what it
 * writes to standard error. Returns the exit status. */
uint32_t run_program_again(const char *arguments, char *text, size_t size);

#endif
