/* SPDX-License-Identifier: Apache-2.0 */
/* local.h - values of the running task's own, found by a key.
 *
 * What thread-local storage is to a thread: each task begins with NULL under
 * every key, keeps what it sets across all its waits, and no other task sees
 * it. Values of a C thread-local are shared by all tasks of a thread instead.
 *
 * On a thread's own stack, bound or not, the values are the thread's: it keeps
 * them when it binds and unbinds, and no task sees them, not even one that the
 * thread runs while it waits or unbinds. In the child of a fork the forking
 * thread has its own values, and none of the task that has called fork.
 *
 * When a task returns, the destructor of each key is called with the value if
 * that is not NULL, on the task's stack, in no stated order; the value is NULL
 * by then. Destructors may wait, schedule, and get and set values. While some
 * have been set, all is done again, SENNIT_LOCAL_ROUNDS times at most; values
 * that are there even then are forgotten. When a thread exits the same happens
 * to its own, on the thread, which must not be bound then; not at exit(), nor
 * for the thread that returns from main. (As pthread keys.)
 *
 * A task that sets no value pays nothing. The first set takes room for some
 * keys from the scheduler, later ones rarely from its allocator; a thread's own
 * values are kept in libc's memory.
 */
#ifndef SENNIT_LOCAL_H
#define SENNIT_LOCAL_H

#include "sennit/base.h"

SENNIT_BEGIN

/* How many keys there can be at once in a process. */
#define SENNIT_LOCAL_KEYS 255

/* How often destructors are called for what destructors have set. */
#define SENNIT_LOCAL_ROUNDS 4

/* Names a value in every task and thread of the process. Plain data: copy it as
 * you like. All zero is no key. */
typedef struct sennit_local_key {
	uint32_t index_;
	uint32_t generation_;
} sennit_local_key;

/* Make *key a new key, under which all values are NULL. destructor, which may
 * be NULL, is called with what a task or thread leaves behind.
 * Returns 0, or -EAGAIN when SENNIT_LOCAL_KEYS are in use.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_local_key_create(
	sennit_local_key *key, void (*destructor)(void *value));

/* Delete the key. No destructor is called: the values are the program's. They
 * are not seen under keys made later. Misuse for what is no key.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_local_key_delete(sennit_local_key key);

/* The value under the key; NULL when the running task, or on its own stack the
 * thread, has set none. For a key that was deleted NULL or what was set before.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void *sennit_local_get(sennit_local_key key);

/* Set the value under the key, without a word to the one before. To set NULL
 * cannot fail. Misuse for what is no key.
 * Returns 0, or -ENOMEM: the value is as before.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_local_set(sennit_local_key key,
						void            *value);

SENNIT_END

#endif
