/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - where the registers that a signal handler gets lie, whatever
 * switches the contexts here: for the processors and the system of which
 * libsennit-diag knows the tables of frames. */
#include "sennit/detail/debugger.h"

#if defined(__x86_64__) && defined(__linux__)
#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define REGISTER_AT(r) offsetof(ucontext_t, uc_mcontext.gregs[r])

const struct sennit_debug_context sennit_debug_interrupted = {
	.machine = EM_X86_64,
	.pc_at = REGISTER_AT(REG_RIP),
	.sp_at = REGISTER_AT(REG_RSP),
	.sp_is_stored = 1,
	.count = 15,
	.registers = {
		{ 0, REGISTER_AT(REG_RAX) },
		{ 1, REGISTER_AT(REG_RDX) },
		{ 2, REGISTER_AT(REG_RCX) },
		{ 3, REGISTER_AT(REG_RBX) },
		{ 4, REGISTER_AT(REG_RSI) },
		{ 5, REGISTER_AT(REG_RDI) },
		{ 6, REGISTER_AT(REG_RBP) },
		{ 8, REGISTER_AT(REG_R8) },
		{ 9, REGISTER_AT(REG_R9) },
		{ 10, REGISTER_AT(REG_R10) },
		{ 11, REGISTER_AT(REG_R11) },
		{ 12, REGISTER_AT(REG_R12) },
		{ 13, REGISTER_AT(REG_R13) },
		{ 14, REGISTER_AT(REG_R14) },
		{ 15, REGISTER_AT(REG_R15) },
	},
};

#undef REGISTER_AT
#elif defined(__i386__) && defined(__linux__)
#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define REGISTER_AT(r) offsetof(ucontext_t, uc_mcontext.gregs[r])

const struct sennit_debug_context sennit_debug_interrupted = {
	.machine = EM_386,
	.pc_at = REGISTER_AT(REG_EIP),
	.sp_at = REGISTER_AT(REG_ESP),
	.sp_is_stored = 1,
	.count = 7,
	.registers = {
		{ 0, REGISTER_AT(REG_EAX) },
		{ 1, REGISTER_AT(REG_ECX) },
		{ 2, REGISTER_AT(REG_EDX) },
		{ 3, REGISTER_AT(REG_EBX) },
		{ 5, REGISTER_AT(REG_EBP) },
		{ 6, REGISTER_AT(REG_ESI) },
		{ 7, REGISTER_AT(REG_EDI) },
	},
};

#undef REGISTER_AT
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
