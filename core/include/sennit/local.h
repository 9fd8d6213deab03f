/* SPDX-License-Identifier: Apache-2.0 */
/* local.h - task-local values (fiber-local storage), found by a key.
 *
 * A local value is to a task what thread-local storage is to a thread. Each
 * task begins with NULL under every key and keeps what it sets across all its
 * waits. No other task sees its values. In contrast, all tasks of a thread
 * share the values of a C thread-local variable.
 *
 * On a thread's own stack, bound or not, the values belong to the thread. It
 * keeps them when it binds and unbinds. No task sees them, not even a task that
 * the thread runs while it waits or unbinds. In the child of a fork the forking
 * thread has its own values, and none of the task that called fork.
 *
 * When a task returns, the library calls the destructor of each key whose value
 * is not NULL, with that value, on the task's stack, in no particular order.
 * The value is NULL by then. Destructors may wait, schedule, and get and set
 * values. The library repeats this while destructors set values, at most
 * SENNIT_LOCAL_ROUNDS times. Values that remain after that are dropped. When a
 * thread exits, the same happens to the thread's own values, on the thread,
 * which must not be bound then. It does not happen at exit(), nor for the
 * thread that returns from main. (pthread keys have the same rules.)
 *
 * A task that sets no value has no cost. The first set takes room for some keys
 * from the scheduler; later ones rarely take more from its allocator. The
 * values of a thread are kept in memory of libc.
 */
#ifndef SENNIT_LOCAL_H
#define SENNIT_LOCAL_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The largest number of keys at once in a process. */
#define SENNIT_LOCAL_KEYS 255

/* How many times destructors are called for values that destructors have
 * set. */
#define SENNIT_LOCAL_ROUNDS 4

/* A key names one value in every task and thread of the process. It is plain
 * data and may be copied. A key with all bytes zero is not a key. */
typedef struct sennit_local_key {
	uint32_t index_;
	uint32_t generation_;
} sennit_local_key;

/* Create a key and store it in *key. All values under the new key are NULL.
 * destructor, which may be NULL, is called with the value that a task or thread
 * leaves behind.
 * Returns 0, or -EAGAIN if SENNIT_LOCAL_KEYS keys are in use.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_local_key_create(
	sennit_local_key *key, void (*destructor)(void *value));

/* Delete the key. No destructor is called: the program owns the remaining
 * values. Keys that are created later do not show them. It is misuse if `key`
 * is not a key.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_local_key_destroy(sennit_local_key key);

/* Return the value under the key: that of the running task or, on a thread's
 * own stack, that of the thread. Returns NULL if none was set. For a deleted
 * key it returns NULL or what was set before.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void *sennit_local_get(sennit_local_key key);

/* Set the value under the key. No destructor is called for the previous value.
 * It is misuse if `key` is not a key.
 * Returns 0, or -ENOMEM, and then the value is unchanged. To set NULL always
 * succeeds.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_local_set(sennit_local_key key,
						void            *value);

SENNIT_END

#endif
