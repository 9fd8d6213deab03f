/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - the functions that the compiler calls, with -fsanitize=thread,
 * before each access to memory and in place of each atomic operation. They are
 * those of ThreadSanitizer's library, which is not linked. */
#include "lines.h"

#include <stdint.h>

#define HERE ((uintptr_t)__builtin_return_address(0))

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* --- plain accesses ------------------------------------------------------- */

#define PLAIN(name, size, write)                                \
	void __tsan_##name(void *address);                      \
	void __tsan_##name(void *address)                       \
	{                                                       \
		machine_access(address, (size), (write), HERE); \
	}

#define PLAIN_BOTH(size)                         \
	PLAIN(read##size, size, false)           \
	PLAIN(write##size, size, true)           \
	PLAIN(unaligned_read##size, size, false) \
	PLAIN(unaligned_write##size, size, true)

PLAIN_BOTH(1)
PLAIN_BOTH(2)
PLAIN_BOTH(4)
PLAIN_BOTH(8)
PLAIN_BOTH(16)

#define RANGE(name, write)                                    \
	void __tsan_##name(void *address, size_t size);       \
	void __tsan_##name(void *address, size_t size)        \
	{                                                     \
		machine_access(address, size, (write), HERE); \
	}

RANGE(read_range, false)
RANGE(write_range, true)

/* --- atomic operations ---------------------------------------------------- */

#define MODIFY(bits, name, builtin)                                            \
	uint##bits##_t __tsan_atomic##bits##_##name(                           \
		volatile uint##bits##_t *at, uint##bits##_t value, int order); \
	uint##bits##_t __tsan_atomic##bits##_##name(                           \
		volatile uint##bits##_t *at, uint##bits##_t value, int order)  \
	{                                                                      \
		(void)order;                                                   \
		machine_access(at, bits / 8, true, HERE);                      \
		return builtin(at, value, __ATOMIC_SEQ_CST);                   \
	}

#define EXCHANGE(bits, name)                                               \
	int __tsan_atomic##bits##_##name(                                  \
		volatile uint##bits##_t *at, uint##bits##_t *expected,     \
		uint##bits##_t value, int order, int else_order);          \
	int __tsan_atomic##bits##_##name(                                  \
		volatile uint##bits##_t *at, uint##bits##_t *expected,     \
		uint##bits##_t value, int order, int else_order)           \
	{                                                                  \
		(void)order;                                               \
		(void)else_order;                                          \
		machine_access(at, bits / 8, true, HERE);                  \
		return __atomic_compare_exchange_n(at, expected, value, 0, \
						   __ATOMIC_SEQ_CST,       \
						   __ATOMIC_SEQ_CST);      \
	}

#define ATOMIC(bits)                                                       \
	uint##bits##_t __tsan_atomic##bits##_load(                         \
		const volatile uint##bits##_t *at, int order);             \
	uint##bits##_t __tsan_atomic##bits##_load(                         \
		const volatile uint##bits##_t *at, int order)              \
	{                                                                  \
		(void)order;                                               \
		machine_access(at, bits / 8, false, HERE);                 \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST);              \
	}                                                                  \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at,      \
					 uint##bits##_t value, int order); \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at,      \
					 uint##bits##_t value, int order)  \
	{                                                                  \
		(void)order;                                               \
		machine_access(at, bits / 8, true, HERE);                  \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST);             \
	}                                                                  \
	MODIFY(bits, exchange, __atomic_exchange_n)                        \
	MODIFY(bits, fetch_add, __atomic_fetch_add)                        \
	MODIFY(bits, fetch_sub, __atomic_fetch_sub)                        \
	MODIFY(bits, fetch_and, __atomic_fetch_and)                        \
	MODIFY(bits, fetch_or, __atomic_fetch_or)                          \
	MODIFY(bits, fetch_xor, __atomic_fetch_xor)                        \
	EXCHANGE(bits, compare_exchange_strong)                            \
	EXCHANGE(bits, compare_exchange_weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
