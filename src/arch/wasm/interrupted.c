/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - WebAssembly has no signal that interrupts a thread. */
#include "sennit/debugger.h"

const struct sennit_debug_context sennit_debug_interrupted = { .machine = 0 };
