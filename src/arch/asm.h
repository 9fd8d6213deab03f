/* SPDX-License-Identifier: Apache-2.0 */
/* asm.h - the ELF directives that every .S file needs: the begin and end of a
 * function, and the properties of the object file.
 *
 *	FUNC name	hidden symbol, CFI begins, landing pad
 *	END name
 *
 * The properties say that the stack need not be executable, and that every
 * function that can be called through a pointer begins with a landing pad (IBT
 * on x86-64, BTI on aarch64; the other processors have no property here). The
 * file does not claim support for shadow stacks (SHSTK on x86-64, GCS on
 * aarch64). A return on another stack would fault with them, so the linker must
 * disable them for the whole program.
 *
 * The unwind tables of 32-bit ARM are not CFI. There a function is marked as
 * one that unwinding stops at, and the CFI is for debuggers.
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
#define LANDING_PAD   hint 34    /* bti c, in a form that old assemblers
				  * accept */
#else
#define LANDING_PAD
#endif

/* The unwind tables, and the state of the processor. */
#if defined(__arm__)
#define TABLE_BEGIN .fnstart
#define TABLE_END   .cantunwind; .fnend
#define STATE       .arm
#else
#define TABLE_BEGIN
#define TABLE_END
#define STATE
#endif

#if defined(__powerpc64__)
	.abiversion 2
#elif defined(__arm__)
	.cfi_sections .debug_frame
	.syntax	unified
#endif

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

#endif
