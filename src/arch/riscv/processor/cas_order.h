/* SPDX-License-Identifier: Apache-2.0 */
/* cas_order.h - the memory orders of compare-and-set on RISC-V. GCC
 * before 14 compiles one without the release, unless its order on failure would
 * release, too. */
#ifndef SN_CAS_ORDER_H
#define SN_CAS_ORDER_H

#if !defined(__clang__) && __GNUC__ < 14
#define RELEASE_      memory_order_seq_cst
#define ACQREL_       memory_order_seq_cst
#define ELSE_RELAXED_ memory_order_seq_cst
#define ELSE_ACQUIRE_ memory_order_seq_cst
#else
#define RELEASE_      memory_order_release
#define ACQREL_       memory_order_acq_rel
#define ELSE_RELAXED_ memory_order_relaxed
#define ELSE_ACQUIRE_ memory_order_acquire
#endif

#endif
