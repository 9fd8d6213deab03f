/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/i386/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

const struct sennit_debug_context arch_saved = {
	.machine = EM_386,
	.pc_at = FRAME_RETURN,
	.sp_at = sizeof(struct arch_frame),
	.count = 4,
	.registers = {
		{ 3, FRAME_EBX },
		{ 5, FRAME_EBP },
		{ 6, FRAME_ESI },
		{ 7, FRAME_EDI },
	},
};
