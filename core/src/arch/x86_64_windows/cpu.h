/* SPDX-License-Identifier: Apache-2.0 */
/* x86_64_windows/cpu.h - what is special in x86-64 with Windows. */
#ifndef SN_X86_64_WINDOWS_CPU_H
#define SN_X86_64_WINDOWS_CPU_H

#include <stdint.h>

/* The unwind information of a function names its handler of exceptions in
 * another way. */
#define ARCH_BARRIER() __asm__ volatile(".seh_handler sn_cxx_barrier, @except")

/* The low end of a stack, which Windows wants to know.
 *
 * arch_start gets the top of a stack only. A note there names the low end. It
 * is written twice, the second time with all bits inverted: a stack without a
 * note has a low end of 0, which the system accepts.
 */
#define ARCH_OWN_LOW

static inline void arch_note_low(void *top, const char *low)
{
	uintptr_t *note = (uintptr_t *)top;

	note[-3] = (uintptr_t)low;
	note[-4] = ~(uintptr_t)low;
}

#include "arch/x86_64/cpu.h"

#endif
