/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - the dump that the environment turns on. */
#ifndef SN_DUMP_H
#define SN_DUMP_H

#include "sennit/dump.h"

/* Write dumps to standard error when the signal of this name comes, until the
 * program starts a dump of its own. NULL: that of SENNIT_DUMP_SIGNAL, or QUIT.
 * The name may be followed by a colon and that of a format (diag/stacks.h).
 * Returns what sennit_dump_start returns. */
SENNIT_MUST_USE int sn_dump_lend(const char *signal);

#endif
