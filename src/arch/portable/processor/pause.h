/* SPDX-License-Identifier: Apache-2.0 */
/* pause.h - a hint that this is a spin loop: there is none, but the
 * compiler must read memory anew. */
#ifndef SN_PAUSE_H
#define SN_PAUSE_H

#define PAUSE() atomic_signal_fence(memory_order_seq_cst)

#endif
