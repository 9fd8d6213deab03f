/* SPDX-License-Identifier: Apache-2.0 */
/* bias.c - a word that belongs to one worker, and how others end that: each
 * step of the owner and of a revoker, in an order that the test forces. */
#include "sched/bias.h"

#include "../child.h"

#include "os/os.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { USED = 8 };

struct object {
	sennit_word word, mark;
};

struct scene {
	struct bias   owner;
	struct object object;
	atomic_uint   revoked; /* number of revokers that have returned */
};

static void begin(struct scene *c)
{
	memset(c, 0, sizeof(*c));
	sn_bias_init(&c->owner, os_process_barrier_init());
	assert_null(c->owner.slot);
	if (!sn_bias_may_claim(&c->owner))
		skip();
	a_store_rlx(&c->owner.slot->lost, 0); /* of the one before */
	a_init(&c->object.word, sn_bias_word(&c->owner, 0));
}

static uint32_t word_of(struct scene *c)
{
	return a_load_rlx(&c->object.word);
}

static bool enter(struct scene *c)
{
	return sn_bias_enter(&c->owner, &c->object, &c->object.mark);
}

static void use(struct scene *c)
{
	a_store_rel(&c->object.word, sn_bias_word(&c->owner, USED));
	sn_bias_leave(&c->owner);
}

static void end_it(struct scene *c, const struct bias *own)
{
	sn_bias_revoke(own, &c->object.word, &c->object.mark, &c->object);
}

static void *revoke_as_other(void *argument)
{
	struct scene *c = argument;

	end_it(c, NULL);
	atomic_fetch_add(&c->revoked, 1);
	return NULL;
}

static pthread_t start_revoker(struct scene *c)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, revoke_as_other, c), 0);
	return t;
}

/* The revoker has set REVOKED, and has had time for all that follows. */
static void await_revoker(struct scene *c)
{
	const sennit_time end = os_after(20 * SENNIT_MILLISECOND);

	while (!(a_load_rlx(&c->object.mark) & BIAS_REVOKED))
		sched_yield();
	while (os_now() < end)
		sched_yield();
}

/* --- the owner ---------------------------------------------------------- */

TEST(the_owner_changes_its_word_by_stores)
{
	struct scene c;

	begin(&c);
	assert_true(sn_bias_is_own(&c.owner, word_of(&c)));
	assert_true(enter(&c));
	assert_ptr_equal(a_load_rlx(&c.owner.slot->inside), &c.object);
	use(&c);
	assert_null(a_load_rlx(&c.owner.slot->inside));
	assert_int_equal(word_of(&c), sn_bias_word(&c.owner, USED));
	assert_true(sn_bias_is_own(&c.owner, word_of(&c)));
	sn_bias_free(&c.owner);
}

TEST(an_owner_gives_it_up_without_waiting_for_itself)
{
	struct scene c;

	begin(&c);
	assert_true(enter(&c));
	a_store_rel(&c.object.word, sn_bias_word(&c.owner, USED));
	end_it(&c, &c.owner); /* would wait for ever */
	assert_int_equal(word_of(&c), USED);
	assert_int_equal(a_load_rlx(&c.object.mark), BIAS_REVOKED);
	sn_bias_leave(&c.owner);
	sn_bias_free(&c.owner);
}

TEST(an_owner_that_is_revoked_stays_out)
{
	struct scene c;

	begin(&c);
	a_store_rlx(&c.object.mark, BIAS_REVOKED);
	assert_false(enter(&c));
	assert_null(a_load_rlx(&c.owner.slot->inside));
	sn_bias_free(&c.owner);
}

/* --- revocation --------------------------------------------------------- */

TEST(a_revoker_keeps_what_the_owner_stored)
{
	struct scene c;

	begin(&c);
	assert_true(enter(&c));
	use(&c);
	pthread_join(start_revoker(&c), NULL);
	assert_int_equal(word_of(&c), USED);
	assert_false(sn_bias_is_own(&c.owner, word_of(&c)));
	sn_bias_free(&c.owner);
}

TEST(a_revoker_waits_until_the_owner_has_left)
{
	struct scene c;
	pthread_t    t;

	begin(&c);
	assert_true(enter(&c));
	t = start_revoker(&c);
	await_revoker(&c);
	assert_int_equal(atomic_load(&c.revoked), 0);
	assert_int_equal(word_of(&c), sn_bias_word(&c.owner, 0));
	use(&c);
	pthread_join(t, NULL);
	assert_int_equal(word_of(&c), USED);
	assert_false(enter(&c));
	sn_bias_free(&c.owner);
}

