/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - takes the place of src/arch/barrier.h on macOS. Nothing stops the
 * search for a handler there: an exception that leaves a task ends the process
 * where the frames of the stack end. */
#ifndef SN_BARRIER_H
#define SN_BARRIER_H

#define ARCH_BARRIER() ((void)0)

#endif
