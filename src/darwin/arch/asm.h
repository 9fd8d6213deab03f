/* SPDX-License-Identifier: Apache-2.0 */
/* asm.h - takes the place of src/arch/asm.h on macOS: the begin and end of a
 * function in a Mach-O file, whose symbols are C's names with an underscore.
 *
 *	FUNC name	hidden symbol, CFI begins, landing pad
 *	END name
 *
 * As there, a processor's file may define LANDING_PAD first.
 *
 * A Mach-O file has no properties, and no symbol has a type or a size.
 */
#ifndef SN_ASM_H
#define SN_ASM_H

	.macro	FUNC name
	.text
	.p2align 6
	.globl	_\name
	.private_extern _\name
_\name:
	.cfi_startproc
	LANDING_PAD
	.endm

	.macro	END name
	.cfi_endproc
	.endm

#include "arch/entries_asm.h"

#endif
