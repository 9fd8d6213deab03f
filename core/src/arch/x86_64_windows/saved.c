/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/x86_64_windows/frame.h"
#include "sennit/detail/debugger.h"

enum { MACHINE_X86_64 = 62 }; /* EM_X86_64 of ELF */

extern const struct sennit_debug_context arch_saved;

const struct sennit_debug_context arch_saved = {
	.machine = MACHINE_X86_64,
	.pc_at = FRAME_RETURN,
	.sp_at = FRAME_RETURN + 8,
	.count = 8,
	.registers = {
		{ 3, FRAME_RBX },
		{ 4, FRAME_RSI },
		{ 5, FRAME_RDI },
		{ 6, FRAME_RBP },
		{ 12, FRAME_R12 },
		{ 13, FRAME_R13 },
		{ 14, FRAME_R14 },
		{ 15, FRAME_R15 },
	},
};
