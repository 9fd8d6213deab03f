/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext_saved.h - no debugger script knows this processor. For
 * arch/portable/saved.c alone. */
#ifndef SN_UCONTEXT_SAVED_H
#define SN_UCONTEXT_SAVED_H

#include "arch/arch.h"
#include "sennit/debugger.h"

const struct sennit_debug_context arch_saved = { .machine = 0 };

#endif
