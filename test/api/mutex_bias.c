/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_bias.c - a mutex that one worker uses alone becomes its own, and others
 * get it all the same. */
#include "with_workers.h"

#include "biased.h"
#include "waiters.h"

#include <errno.h>

struct scene {
	sennit_mutex      lock;
	sennit_wait_group done;
	atomic_uint       step;
	unsigned          count; /* under lock */
};

static struct scene begin(unsigned tasks)
{
	struct scene c = { .lock = SENNIT_MUTEX_INIT };

	sennit_wait_group_init(&c.done, tasks);
	return c;
}

static void use(struct scene *c, unsigned times)
{
	while (times--) {
		sennit_mutex_lock(&c->lock);
		c->count++;
		sennit_mutex_unlock(&c->lock);
	}
}

/* The test's own thread, which is bound, owns it from now on. */
static void own_it(struct scene *c)
{
	if (!sn_self->bias.slot)
		skip();
	assert_true(bias_it(&c->lock));
}

/* --- claims ------------------------------------------------------------- */

TEST_WITHOUT(one_worker_alone_makes_it_its_own)
{
	struct scene c = begin(0);

	own_it(&c);
	assert_int_equal(a_load_rlx(&c.lock.state_),
			 sn_bias_word(&sn_self->bias, 0));
	sennit_mutex_lock(&c.lock);
	assert_int_equal(a_load_rlx(&c.lock.state_),
			 sn_bias_word(&sn_self->bias, HELD));
	sennit_mutex_unlock(&c.lock);
	use(&c, 100);
	assert_true(is_biased(&c.lock));
	assert_null(a_load_rlx(&sn_self->bias.slot->inside));
	sennit_mutex_destroy(&c.lock);
}

static void use_as_other(void *argument)
{
	use(argument, 1);
}

/* The mutex changes hands before any thread may claim it. */
TEST_WITHOUT(workers_that_take_turns_do_not)
{
	struct scene c = begin(0);
	unsigned     i;

	for (i = 0; i < 8; i++) {
		use(&c, BIAS_CLAIM - 2);
		in_a_thread(use_as_other, &c);
		assert_false(is_biased(&c.lock));
	}
	sennit_mutex_destroy(&c.lock);
}

TEST_WITHOUT(a_thread_without_a_worker_does_not)
{
	struct scene c = begin(0);

	sennit_unbind();
	use(&c, 2 * USES_TO_BIAS);
	assert_false(is_biased(&c.lock));
	assert_int_equal(sennit_bind(((struct world *)w)->s), 0);
	sennit_mutex_destroy(&c.lock);
}

/* --- others -------------------------------------------------------------- */

TEST_WITHOUT(another_thread_gets_it_and_it_stays_shared)
{
	struct scene c = begin(0);

	own_it(&c);
	in_a_thread(use_as_other, &c);
	assert_int_equal(c.count, 1);
	assert_int_equal(a_load_rlx(&c.lock.state_), 0);
	forget_losses();
	use(&c, 2 * USES_TO_BIAS);
	assert_false(is_biased(&c.lock));
	sennit_mutex_init(&c.lock);
	own_it(&c);
	sennit_mutex_destroy(&c.lock);
}

static void try_as_other(void *argument)
{
	struct scene *c = argument;

	EXPECT(sennit_mutex_lock_until(&c->lock, 0) == -ETIMEDOUT);
	EXPECT(sennit_mutex_lock_until(&c->lock, sennit_after(1000)) ==
	       -ETIMEDOUT);
	atomic_store(&c->step, 1);
	sennit_mutex_lock(&c->lock);
	EXPECT(c->count == 7);
	sennit_mutex_unlock(&c->lock);
	sennit_wait_group_done(&c->done);
}

static void *try_as_thread(void *argument)
{
	try_as_other(argument);
	return NULL;
}

