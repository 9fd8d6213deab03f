/* SPDX-License-Identifier: Apache-2.0 */
/* saved_none.c - where no debugger script reads the frames of the switch, as on
 * macOS. */
#include "arch/cpu.h"
#include "sennit/debugger.h"

const struct sennit_debug_context arch_saved = { .machine = 0 };
