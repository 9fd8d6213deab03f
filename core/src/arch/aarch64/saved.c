/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/aarch64/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

/* x19 to x29, and d8 to d15 by the numbers of v8 to v15. x30 is the address at
 * which the stack resumes. */
#define X(n)                                \
	{                                   \
		n, FRAME_X19 + ((n)-19) * 8 \
	}
#define D(n)                                     \
	{                                        \
		64 + (n), FRAME_D8 + ((n)-8) * 8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = EM_AARCH64,
	.pc_at = FRAME_X29 + 8,
	.sp_at = FRAME_SIZE,
	.count = 19,
	.registers = {
		X(19), X(20), X(21), X(22), X(23), X(24), X(25),
		X(26), X(27), X(28), X(29),
		D(8), D(9), D(10), D(11), D(12), D(13), D(14), D(15),
	},
};
