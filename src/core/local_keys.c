/* SPDX-License-Identifier: Apache-2.0 */
#include "core/local_keys.h"

#include "base/torture.h"

struct slot {
	a_word destructor; /* owner of the slot: a key_destructor, or 0 */
	a_u32  generation; /* any: see local_keys.h */
};

static struct slot slots[SENNIT_LOCAL_KEYS];

static bool is_odd(uint32_t generation)
{
	return generation % 2;
}

bool sn_local_keys_add(sennit_local_key *key, key_destructor *destructor)
{
	for (uint32_t i = 0; i < SENNIT_LOCAL_KEYS; i++) {
		struct slot *s = &slots[i];
		uint32_t     free = a_load_rlx(&s->generation);

		/* A stale value is harmless: the exchange decides. A thread
		 * that still looks up the old key's destructor sees the new
		 * generation if it sees the new destructor. */
		if (is_odd(free) || !a_cas_rlx(&s->generation, &free, free + 1))
			continue;
		TORTURE_POINT(); /* the slot is taken, but still has the
				  * previous key's destructor */
		/* -> local_keys.slot: the generation */
		a_store_rel(&s->destructor, (uintptr_t)destructor);
		*key = (sennit_local_key){ i, free + 1 };
		return true;
	}
	return false;
}

bool sn_local_keys_remove(sennit_local_key key)
{
	uint32_t generation = key.generation_;

	return key.index_ < SENNIT_LOCAL_KEYS && is_odd(generation) &&
	       a_cas_rlx(&slots[key.index_].generation, &generation,
			 generation + 1);
}

bool sn_local_keys_has(sennit_local_key key)
{
	/* Stale only if the program has not ordered a delete of the key before
	 * this call. */
	return key.index_ < SENNIT_LOCAL_KEYS && is_odd(key.generation_) &&
	       a_load_rlx(&slots[key.index_].generation) == key.generation_;
}

key_destructor *sn_local_keys_destructor(sennit_local_key key)
{
	uintptr_t destructor;

	if (!sn_local_keys_has(key))
		return NULL;
	/* <- local_keys.slot */
	destructor = a_load_acq(&slots[key.index_].destructor);
	TORTURE_POINT();
	return sn_local_keys_has(key) ? (key_destructor *)destructor : NULL;
}
