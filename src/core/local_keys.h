/* SPDX-License-Identifier: Apache-2.0 */
/* local_keys.h - the keys of local values that exist in the process.
 *
 *	slot   generation, even: free     a key names { slot, generation }
 *	       generation, odd:  in use
 *
 * Lock-free, so that a child of fork() finds no locked lock without an owner. A
 * reused slot has a new generation. A value that was stored under the old key
 * is not visible under the new key, and the new destructor is not called for
 * it.
 */
#ifndef SN_LOCAL_KEYS_H
#define SN_LOCAL_KEYS_H

#include "base/atomic.h"
#include "sennit/local.h"

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

#endif
