/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_fairness.c - no waiter is passed over for ever: the bound that mutex.h
 * states. Counts grants, not time. */
#include "contest.h"

#include "sync/mutex.h"

/* The bound in mutex.h for a caller that finds `before` waiters. */
#define GRANTS_TO_OTHERS(before) (MAX_GRANTS * ((before) + 1))

/* --- the bound ---------------------------------------------------------- */

static bool lock_it(struct contest *c, struct rival *r, sennit_time deadline,
		    use_fn *use)
{
	if (sennit_mutex_lock_until(c->object, deadline))
		return false;
	use(r);
	sennit_mutex_unlock(c->object);
	return true;
}

static unsigned grants_to_others(unsigned place)
{
	return GRANTS_TO_OTHERS(place);
}

/* All grants count, with any number of workers. All waiters belong to one
 * worker, so no one takes back a lock that was handed to another, and no waiter
 * guards. */
static void compete_for_it(void)
{
	sennit_mutex   m = SENNIT_MUTEX_INIT;
	struct contest c = { .have = lock_it,
			     .limit = grants_to_others,
			     .object = &m,
			     .word = &m.state_,
			     .list = &m.waiters_,
			     .one_worker = true,
			     .nobody_queues = true };

	compete(&c);
	sennit_mutex_destroy(&m);
}

TEST_WITH_WORKERS(whoever_waits_gets_it_after_its_share)
{
	sennit_scheduler *s =
		move_to(SENNIT_CONFIG(.workers = w->workers,
				      .spin_ns = SENNIT_SPIN_NONE));

	compete_for_it();
	move_back(w, s);
}

/* --- the waiter that it is handed to ------------------------------------- */

struct heirs {
	sennit_mutex      lock;
	sennit_wait_group done;
};

static void wait_to_inherit(void *argument)
{
	struct heirs *h = argument;

	sennit_mutex_lock(&h->lock);
	sennit_mutex_unlock(&h->lock);
	sennit_wait_group_done(&h->done);
}

/* On one thread nothing runs between the unlock and the look. */
TEST_WITHOUT(a_hand_over_goes_to_whoever_has_waited_longest)
{
	struct heirs       h = { .lock = SENNIT_MUTEX_INIT };
	const struct turn *first;
	uint32_t           word;
	bool               handed;

	sennit_wait_group_init(&h.done, 3);
	sennit_mutex_lock(&h.lock);
	for (unsigned i = 0; i < 3; i++)
		must_schedule(wait_to_inherit, &h);
	assert_soon(waiters_of(&h.lock.state_, &h.lock.waiters_) == 3);
	word = sn_wait_queue_lock(&h.lock.state_);
	sn_wait_queue_unlock(&h.lock.state_, word | HANDOVER);
	sennit_mutex_unlock(&h.lock);
	first = container_of(sn_wait_queue_first(h.lock.waiters_), struct turn,
			     n);
	handed = first->heir;
	sennit_wait_group_wait(&h.done);
	sennit_mutex_destroy(&h.lock);
	assert_true(handed);
}

/* --- each waiter is served ---------------------------------------------- */

enum { CROWD = 64, TURNS = 20, SEE_EACH = 640 / LOAD(640) };

struct crowd {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          members;
	unsigned          short_turns; /* short turns before each turn that is
				        * held across a wait; 0: no such turn */
	unsigned          most;        /* grants after which all give up */
	atomic_uint       next;
	atomic_uint       grants;  /* written under lock */
	unsigned          longest; /* under lock: most grants to others during
				    * one wait */
	unsigned          turns[CROWD + 8]; /* under lock */
	unsigned          served; /* under lock: number of tasks that have had
				   * all turns */
	atomic_bool       over;
	_Atomic(const void *) who[CROWD + 8]; /* their fibers or threads */
	unsigned place[CROWD + 8]; /* under lock; 0: not seen in line */
	unsigned last_place;       /* under lock */
};

/* --- in which order they wait ------------------------------------------- */

static const void *who_waits(const struct waiter *n)
{
	return n->fiber ? (const void *)n->fiber : n->parker;
}

/* A waiter in line keeps its place: newcomers come after it. */
static void see_one(struct crowd *c, const struct waiter *n, unsigned *before)
{
	unsigned i = 0;

	while (i < c->members && atomic_load(&c->who[i]) != who_waits(n))
		i++;
	EXPECT(i < c->members);
	if (!c->place[i])
		c->place[i] = ++c->last_place;
	EXPECT(c->place[i] > *before);
	*before = c->place[i];
}

/* Called by the holder of the lock. It also checks that no more grants have
 * been counted since the last hand-over than allowed. The last grant may have
 * counted for several. */
static void see_line(struct crowd *c)
{
	uint32_t     word = sn_wait_queue_lock(&c->lock.state_);
	struct link *first = c->lock.waiters_;
	struct link *at = first;
	unsigned     before = 0;

	EXPECT(word / GRANT <= MAX_GRANTS + MAX_GRANTS / MAX_TAKEN);
	while (at) {
		see_one(c, sn_wait_queue_first(at), &before);
		at = sn_link_after(at, first);
	}
	sn_wait_queue_unlock(&c->lock.state_, word);
}

