/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/loongarch64/frame.h"
#include "sennit/detail/debugger.h"

/* Since glibc 2.36 in elf.h; here for older ones. */
enum { MACHINE_LOONGARCH = 258 };

/* fp and s0 to s8. ra is the address at which the stack resumes. */
#define S(n)                               \
	{                                  \
		n, FRAME_FP + ((n)-22) * 8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = MACHINE_LOONGARCH,
	.pc_at = FRAME_RA,
	.sp_at = FRAME_SIZE,
	.count = 10,
	.registers = {
		S(22), S(23), S(24), S(25), S(26),
		S(27), S(28), S(29), S(30), S(31),
	},
};
