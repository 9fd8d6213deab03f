/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.h - the name of an address in the program's code.
 *
 * In libsennit-diag.
 */
#ifndef SENNIT_SYMBOL_H
#define SENNIT_SYMBOL_H

#include "sennit/base.h"

SENNIT_BEGIN

/* Write a name for the code at `address` to `text`, which has `size` bytes;
 * size must not be 0. The name is
 *   - `function+0x1f` if the program or library exports the function
 *     (-rdynamic) or, in a build with libdw, if its file was not stripped;
 *     `function` alone at its first byte;
 *   - `file+0x1234`, which addr2line takes, if only the file is known;
 *   - `0x1234` otherwise.
 *
 * Names are escaped as in sennit_scheduler_print_report. The result is always
 * terminated; what does not fit is left out. The call takes the dynamic
 * loader's lock; with libdw it may read the file and allocate. It must not be
 * made in a signal handler. Returns the length of the result.
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread,
 * while it reads a file).  */
SENNIT_API size_t sennit_symbol_print(const void *address, char *text,
				      size_t size);

SENNIT_END

#endif
