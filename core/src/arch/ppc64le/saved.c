/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/ppc64le/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

/* r14 to r31. A backtrace needs none of the others. */
#define R(n)                                \
	{                                   \
		n, FRAME_R14 + ((n)-14) * 8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = EM_PPC64,
	.pc_at = FRAME_SIZE + HEADER_LR,
	.sp_at = FRAME_SIZE,
	.count = 18,
	.registers = {
		R(14), R(15), R(16), R(17), R(18), R(19),
		R(20), R(21), R(22), R(23), R(24), R(25),
		R(26), R(27), R(28), R(29), R(30), R(31),
	},
};
