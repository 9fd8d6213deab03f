/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext_interrupted.h - no debugger script knows this processor. For
 * arch/interrupted.c alone. */
#ifndef SN_UCONTEXT_INTERRUPTED_H
#define SN_UCONTEXT_INTERRUPTED_H

#include "sennit/debugger.h"

const struct sennit_debug_context sennit_debug_interrupted = { .machine = 0 };

#endif
