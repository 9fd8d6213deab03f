/* SPDX-License-Identifier: Apache-2.0 */
/* atomic.h - every atomic operation of the library.
 *
 * The memory order is part of the name, and there is no default. The types are
 * structs, so that `d->bottom++`, which C11 makes sequentially consistent
 * without saying so, does not compile. Every ordered operation names its edge
 * at the end of its line:
 *
 *	->  publishes (says what becomes visible)
 *	<-  observes
 *	<-> is one half of a store/load pair separated by fences
 *
 * tools/check-edges checks that both ends of each edge exist. Relaxed
 * operations need no edge. A relaxed load that decides something says why a
 * stale value is harmless.
 */
#ifndef SN_ATOMIC_H
#define SN_ATOMIC_H

#include "base/compiler.h"
#include "base/torture.h"
#include "arch/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
	_Atomic(uint32_t) value_;
} a_u32;
typedef struct {
	_Atomic(uint64_t) value_;
} a_u64;
typedef struct {
	_Atomic(uintptr_t) value_;
} a_word;
typedef struct {
	_Atomic(void *) value_;
} a_ptr;

/* Valgrind's helgrind recognises neither atomic operations nor the order that
 * they establish. In builds with SENNIT_HELGRIND each operation tells helgrind
 * both. In all other builds these macros expand to the operation alone. */
#ifdef SENNIT_HELGRIND
#include <valgrind/helgrind.h>
#define ATOMICS_ARE_TOLD true
#define TOLD_(x, operation)                                      \
	__extension__({                                          \
		VALGRIND_HG_DISABLE_CHECKING((x), sizeof(*(x))); \
		operation;                                       \
	})
#define TOLD_REL_(x, operation)             \
	__extension__({                     \
		ANNOTATE_HAPPENS_BEFORE(x); \
		TOLD_(x, operation);        \
	})
#define TOLD_ACQ_(x, operation)                                      \
	__extension__({                                              \
		__typeof__(operation) result_ = TOLD_(x, operation); \
		ANNOTATE_HAPPENS_AFTER(x);                           \
		result_;                                             \
	})
#define TOLD_ACQREL_(x, operation)          \
	__extension__({                     \
		ANNOTATE_HAPPENS_BEFORE(x); \
		TOLD_ACQ_(x, operation);    \
	})
#else
#define ATOMICS_ARE_TOLD           false
#define TOLD_(x, operation)        (operation)
#define TOLD_REL_(x, operation)    (operation)
#define TOLD_ACQ_(x, operation)    (operation)
#define TOLD_ACQREL_(x, operation) (operation)
#endif

#define a_init(x, v) TOLD_(x, atomic_init(&(x)->value_, (v)))

#define a_load_rlx(x) \
	TOLD_(x, atomic_load_explicit(&(x)->value_, memory_order_relaxed))
#define a_load_acq(x) \
	TOLD_ACQ_(x, atomic_load_explicit(&(x)->value_, memory_order_acquire))
#define a_load_seq(x) \
	TOLD_ACQ_(x, atomic_load_explicit(&(x)->value_, memory_order_seq_cst))

#define a_store_rlx(x, v) \
	TOLD_(x, atomic_store_explicit(&(x)->value_, (v), memory_order_relaxed))
#define a_store_rel(x, v)                                     \
	TOLD_REL_(x, atomic_store_explicit(&(x)->value_, (v), \
					   memory_order_release))
#define a_store_seq(x, v)                                     \
	TOLD_REL_(x, atomic_store_explicit(&(x)->value_, (v), \
					   memory_order_seq_cst))

#define a_swap_rlx(x, v)                                     \
	TOLD_(x, atomic_exchange_explicit(&(x)->value_, (v), \
					  memory_order_relaxed))
#define a_swap_acq(x, v)                                         \
	TOLD_ACQ_(x, atomic_exchange_explicit(&(x)->value_, (v), \
					      memory_order_acquire))
#define a_swap_rel(x, v)                                         \
	TOLD_REL_(x, atomic_exchange_explicit(&(x)->value_, (v), \
					      memory_order_release))
#define a_swap_acqrel(x, v)                                         \
	TOLD_ACQREL_(x, atomic_exchange_explicit(&(x)->value_, (v), \
						 memory_order_acq_rel))

/* Compare and set. On failure *expected holds the value seen. The acq and
 * acqrel forms acquire on failure too; the others read it relaxed. The weak
 * forms may fail spuriously and belong in loops. */
#define a_cas_rlx(x, expected, v)                                             \
	TOLD_(x, atomic_compare_exchange_strong_explicit(                     \
			 &(x)->value_, (expected), (v), memory_order_relaxed, \
			 memory_order_relaxed))
