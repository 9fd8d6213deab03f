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

#define AT(r) offsetof(ucontext_t, uc_mcontext.gregs[r])

const struct sennit_debug_context arch_saved = {
	.machine = EM_X86_64,
	.pc_at = AT(REG_RIP),
	.sp_at = AT(REG_RSP),
	.sp_is_stored = 1,
	.count = 6,
	.registers = {
		{ 3, AT(REG_RBX) },
		{ 6, AT(REG_RBP) },
		{ 12, AT(REG_R12) },
		{ 13, AT(REG_R13) },
		{ 14, AT(REG_R14) },
		{ 15, AT(REG_R15) },
	},
};

#undef AT

#endif
