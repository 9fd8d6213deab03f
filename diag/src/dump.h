/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - dumps that the environment turns on. */
#ifndef SN_DUMP_H
#define SN_DUMP_H

#include "sennit/dump.h"

/* Write dumps to standard error when the signal of this name comes, until the
 * program starts its own dump. NULL: the signal of SENNIT_DUMP_SIGNAL, or QUIT.
 * The name may be followed by a colon and the name of a format
 * (diag/src/stacks.h). Returns what sennit_dump_start returns. */
SENNIT_MUST_USE int sn_dump_lend(const char *signal);

#endif
