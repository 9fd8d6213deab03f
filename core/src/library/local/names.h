/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - the names that the program gave to task functions, for reports; and
 * the keys of task-local values.
 *
 * One table for the process, lock-free and probed linearly. Functions are never
 * removed: one whose name was taken away has the name NULL.
 */
#ifndef SN_NAMES_H
#define SN_NAMES_H

#include "base/atomic.h"
#include "sennit/local.h"
#include "sennit/task.h"

#include <stdbool.h>

/* Twice the maximum number of names, so that a search soon meets a free
 * place. */
#define TASK_NAMES_PLACES (2u * SENNIT_FUNCTION_NAMES)

/* For the search, and for debuggers. */
struct task_names_place {
	a_word function; /* any: 0 until taken, then fixed */
	a_ptr  name;     /* any */
};
extern struct task_names_place sn_task_names_places[TASK_NAMES_PLACES];

/* Name the function; NULL removes its name. Returns false when the table is
 * full.
 */
bool sn_task_names_set(sennit_task_fn *function, const char *name);

/* The name of the function, or NULL. */
const char *sn_task_names_get(sennit_task_fn *function);

/* --- local keys ----------------------------------------------------------- */

/* The keys of local values that exist in the process.
 *
 *	slot   generation, even: free     a key names { slot, generation }
 *	       generation, odd:  in use
 *
 * Lock-free, so that a child of fork() finds no locked lock without an owner. A
 * reused slot has a new generation. A value that was stored under the old key
 * is not visible under the new key, and the new destructor is not called for
 * it.
 */

typedef void key_destructor(void *value);

/* Create a key. `destructor` ends its values; it may be NULL. Returns false
 * when all SENNIT_LOCAL_KEYS keys are in use.
 */
bool sn_local_keys_add(sennit_local_key *key, key_destructor *destructor);

/* Delete the key. Returns false when it does not exist. */
bool sn_local_keys_remove(sennit_local_key key);

/* Whether the key exists. */
bool sn_local_keys_has(sennit_local_key key);

/* The destructor of the key. NULL: it has none, or the key was deleted. */
key_destructor *sn_local_keys_destructor(sennit_local_key key);

/* --- public calls --------------------------------------------------------- */

/* Name the public call that the thread is in: the innermost one, from the frame
 * at `code` on, with none of the program's between; 0: from the caller on.
 * Returns false if no name is known: with the archive, only the names are known
 * that the program exports. */
bool sn_call_name(uintptr_t code, char *text, size_t size);

#endif
