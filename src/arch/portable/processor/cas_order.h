/* SPDX-License-Identifier: Apache-2.0 */
/* cas_order.h - the memory orders of compare-and-set, as
 * base/atomic.h names them. */
#ifndef SN_CAS_ORDER_H
#define SN_CAS_ORDER_H

#define RELEASE_      memory_order_release
#define ACQREL_       memory_order_acq_rel
#define ELSE_RELAXED_ memory_order_relaxed
#define ELSE_ACQUIRE_ memory_order_acquire

#endif
