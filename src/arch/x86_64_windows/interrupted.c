/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - Windows has no ucontext_t, so there is nothing to
 * describe. */
#include "sennit/debugger.h"

const struct sennit_debug_context sennit_debug_interrupted = { .machine = 0 };
