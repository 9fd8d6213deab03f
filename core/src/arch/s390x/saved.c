/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/cpu.h"
#include "arch/s390x/frame.h"
#include "sennit/detail/debugger.h"

#include <elf.h>

/* r6 to r13; and f8 to f15, in DWARF's order of their numbers. */
#define R(n)                              \
	{                                 \
		n, FRAME_R6 + ((n)-6) * 8 \
	}
#define F(number, n)                           \
	{                                      \
		number, FRAME_F8 + ((n)-8) * 8 \
	}

const struct sennit_debug_context arch_saved = {
	.machine = EM_S390,
	.pc_at = FRAME_R6 + 8 * 8,
	.sp_at = FRAME_SIZE,
	.count = 16,
	.registers = {
		R(6), R(7), R(8), R(9), R(10), R(11), R(12), R(13),
		F(24, 8), F(25, 10), F(26, 12), F(27, 14),
		F(28, 9), F(29, 11), F(30, 13), F(31, 15),
	},
};
