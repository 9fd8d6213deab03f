/* SPDX-License-Identifier: Apache-2.0 */
#include "local/names.h"

#include "base/torture.h"
#include "os/os.h"

#include <string.h>

#define PLACES TASK_NAMES_PLACES

struct task_names_place sn_task_names_places[PLACES];

static a_u32 taken; /* any */

static uint32_t first_place(uintptr_t function)
{
	return (uint32_t)((uint64_t)function * UINT64_C(0x9e3779b97f4a7c15) >>
			  32) %
	       PLACES;
}

/* The function's place, or the free place where it belongs. */
static uint32_t find_name_place(uintptr_t function, bool *found)
{
	uint32_t i = first_place(function);

	for (;; i = (i + 1) % PLACES) {
		/* A stale 0 is harmless: the compare-and-set that takes the
		 * place fails. */
		uintptr_t there = a_load_rlx(&sn_task_names_places[i].function);

		*found = there == function;
		if (*found || !there)
			return i;
	}
}

/* The function's place; takes one if it has none. PLACES: the table is full. */
static uint32_t claim_name_place(uintptr_t function)
{
	bool     found;
	uint32_t i = find_name_place(function, &found);

	if (found)
		return i;
	if (a_add_rlx(&taken, 1) >= SENNIT_FUNCTION_NAMES) {
		a_add_rlx(&taken, UINT32_MAX);
		return PLACES;
	}
	for (;; i = (i + 1) % PLACES) {
		uintptr_t there = 0;

		if (a_cas_rlx(&sn_task_names_places[i].function, &there,
			      function))
			return i;
		if (there == function) {
			a_add_rlx(&taken, UINT32_MAX); /* another thread was
						        * faster */
			return i;
		}
	}
}

bool sn_task_names_set(sennit_task_fn *function, const char *name)
{
	uint32_t i = claim_name_place((uintptr_t)function);

	if (i == PLACES)
		return false;
	/* -> task_names.name: the characters of the name */
	a_store_rel(&sn_task_names_places[i].name, (void *)(uintptr_t)name);
	return true;
}

const char *sn_task_names_get(sennit_task_fn *function)
{
	bool     found;
	uint32_t i;

	if (!function)
		return NULL;
	i = find_name_place((uintptr_t)function, &found);
	/* <- task_names.name */
	return found ? a_load_acq(&sn_task_names_places[i].name) : NULL;
}

/* --- local keys ----------------------------------------------------------- */

struct key_slot {
	a_word destructor; /* owner of the slot: a key_destructor, or 0 */
	a_u32  generation; /* any: see names.h */
};

static struct key_slot key_slots[SENNIT_LOCAL_KEYS];

static bool is_live_generation(uint32_t generation)
{
	return generation % 2;
}

bool sn_local_keys_add(sennit_local_key *key, key_destructor *destructor)
{
	for (uint32_t i = 0; i < SENNIT_LOCAL_KEYS; i++) {
		struct key_slot *s = &key_slots[i];
		uint32_t         free = a_load_rlx(&s->generation);

		/* A stale value is harmless: the exchange decides. A thread
		 * that still looks up the old key's destructor sees the new
		 * generation if it sees the new destructor. */
		if (is_live_generation(free) ||
		    !a_cas_rlx(&s->generation, &free, free + 1))
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

	return key.index_ < SENNIT_LOCAL_KEYS &&
	       is_live_generation(generation) &&
	       a_cas_rlx(&key_slots[key.index_].generation, &generation,
			 generation + 1);
}

bool sn_local_keys_has(sennit_local_key key)
{
	/* Stale only if the program has not ordered a delete of the key before
	 * this call. */
	return key.index_ < SENNIT_LOCAL_KEYS &&
	       is_live_generation(key.generation_) &&
	       a_load_rlx(&key_slots[key.index_].generation) == key.generation_;
}

key_destructor *sn_local_keys_destructor(sennit_local_key key)
{
	uintptr_t destructor;

	if (!sn_local_keys_has(key))
		return NULL;
	/* <- local_keys.slot */
	destructor = a_load_acq(&key_slots[key.index_].destructor);
	TORTURE_POINT();
	return sn_local_keys_has(key) ? (key_destructor *)destructor : NULL;
}

/* --- public calls --------------------------------------------------------- */

static bool is_public(const char *name)
{
	return !strncmp(name, "sennit_", strlen("sennit_"));
}

/* Whether what the call at `last` has called is no function of the program. */
static bool is_inside_library(void *const *frame, void *const *last)
{
	while (frame < last &&
	       os_is_beside((uintptr_t)*frame, (uintptr_t)*last))
		frame++;
	return frame == last;
}

bool sn_call_name(uintptr_t code, char *text, size_t size)
{
	void  *frames[64];
	size_t count = os_backtrace(frames, sizeof(frames) / sizeof(*frames));
	size_t first = 0;

	while (code && first < count && (uintptr_t)frames[first] != code)
		first++;
	/* A return address may be the first byte of the next function. */
	for (size_t i = first; i < count; i++) {
		os_function_around((uintptr_t)frames[i] -
					   ((uintptr_t)frames[i] != code),
				   text, size);
		if (is_public(text))
			return !code ||
			       is_inside_library(frames + first, frames + i);
	}
	return false;
}
