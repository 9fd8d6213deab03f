/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext_interrupted.h - where the registers that a signal handler gets lie.
 * For arch/interrupted.c alone. */
#ifndef SN_UCONTEXT_INTERRUPTED_H
#define SN_UCONTEXT_INTERRUPTED_H

#include "sennit/debugger.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define X(n)                                                 \
	{                                                    \
		n, offsetof(ucontext_t, uc_mcontext.regs[n]) \
	}

const struct sennit_debug_context sennit_debug_interrupted = {
	.machine = EM_AARCH64,
	.pc_at = offsetof(ucontext_t, uc_mcontext.pc),
	.sp_at = offsetof(ucontext_t, uc_mcontext.sp),
	.sp_is_stored = 1,
	.count = 13,
	.registers = {
		X(16), X(19), X(20),
		X(21), X(22), X(23),
		X(24), X(25), X(26),
		X(27), X(28), X(29),
		X(30),
	},
};

#undef X

#endif
