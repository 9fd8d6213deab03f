/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - what arch/barrier.h puts into a function. */
#ifndef SN_PROCESSOR_BARRIER_H
#define SN_PROCESSOR_BARRIER_H

#define ARCH_BARRIER_SPEAKS
#define ARCH_BARRIER() \
	__asm__ volatile(".cfi_personality 0x1b, sn_cxx_personality")

#endif
