/* SPDX-License-Identifier: Apache-2.0 */
/* i386/cpu.h - what is special in i386. */
#ifndef SN_I386_CPU_H
#define SN_I386_CPU_H

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.gregs[REG_ESP])

#include "arch/x86_64/cpu.h"

#endif
