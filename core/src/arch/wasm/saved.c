/* SPDX-License-Identifier: Apache-2.0 */
/* saved.c - no debugger script knows the frames that Asyncify writes. */
#include "arch/cpu.h"
#include "sennit/detail/debugger.h"

const struct sennit_debug_context arch_saved = { .machine = 0 };
