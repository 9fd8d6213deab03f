/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/riscv64/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

/* s0, s1 and s2 to s11, which are x8, x9 and x18 to x27. ra is the address at
 * which the stack resumes. */
#define S(x, n)                     \
	{                           \
		x, FRAME_S0 + (n)*8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = EM_RISCV,
	.pc_at = FRAME_RA,
	.sp_at = FRAME_SIZE,
	.count = 12,
	.registers = {
		S(8, 0), S(9, 1), S(18, 2), S(19, 3), S(20, 4), S(21, 5),
		S(22, 6), S(23, 7), S(24, 8), S(25, 9), S(26, 10), S(27, 11),
	},
};
