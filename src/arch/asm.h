/* SPDX-License-Identifier: Apache-2.0 */
/* asm.h - what every .S file needs around its instructions: how a function
 * begins and ends in ELF, and what the object file promises to the linker.
 *
 *	FUNC name	hidden symbol, CFI begins, landing pad
 *	END name
 *
 * Promises: the stack need not be executable, and every function that can be
 * called through a pointer begins with a landing pad (IBT on x86-64, BTI on
 * aarch64). Shadow stacks are not promised: a return to another stack would
 * fault there, so the linker must leave them off for the whole program.
 */
#ifndef SN_ASM_H
#define SN_ASM_H

#if defined(__x86_64__)
#define PROPERTY_TYPE 0xc0000002 /* GNU_PROPERTY_X86_FEATURE_1_AND */
#define PROPERTY_BITS 1          /* IBT */
#define LANDING_PAD   endbr64
#elif defined(__aarch64__)
#define PROPERTY_TYPE 0xc0000000 /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
#define PROPERTY_BITS 1          /* BTI */
#define LANDING_PAD   hint 34    /* bti c, as old assemblers know it */
#endif

	.section .note.GNU-stack, "", %progbits

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

	.macro	FUNC name
	.text
	.p2align 6
	.globl	\name
	.hidden	\name
	.type	\name, %function
\name:
	.cfi_startproc
	LANDING_PAD
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

#endif