TEST(a_revoker_does_not_wait_for_an_owner_elsewhere)
{
	struct object another = { { 0 }, { 0 } };
	struct scene  c;

	begin(&c);
	assert_true(sn_bias_enter(&c.owner, &another, &another.mark));
	pthread_join(start_revoker(&c), NULL);
	assert_int_equal(word_of(&c), 0);
	sn_bias_leave(&c.owner);
	sn_bias_free(&c.owner);
}

TEST(of_several_revokers_none_undoes_what_follows)
{
	enum { REVOKERS = 4 };
	pthread_t    t[REVOKERS];
	struct scene c;

	begin(&c);
	assert_true(enter(&c));
	for (unsigned i = 0; i < REVOKERS; i++)
		t[i] = start_revoker(&c);
	await_revoker(&c);
	/* The owner gives it up, too, and the word is used as any other. */
	use(&c);
	end_it(&c, &c.owner);
	a_store_rlx(&c.object.word, UINT32_C(0x00ff0000) | USED);
	for (unsigned i = 0; i < REVOKERS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(word_of(&c), UINT32_C(0x00ff0000) | USED);
	assert_int_equal(a_load_rlx(&c.owner.slot->lost), 1);
	sn_bias_free(&c.owner);
}

/* --- claims ------------------------------------------------------------- */

static unsigned claims_until_allowed(struct bias *b)
{
	unsigned n = 1;

	while (!sn_bias_may_claim(b))
		n++;
	return n;
}

TEST(each_bias_that_is_lost_doubles_the_uses_to_the_next)
{
	struct scene c;
	unsigned     lost;

	begin(&c);
	for (lost = 0; lost <= BIAS_DOUBLINGS + 2; lost++) {
		const unsigned doublings = lost < BIAS_DOUBLINGS
						   ? lost
						   : BIAS_DOUBLINGS;

		a_store_rlx(&c.owner.slot->lost, lost);
		assert_int_equal(claims_until_allowed(&c.owner),
				 1U << doublings);
	}
	sn_bias_free(&c.owner);
}

TEST(a_new_worker_does_not_inherit_what_was_lost)
{
	struct scene c;

	begin(&c);
	a_store_rlx(&c.owner.slot->lost, BIAS_DOUBLINGS);
	sn_bias_free(&c.owner);
	sn_bias_init(&c.owner, true); /* the same slot, as the first free one */
	assert_int_equal(claims_until_allowed(&c.owner), 1);
	sn_bias_free(&c.owner);
}

TEST(without_the_barrier_nothing_is_claimed)
{
	struct bias b;

	sn_bias_init(&b, false);
	assert_null(b.slot);
	for (unsigned i = 0; i < 10; i++)
		assert_false(sn_bias_may_claim(&b));
	sn_bias_free(&b);
}

TEST(workers_beyond_the_slots_own_nothing)
{
	static struct bias workers[BIAS_SLOTS + 1];
	struct scene       c;
	const void        *last;

	begin(&c);
	for (unsigned i = 0; i < BIAS_SLOTS - 1; i++) {
		sn_bias_init(&workers[i], true);
		assert_true(sn_bias_may_claim(&workers[i]));
		assert_non_null(workers[i].slot);
	}
	last = workers[7].slot;
	sn_bias_init(&workers[BIAS_SLOTS], true);
	assert_false(sn_bias_may_claim(&workers[BIAS_SLOTS]));
	assert_null(workers[BIAS_SLOTS].slot);
	sn_bias_free(&workers[7]);
	assert_true(sn_bias_may_claim(&workers[BIAS_SLOTS]));
	assert_ptr_equal(workers[BIAS_SLOTS].slot, last);
	sn_bias_free(&workers[BIAS_SLOTS]);
	for (unsigned i = 0; i < BIAS_SLOTS - 1; i++)
		sn_bias_free(&workers[i]);
	sn_bias_free(&c.owner);
}

/* --- a fork ------------------------------------------------------------- */

/* The thread that is inside does not exist in the child. */
TEST(a_child_does_not_wait_for_owners_of_the_parent)
{
	struct scene c;
	pid_t        child;

	begin(&c);
	assert_true(enter(&c));
	child = begin_child();
	if (!child) {
		sn_bias_fork();
		end_it(&c, NULL);
		_exit(word_of(&c) ? 1 : 0);
	}
	assert_int_equal(await_child(child), 0);
	assert_int_equal(word_of(&c), sn_bias_word(&c.owner, 0));
	use(&c);
	sn_bias_free(&c.owner);
}

static int begin_all(void)
{
	alarm(100);
	return 0;
}

BEFORE_ALL(begin_all);