#define a_cas_acq(x, expected, v)                             \
	TOLD_ACQ_(x, atomic_compare_exchange_strong_explicit( \
			     &(x)->value_, (expected), (v),   \
			     memory_order_acquire, memory_order_acquire))
#define a_cas_rel(x, expected, v)                                     \
	TOLD_REL_(x, atomic_compare_exchange_strong_explicit(         \
			     &(x)->value_, (expected), (v), RELEASE_, \
			     ELSE_RELAXED_))
#define a_cas_acqrel(x, expected, v)                                    \
	TOLD_ACQREL_(x, atomic_compare_exchange_strong_explicit(        \
				&(x)->value_, (expected), (v), ACQREL_, \
				ELSE_ACQUIRE_))
#define a_cas_weak_acq(x, expected, v)                      \
	TOLD_ACQ_(x, atomic_compare_exchange_weak_explicit( \
			     &(x)->value_, (expected), (v), \
			     memory_order_acquire, memory_order_acquire))
#define a_cas_weak_rel(x, expected, v)                                \
	TOLD_REL_(x, atomic_compare_exchange_weak_explicit(           \
			     &(x)->value_, (expected), (v), RELEASE_, \
			     ELSE_RELAXED_))
#define a_cas_weak_acqrel(x, expected, v)                               \
	TOLD_ACQREL_(x, atomic_compare_exchange_weak_explicit(          \
				&(x)->value_, (expected), (v), ACQREL_, \
				ELSE_ACQUIRE_))

#define a_add_rlx(x, v)                                       \
	TOLD_(x, atomic_fetch_add_explicit(&(x)->value_, (v), \
					   memory_order_relaxed))
#define a_add_rel(x, v)                                           \
	TOLD_REL_(x, atomic_fetch_add_explicit(&(x)->value_, (v), \
					       memory_order_release))
#define a_add_acqrel(x, v)                                           \
	TOLD_ACQREL_(x, atomic_fetch_add_explicit(&(x)->value_, (v), \
						  memory_order_acq_rel))
#define a_sub_rel(x, v)                                           \
	TOLD_REL_(x, atomic_fetch_sub_explicit(&(x)->value_, (v), \
					       memory_order_release))
#define a_sub_acqrel(x, v)                                           \
	TOLD_ACQREL_(x, atomic_fetch_sub_explicit(&(x)->value_, (v), \
						  memory_order_acq_rel))
#define a_or_rlx(x, v)                                       \
	TOLD_(x, atomic_fetch_or_explicit(&(x)->value_, (v), \
					  memory_order_relaxed))
#define a_or_acqrel(x, v)                                           \
	TOLD_ACQREL_(x, atomic_fetch_or_explicit(&(x)->value_, (v), \
						 memory_order_acq_rel))
#define a_and_rlx(x, v)                                       \
	TOLD_(x, atomic_fetch_and_explicit(&(x)->value_, (v), \
					   memory_order_relaxed))
#define a_and_acqrel(x, v)                                           \
	TOLD_ACQREL_(x, atomic_fetch_and_explicit(&(x)->value_, (v), \
						  memory_order_acq_rel))

/* For counters with one writer and any number of readers. */
#define a_bump_owner(x) a_store_rlx((x), a_load_rlx(x) + 1)

/* Full fence. ThreadSanitizer and helgrind do not model fences. For them the
 * fence is a read-modify-write of one shared word, which they do model, and
 * which is a full barrier on every target that they run on. */
#if defined(SN_TSAN) || defined(SENNIT_HELGRIND)
__attribute__((weak, visibility("hidden"))) a_u32 sn_fence_word;
#define a_fence()                                                             \
	((void)TOLD_ACQREL_(&sn_fence_word, atomic_fetch_add_explicit(        \
						    &sn_fence_word.value_, 0, \
						    memory_order_seq_cst)))
#else
#define a_fence() atomic_thread_fence(memory_order_seq_cst)
#endif

/* Keeps the compiler from moving accesses across this point. The partner's
 * os_process_barrier() orders the processor. */
#define a_compiler_fence() atomic_signal_fence(memory_order_seq_cst)

/* Fetch the cache line at address in exclusive state, because the caller is
 * about to write it. A write after an ordinary read fetches the line twice:
 * first as a shared copy, then exclusively. */
static inline void a_fetch_own(const void *address)
{
	FETCH_OWN(address);
}

/* Tell the processor that this is a spin loop. */
static inline void a_pause(void)
{
#if defined(SENNIT_DETERMINISTIC)
	sn_deterministic_point();
#else
	PAUSE();
#endif
}

#endif
