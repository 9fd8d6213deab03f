/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/mips64el/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

/* s0 to s7, gp and fp. ra is the address at which the stack resumes. */
#define S(n)                               \
	{                                  \
		n, FRAME_S0 + ((n)-16) * 8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = EM_MIPS,
	.pc_at = FRAME_RA,
	.sp_at = FRAME_SIZE,
	.count = 10,
	.registers = {
		S(16), S(17), S(18), S(19), S(20), S(21), S(22), S(23),
		{ 28, FRAME_GP },
		{ 30, FRAME_FP },
	},
};
