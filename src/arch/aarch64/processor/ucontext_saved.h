/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext_saved.h - where the registers of a stack that swapcontext()
 * has suspended lie. For arch/portable/saved.c alone. */
#ifndef SN_UCONTEXT_SAVED_H
#define SN_UCONTEXT_SAVED_H

#include "arch/arch.h"
#include "sennit/debugger.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define X(n)                                                 \
	{                                                    \
		n, offsetof(ucontext_t, uc_mcontext.regs[n]) \
	}

/* libc stores the address at which it resumes as x30, too. */
const struct sennit_debug_context arch_saved = {
	.machine = EM_AARCH64,
	.pc_at = offsetof(ucontext_t, uc_mcontext.regs[30]),
	.sp_at = offsetof(ucontext_t, uc_mcontext.sp),
	.sp_is_stored = 1,
	.count = 11,
	.registers = {
		X(19), X(20), X(21), X(22), X(23), X(24), X(25),
		X(26), X(27), X(28), X(29),
	},
};

#undef X

#endif
