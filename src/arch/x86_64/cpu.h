/* SPDX-License-Identifier: Apache-2.0 */
/* x86_64/cpu.h - what is special in x86-64. */
#ifndef SN_X86_64_CPU_H
#define SN_X86_64_CPU_H

/* GCC's builtin fetches a shared copy unless -march names a newer processor.
 * Every 64-bit processor either executes prefetchw or ignores it. */
#define FETCH_OWN(address) \
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)(address)))

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.gregs[REG_RSP])

/* Those of macOS and FreeBSD. */
#define ARCH_DARWIN_SP(c)  ((uintptr_t)(c)->uc_mcontext->__ss.__rsp)
#define ARCH_FREEBSD_SP(c) ((uintptr_t)(c)->uc_mcontext.mc_rsp)

#endif
