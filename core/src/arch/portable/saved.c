/* SPDX-License-Identifier: Apache-2.0 */
/* saved.c - the registers in libc's ucontext of a stack that swapcontext() has
 * suspended, for the processors that the debugger scripts know. */
#include "arch/cpu.h"
#include "sennit/detail/debugger.h"

#include <stddef.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__)
#include <elf.h>

#define REGISTER_AT(r) offsetof(ucontext_t, uc_mcontext.gregs[r])

const struct sennit_debug_context arch_saved = {
	.machine = EM_X86_64,
	.pc_at = REGISTER_AT(REG_RIP),
	.sp_at = REGISTER_AT(REG_RSP),
	.sp_is_stored = 1,
	.count = 6,
	.registers = {
		{ 3, REGISTER_AT(REG_RBX) },
		{ 6, REGISTER_AT(REG_RBP) },
		{ 12, REGISTER_AT(REG_R12) },
		{ 13, REGISTER_AT(REG_R13) },
		{ 14, REGISTER_AT(REG_R14) },
		{ 15, REGISTER_AT(REG_R15) },
	},
};

#undef REGISTER_AT
#elif defined(__aarch64__) && defined(__linux__)
#include <elf.h>

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
#else
const struct sennit_debug_context arch_saved = { .machine = 0 };
#endif
