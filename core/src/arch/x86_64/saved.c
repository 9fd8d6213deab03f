/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/x86_64/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

const struct sennit_debug_context arch_saved = {
	.machine = EM_X86_64,
	.pc_at = FRAME_RETURN,
	.sp_at = sizeof(struct arch_frame),
	.count = 6,
	.registers = {
		{ 3, FRAME_RBX },
		{ 6, FRAME_RBP },
		{ 12, FRAME_R12 },
		{ 13, FRAME_R13 },
		{ 14, FRAME_R14 },
		{ 15, FRAME_R15 },
	},
};
