/* SPDX-License-Identifier: Apache-2.0 */
/* local_keys.c - keys of local values that several threads create and
 * delete. */
#include "testing/with_workers.h"
#include "testing/random.h"

#include "local/names.h"

static void end_one(void *value)
{
}

static void end_another(void *value)
{
}

TEST_ALONE(a_key_is_there_until_it_is_removed)
{
	sennit_local_key key;

	assert_true(sn_local_keys_add(&key, end_one));
	assert_true(sn_local_keys_has(key));
	assert_true(sn_local_keys_destructor(key) == end_one);
	assert_true(sn_local_keys_remove(key));
	assert_false(sn_local_keys_has(key));
	assert_null(sn_local_keys_destructor(key));
	assert_false(sn_local_keys_remove(key));
}

TEST_ALONE(a_slot_used_again_makes_another_key)
{
	sennit_local_key first, second;

	assert_true(sn_local_keys_add(&first, end_one));
	assert_true(sn_local_keys_remove(first));
	assert_true(sn_local_keys_add(&second, end_another));
	assert_int_equal(first.index_, second.index_);
	assert_false(sn_local_keys_has(first));
	assert_null(sn_local_keys_destructor(first));
	assert_true(sn_local_keys_destructor(second) == end_another);
	assert_true(sn_local_keys_remove(second));
}

TEST_ALONE(what_is_no_key_is_not_there)
{
	const sennit_local_key zero = { 0, 0 };
	const sennit_local_key even = { 0, 2 };
	const sennit_local_key far = { SENNIT_LOCAL_KEYS, 1 };

	assert_false(sn_local_keys_has(zero));
	assert_false(sn_local_keys_has(even));
	assert_false(sn_local_keys_has(far));
	assert_false(sn_local_keys_remove(zero));
	assert_null(sn_local_keys_destructor(far));
}

/* --- several threads ---------------------------------------------------- */

enum { THREADS = 4 };

static atomic_uint       holders[SENNIT_LOCAL_KEYS];
static _Atomic(uint64_t) shown; /* the most recent key created with end_one */

static void hold_and_let_go(uint64_t *random)
{
	sennit_local_key key, other;
	key_destructor  *destructor;
	uint64_t         seen;
	bool             one = random_below(random, 2);

	EXPECT(sn_local_keys_add(&key, one ? end_one : end_another));
	EXPECT(atomic_fetch_add(&holders[key.index_], 1) == 0);
	EXPECT(sn_local_keys_destructor(key) == (one ? end_one : end_another));
	if (one)
		atomic_store(&shown,
			     (uint64_t)key.generation_ << 32 | key.index_);
	/* Only keys with end_one are shared, so no other destructor may be
	 * seen. */
	seen = atomic_load(&shown);
	other = (sennit_local_key){ (uint32_t)seen, (uint32_t)(seen >> 32) };
	destructor = sn_local_keys_destructor(other);
	EXPECT(!destructor || destructor == end_one);
	atomic_fetch_sub(&holders[key.index_], 1);
	EXPECT(sn_local_keys_remove(key));
}

static void *hold_some(void *argument)
{
	uint64_t random = random_stream((uintptr_t)argument);

	for (uint64_t i = scaled(LOAD(200000)); i > 0; i--)
		hold_and_let_go(&random);
	return NULL;
}

TEST_ALONE(no_two_threads_have_the_same_key)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(hold_some, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}
