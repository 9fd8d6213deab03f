/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - takes the place of src/arch/barrier.h on Windows, where the
 * unwind information of a function names its handler of exceptions in another
 * way. */
#ifndef SN_BARRIER_H
#define SN_BARRIER_H

#define ARCH_BARRIER() __asm__ volatile(".seh_handler sn_cxx_barrier, @except")

#endif
