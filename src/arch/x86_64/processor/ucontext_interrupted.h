/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext_interrupted.h - where the registers that a signal handler gets lie.
 * For arch/interrupted.c alone. */
#ifndef SN_UCONTEXT_INTERRUPTED_H
#define SN_UCONTEXT_INTERRUPTED_H

#include "sennit/debugger.h"

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

#endif
