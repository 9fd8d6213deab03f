/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - no debugger script for FreeBSD reads the registers that a
 * signal handler gets. */
#include "sennit/debugger.h"

const struct sennit_debug_context sennit_debug_interrupted = { .machine = 0 };
