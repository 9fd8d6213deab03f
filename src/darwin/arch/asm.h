/* SPDX-License-Identifier: Apache-2.0 */
/* asm.h - takes the place of src/arch/asm.h on macOS: the begin and end of a
 * function in a Mach-O file, whose symbols are C's names with an underscore.
 *
 *	FUNC name	hidden symbol, CFI begins, landing pad
 *	END name
 *
 * A Mach-O file has no properties, and no symbol has a type or a size.
 */
#ifndef SN_ASM_H
#define SN_ASM_H

#if defined(__x86_64__)
#define LANDING_PAD endbr64
#else
#define LANDING_PAD hint 34 /* bti c */
#endif

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

#endif
