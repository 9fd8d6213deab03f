/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - what differs between processors, of the one that is the compiler's
 * target. Each has a folder with a cpu.h of its own. arch.h has the contract of
 * the switch, and the rest; without a folder it has all, and the switch is that
 * of arch/portable.
 *
 * cmake/platform.cmake and tools/amalgamate read the conditions here, to choose
 * the files of the switch.
 */
#ifndef SN_CPU_H
#define SN_CPU_H

#include "base/compiler.h"

#if defined(__x86_64__) && defined(_WIN64)
#include "arch/x86_64_windows/cpu.h"
#elif defined(__x86_64__) && defined(__LP64__)
#include "arch/x86_64/cpu.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "arch/aarch64/cpu.h"
#elif defined(__powerpc64__) && defined(_CALL_ELF) && _CALL_ELF == 2 && \
	defined(__LITTLE_ENDIAN__) && defined(__ALTIVEC__)
#include "arch/ppc64le/cpu.h"
#elif defined(__s390x__)
#include "arch/s390x/cpu.h"
#elif defined(__riscv_float_abi_double) && __riscv_xlen == 64
#include "arch/riscv64/cpu.h"
#elif defined(__i386__)
#include "arch/i386/cpu.h"
#elif defined(__ARM_PCS_VFP) && defined(__ARMEL__) && __ARM_ARCH >= 7
#include "arch/arm/cpu.h"
#elif defined(__mips_hard_float) && defined(_ABI64) && _MIPS_SIM == _ABI64 && \
	defined(__MIPSEL__)
#include "arch/mips64el/cpu.h"
#elif defined(__loongarch_double_float) && defined(__loongarch64)
#include "arch/loongarch64/cpu.h"
#elif defined(__wasm__) && defined(__EMSCRIPTEN__)
#include "arch/wasm/cpu.h"
#endif
#include "arch/arch.h"

#endif