/* --- they are served ----------------------------------------------------- */

static void be_served(struct crowd *c, unsigned me, bool hold)
{
	unsigned before = atomic_load(&c->grants);
	unsigned passed;

	sennit_mutex_lock(&c->lock);
	passed = atomic_fetch_add(&c->grants, 1) - before;
	if (passed > c->longest)
		c->longest = passed;
	c->place[me] = 0;
	if (atomic_load(&c->grants) % SEE_EACH == 0)
		see_line(c);
	if (++c->turns[me] == TURNS && ++c->served == c->members)
		atomic_store(&c->over, true);
	if (passed + before > c->most)
		atomic_store(&c->over, true);
	if (hold)
		sennit_yield();
	sennit_mutex_unlock(&c->lock);
}

static void crowd_in(void *argument)
{
	struct crowd *c = argument;
	unsigned      me = atomic_fetch_add(&c->next, 1);

	atomic_store(&c->who[me], sn_self ? (const void *)sn_self->home.current
					  : &sn_parker);
	while (!atomic_load(&c->over)) {
		for (unsigned i = 0; i < c->short_turns; i++)
			be_served(c, me, false);
		be_served(c, me, c->short_turns > 0);
	}
	sennit_wait_group_done(&c->done);
}

static void serve(struct crowd *c, unsigned fibers, unsigned threads)
{
	pthread_t thread[8];

	c->members = fibers + threads;
	sennit_wait_group_init(&c->done, c->members);
	for (unsigned i = 0; i < threads; i++)
		thread[i] = start_on_thread(crowd_in, c);
	for (unsigned i = 0; i < fibers; i++)
		must_schedule(crowd_in, c);
	sennit_wait_group_wait(&c->done);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(c->served, c->members);
	sennit_mutex_destroy(&c->lock);
}

/* Symptom: with five short turns and one turn held across a yield, the third
 * fiber never got the lock. On one thread no wait is interrupted, so the grants
 * to others can be counted from before the call. */
TEST_WITH_WORKERS(a_hold_across_a_wait_starves_nobody)
{
	const unsigned counts[] = { 3, CROWD };

	for (unsigned i = 0; i < 2; i++) {
		struct crowd c = { .short_turns = 5,
				   .most = w->threads > 1 ? UINT32_MAX / 2
							  : 10000000 };

		serve(&c, counts[i], 0);
		if (w->threads <= 1)
			assert_true(c.longest <= GRANTS_TO_OTHERS(counts[i]));
	}
}

/* Symptom: most of 64 fibers on two workers that used nothing else got nothing
 * for seconds. (With one worker the first fiber would never wait, and the
 * others would not begin.) */
TEST_WITH_SEVERAL(fibers_that_want_nothing_else_all_get_it)
{
	struct crowd c = { .most = UINT32_MAX / 2 };

	serve(&c, CROWD, 0);
}

TEST_WITH_WORKERS(threads_and_fibers_all_get_it)
{
	struct crowd c = { .short_turns = 5, .most = UINT32_MAX / 2 };

	serve(&c, 16, 4);
}

/* --- a holder that never waits ------------------------------------------ */

struct hog {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          neighbours;
	atomic_uint       queued; /* waiters about to lock */
	atomic_uint       served;
};

static void be_a_neighbour(void *argument)
{
	struct hog *h = argument;

	atomic_fetch_add(&h->queued, 1);
	sennit_mutex_lock(&h->lock);
	atomic_fetch_add(&h->served, 1);
	sennit_mutex_unlock(&h->lock);
	sennit_wait_group_done(&h->done);
}

static void be_a_hog(void *argument)
{
	struct hog *h = argument;

	sennit_mutex_lock(&h->lock);
	for (unsigned i = 0; i < h->neighbours; i++)
		must_schedule_here(be_a_neighbour, h);
	while (atomic_load(&h->queued) < h->neighbours)
		sennit_yield();
	sennit_mutex_unlock(&h->lock);
	for (unsigned i = 0; atomic_load(&h->served) < h->neighbours; i++) {
		if (i == GRANTS_TO_OTHERS(h->neighbours))
			break;
		sennit_mutex_lock(&h->lock);
		sennit_mutex_unlock(&h->lock);
	}
	EXPECT(atomic_load(&h->served) == h->neighbours);
	sennit_wait_group_done(&h->done);
}

/* Symptom: a fiber that locks and unlocks without waiting kept the lock from
 * the fibers of its own worker for ever. */
TEST_IN_WORLDS(a_hog_lets_those_of_its_own_worker_have_it,
	       WITHOUT(a_hog_lets_those_of_its_own_worker_have_it, open_world,
		       close_world),
	       WITH_ONE(a_hog_lets_those_of_its_own_worker_have_it, open_world,
			close_world))
{
	const unsigned counts[] = { 1, 2, 100 };

	for (unsigned i = 0; i < 3; i++) {
		struct hog h = { .neighbours = counts[i] };

		sennit_wait_group_init(&h.done, h.neighbours + 1);
		must_schedule(be_a_hog, &h);
		sennit_wait_group_wait(&h.done);
		sennit_mutex_destroy(&h.lock);
	}
}
