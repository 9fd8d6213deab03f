/* SPDX-License-Identifier: Apache-2.0 */
/* asm.h - what every .S file needs: the ELF directives at the begin and end of
 * a function, the properties of the object file, and entries_asm.h.
 *
 *	FUNC name	hidden symbol, CFI begins, landing pad
 *	END name
 *
 * A processor's .S file may define before it includes this:
 *
 *	LANDING_PAD	the instruction with which a function begins that can be
 *			called through a pointer
 *	PROPERTY_TYPE, PROPERTY_BITS
 *			the property of the object file that says so (IBT on
 *			x86-64, BTI on aarch64)
 *	FILE_BEGIN	directives before all others
 *	STATE		a directive before each function
 *	TABLE_BEGIN, TABLE_END
 *			of an unwind table that is not CFI
 *
 * The properties also say that the stack need not be executable. The file does
 * not claim support for shadow stacks (SHSTK on x86-64, GCS on aarch64). A
 * return on another stack would fault with them, so the linker must disable
 * them for the whole program.
 */
#ifndef SN_ASM_H
#define SN_ASM_H

#ifndef LANDING_PAD
#define LANDING_PAD
#endif
#ifndef FILE_BEGIN
#define FILE_BEGIN
#endif
#ifndef STATE
#define STATE
#endif
#ifndef TABLE_BEGIN
#define TABLE_BEGIN
#define TABLE_END
#endif

	FILE_BEGIN
	.section .note.GNU-stack, "", %progbits

#ifdef PROPERTY_TYPE
	.section .note.gnu.property, "a", %note
	.p2align 3
	.long	4		/* size of the name */
	.long	16		/* size of the description */
	.long	5		/* NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	PROPERTY_TYPE
	.long	4
	.long	PROPERTY_BITS
	.long	0		/* padding */
#endif

	.macro	FUNC name
	.text
	STATE
	.p2align 6
	.globl	\name
	.hidden	\name
	.type	\name, %function
\name:
	TABLE_BEGIN
	.cfi_startproc
	LANDING_PAD
	.endm

	.macro	END name
	.cfi_endproc
	TABLE_END
	.size	\name, . - \name
	.endm

#include "arch/entries_asm.h"

#endif
