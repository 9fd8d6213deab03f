/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/arm/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

/* r4 to r11, and d8 to d15. lr is the address at which the stack resumes. */
#define R(n)                              \
	{                                 \
		n, FRAME_R4 + ((n)-4) * 4 \
	}
#define D(n)                                      \
	{                                         \
		256 + (n), FRAME_D8 + ((n)-8) * 8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = EM_ARM,
	.pc_at = FRAME_LR,
	.sp_at = FRAME_SIZE,
	.count = 16,
	.registers = {
		R(4), R(5), R(6), R(7), R(8), R(9), R(10), R(11),
		D(8), D(9), D(10), D(11), D(12), D(13), D(14), D(15),
	},
};
