/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.h - names of addresses in the program's code.
 *
 * In libsennit-diag.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_SYMBOL_H
#define SENNIT_SYMBOL_H

#include "sennit/base.h"

SENNIT_BEGIN

/* Write a name for the code at `address` to `text`, which has `size` bytes.
 * size must not be 0. The name is
 *   - `function+0x1f` if the program or library exports the function
 *     (-rdynamic), or if its file was not stripped; only `function` at its
 *     first byte;
 *   - `file+0x1234`, which addr2line takes, if only the file is known;
 *   - `0x1234` otherwise.
 *
 * Names are escaped as in sennit_report_print. The result is always
 * terminated; a name that does not fit is cut. The call takes the dynamic
 * loader's lock. It may read the file, and with libdw allocate. Returns the
 * length of the result.
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread,
 * while it reads a file).  */
SENNIT_API size_t sennit_symbol_print(const void *address, char *text,
				      size_t size);

SENNIT_END

#endif
