/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - 32-bit ARM has unwind tables of another kind. There the
 * search ends without a message where the fiber's stack begins: std::terminate
 * is called, too. */
#ifndef SN_PROCESSOR_BARRIER_H
#define SN_PROCESSOR_BARRIER_H

#define ARCH_BARRIER() ((void)0)

#endif
