/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - where the registers that a signal handler gets lie, whatever
 * switches the contexts here: for the processors and the system that the
 * debugger scripts know. */
#include "sennit/debugger.h"

#if defined(__x86_64__) && defined(__linux__)
#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define AT(r) offsetof(ucontext_t, uc_mcontext.gregs[r])

const struct sennit_debug_context sennit_debug_interrupted = {
	.machine = EM_X86_64,
	.pc_at = AT(REG_RIP),
	.sp_at = AT(REG_RSP),
	.sp_is_stored = 1,
	.count = 15,
	.registers = {
		{ 0, AT(REG_RAX) },
		{ 1, AT(REG_RDX) },
		{ 2, AT(REG_RCX) },
		{ 3, AT(REG_RBX) },
		{ 4, AT(REG_RSI) },
		{ 5, AT(REG_RDI) },
		{ 6, AT(REG_RBP) },
		{ 8, AT(REG_R8) },
		{ 9, AT(REG_R9) },
		{ 10, AT(REG_R10) },
		{ 11, AT(REG_R11) },
		{ 12, AT(REG_R12) },
		{ 13, AT(REG_R13) },
		{ 14, AT(REG_R14) },
		{ 15, AT(REG_R15) },
	},
};

#undef AT
#elif defined(__aarch64__) && defined(__linux__)
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
#else
const struct sennit_debug_context sennit_debug_interrupted = { .machine = 0 };
#endif
