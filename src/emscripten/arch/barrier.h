/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - takes the place of src/arch/barrier.h with emscripten. Functions
 * of WebAssembly have no unwind information. An exception that leaves a task
 * ends the program. */
#ifndef SN_BARRIER_H
#define SN_BARRIER_H

#define ARCH_BARRIER() ((void)0)

#endif
