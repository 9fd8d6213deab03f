/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/cpu.h - what is special in WebAssembly. */
#ifndef SN_WASM_CPU_H
#define SN_WASM_CPU_H

#include <stdint.h>

/* Functions have no unwind information. An exception that leaves a task ends
 * the program. */
#define ARCH_BARRIER() ((void)0)

/* A suspended stack keeps the frames of the machine in what is free, and they
 * need more room than those of C. */
#define ARCH_LEAVE(size) ((size) / 8 * 7)

/* WebAssembly has no floating-point control: it rounds to nearest, and
 * nothing traps. */
#define ARCH_OWN_FP

static inline uint64_t arch_fp_control(void)
{
	return 0;
}

static inline void arch_fp_set_control(uint64_t control)
{
	(void)control;
}

/* The low end of a stack, which a switch of WebAssembly needs: what
 * suspends a stack writes the frames of the machine there.
 *
 * arch_start gets the top of a stack only. A note there names the low end. It
 * is written twice, the second time with all bits inverted: without a note a
 * stack has ARCH_STACK_MIN bytes.
 */
#define ARCH_OWN_LOW

/* Bytes below the top that a note takes; the stack begins below them. */
#define LOW_NOTE 16

static inline void arch_note_low(void *top, const char *low)
{
	uintptr_t *note = (uintptr_t *)top;

	note[-1] = (uintptr_t)low;
	note[-2] = ~(uintptr_t)low;
}

#endif
