/* SPDX-License-Identifier: Apache-2.0 */
/* asm_macho.h - what asm.h is for Mach-O files, of macOS: the begin and end of
 * a function, whose symbols are C's names with an underscore.
 *
 *	FUNC name	hidden symbol, CFI begins, landing pad
 *	END name
 *
 * As there, a processor's file may define LANDING_PAD first.
 *
 * A Mach-O file has no properties, and no symbol has a type or a size.
 */
#ifndef SN_ASM_MACHO_H
#define SN_ASM_MACHO_H

#ifndef LANDING_PAD
#define LANDING_PAD
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
