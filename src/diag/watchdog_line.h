/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog_line.h - the line of a watchdog about one suspect. */
#ifndef SN_WATCHDOG_LINE_H
#define SN_WATCHDOG_LINE_H

#include "diag/suspects.h"

/* Write the line of *n, which has lasted for `lasted`. */
void sn_watchdog_line_write(sennit_scheduler              *s,
			    const sennit_watchdog_options *options,
			    const struct suspect *n, sennit_time lasted);

#endif
