/* SPDX-License-Identifier: Apache-2.0 */
/* local_keys.h - which keys of local values there are in the process.
 *
 *	slot   generation, even: free     a key names { slot, generation }
 *	       generation, odd:  in use
 *
 * Lock-free, so that a child of fork() finds no lock that nobody holds. A slot
 * that is used again has another generation: what an old key has stored is not
 * seen under the new one, and its destructor is not called for it.
 */
#ifndef SN_LOCAL_KEYS_H
#define SN_LOCAL_KEYS_H

#include "base/atomic.h"
#include "sennit/local.h"

typedef void key_destructor(void *value);

/* A new key, whose values the destructor, or none, ends. False: all are in use.
 */
bool sn_local_keys_add(sennit_local_key *key, key_destructor *destructor);

/* Delete the key. False: it is none. */
bool sn_local_keys_remove(sennit_local_key key);

/* Whether the key exists. */
bool sn_local_keys_has(sennit_local_key key);

/* What ends a value of the key; NULL: nothing, or the key was deleted. */
key_destructor *sn_local_keys_destructor(sennit_local_key key);

#endif