/* The owner does not call sennit while it is revoked. */
TEST_WITHOUT(another_thread_waits_while_the_owner_holds_it)
{
	struct scene c = begin(1);
	pthread_t    t;

	own_it(&c);
	sennit_mutex_lock(&c.lock);
	t = must_start_thread(try_as_thread, &c);
	while (!atomic_load(&c.step))
		sched_yield();
	assert_false(is_biased(&c.lock));
	c.count = 7;
	sennit_mutex_unlock(&c.lock);
	sennit_wait_group_wait(&c.done);
	pthread_join(t, NULL);
	sennit_mutex_destroy(&c.lock);
}

/* --- the owner's own fibers ----------------------------------------------- */

static void wait_for_it(void *argument)
{
	struct scene *c = argument;

	sennit_mutex_lock(&c->lock);
	c->count++;
	sennit_mutex_unlock(&c->lock);
	sennit_wait_group_done(&c->done);
}

TEST_WITHOUT(the_owners_fibers_wait_in_the_queue)
{
	struct scene c = begin(3);
	unsigned     i;

	own_it(&c);
	sennit_mutex_lock(&c.lock);
	for (i = 0; i < 3; i++)
		must_schedule_here(wait_for_it, &c);
	while (waiters_of(&c.lock.state_, &c.lock.waiters_) < 3)
		sennit_yield();
	assert_int_equal(c.count, 0);
	sennit_mutex_unlock(&c.lock);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(c.count, 3);
	assert_false(is_biased(&c.lock));
	sennit_mutex_destroy(&c.lock);
}

TEST_WITHOUT(nested_mutexes_are_owned_at_once)
{
	struct scene c = begin(0), d = begin(0);

	if (BIAS_OBJECTS < 2)
		skip();
	own_it(&c);
	own_it(&d);
	sennit_mutex_lock(&c.lock);
	sennit_mutex_lock(&d.lock);
	assert_true(is_biased(&c.lock) && is_biased(&d.lock));
	sennit_mutex_unlock(&c.lock);
	sennit_mutex_unlock(&d.lock);
	assert_true(is_biased(&c.lock) && is_biased(&d.lock));
	in_a_thread(use_as_other, &c);
	assert_true(is_biased(&d.lock));
	sennit_mutex_destroy(&c.lock);
	sennit_mutex_destroy(&d.lock);
}

TEST_WITHOUT(what_a_worker_forgets_it_gives_up)
{
	enum { MANY = 2 * BIAS_OBJECTS };
	static struct scene c[MANY];
	unsigned            biased = 0, i;

	for (i = 0; i < MANY; i++) {
		c[i] = begin(0);
		own_it(&c[i]);
	}
	for (i = 0; i < MANY; i++) {
		sennit_mutex_lock(&c[i].lock);
		sennit_mutex_unlock(&c[i].lock);
		biased += is_biased(&c[i].lock);
	}
	assert_true(biased > 0 && biased <= BIAS_OBJECTS);
	for (i = 0; i < MANY; i++) {
		in_a_thread(use_as_other, &c[i]);
		sennit_mutex_destroy(&c[i].lock);
	}
}

/* --- owners that have gone ------------------------------------------------ */

TEST_WITHOUT(the_next_worker_with_its_slot_owns_it)
{
	struct scene c = begin(0);
	const void  *slot;

	own_it(&c);
	slot = sn_self->bias.slot;
	sennit_unbind();
	in_a_thread(use_as_other, &c);
	assert_int_equal(c.count, 1);
	sennit_mutex_init(&c.lock);
	assert_int_equal(sennit_bind(w->s), 0);
	own_it(&c);
	sennit_unbind();
	assert_int_equal(sennit_bind(w->s), 0);
	if (sn_self->bias.slot == slot)
		assert_true(sn_bias_is_own(&sn_self->bias,
					   a_load_rlx(&c.lock.state_)));
	use(&c, 1);
	assert_int_equal(c.count, 2);
	sennit_mutex_destroy(&c.lock);
}

/* Symptom: it was taken for locked, and that was misuse. */
TEST_WITHOUT(one_with_references_can_be_released)
{
	sennit_mutex *m;

	if (!sn_self->bias.slot)
		skip();
	assert_int_equal(sennit_mutex_create(&m, NULL), 0);
	assert_true(bias_it(m));
	sennit_mutex_release(m);
}
