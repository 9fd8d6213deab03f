/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/blocking_threads.h"

#include "base/check.h"
#include "os/quota.h"

/* Without a configured limit the library chooses it: LIMIT_DEFAULT, or
 * 1/LIMIT_SHARE of the threads that the process may have, if that is less, but
 * at least LIMIT_LEAST. The first LIMIT_LEAST threads start before that number
 * is queried. */
#define LIMIT_DEFAULT 256u
#define LIMIT_SHARE   4u
#define LIMIT_LEAST   8u

void sn_blocking_threads_init(struct blocking_threads *p, uint32_t limit)
{
	a_init(&p->word, 0);
	p->calls = NULL;
	p->idle = NULL;
	p->choose = !limit;
	p->limit = limit ? limit : LIMIT_DEFAULT;
	p->ceiling = p->limit;
	p->count = 0;
	a_init(&p->names, 0);
}

bool sn_blocking_threads_must_choose(const struct blocking_threads *p)
{
	return p->choose && p->count >= LIMIT_LEAST;
}

void sn_blocking_threads_choose(struct blocking_threads *p)
{
	uint32_t share = os_thread_limit() / LIMIT_SHARE;
	uint32_t word;

	if (share < LIMIT_LEAST)
		share = LIMIT_LEAST;
	word = sn_wait_queue_lock(&p->word);
	p->choose = false;
	if (p->limit > share)
		p->limit = share;
	if (p->ceiling > share)
		p->ceiling = share;
	sn_wait_queue_unlock(&p->word, word);
}

uint32_t sn_blocking_threads_count(struct blocking_threads *p)
{
	uint32_t word = sn_wait_queue_lock(&p->word);
	uint32_t count = p->count;

	sn_wait_queue_unlock(&p->word, word);
	return count;
}

struct blocking_thread *sn_blocking_threads_take_idle(
	struct blocking_threads *p)
{
	struct blocking_thread *first;

	if (!p->idle)
		return NULL;
	first = container_of(p->idle, struct blocking_thread, link);
	sn_link_leave(&p->idle, &first->link);
	first->idle = false;
	return first;
}

void sn_blocking_thread_give(struct blocking_thread *to, struct waiter *call)
{
	uint32_t state;

	to->given = call;
	TORTURE_POINT(); /* taken, but may be asleep */
	/* -> blocking_thread.give: the call */
	state = a_swap_rel(&to->state, BLOCKING_THREAD_GIVEN);
	TORTURE_POINT(); /* it may already work, or have ended */
	if (state == BLOCKING_THREAD_SLEEPS)
		os_word_wake_one(&to->state);
}

void sn_blocking_threads_close(struct blocking_threads *p)
{
	struct blocking_thread *next;

	do {
		uint32_t word = sn_wait_queue_lock(&p->word);

		next = sn_blocking_threads_take_idle(p);
		if (next)
			p->count--;
		ASSERT(next || !p->count);
		sn_wait_queue_unlock(&p->word, word);
		if (next)
			sn_blocking_thread_give(next, NULL);
	} while (next);
}

bool sn_blocking_threads_refused(struct blocking_threads *p)
{
	uint32_t word = sn_wait_queue_lock(&p->word);
	uint32_t left = --p->count;

	/* Stop trying to start threads until one rests: the existing threads
	 * must do all calls. */
	p->ceiling = left ? left : p->limit;
	sn_wait_queue_unlock(&p->word, word);
	return !left;
}

/* The deadline has passed. Returns false if another thread was faster and gave
 * self a call. */
static bool leave(struct blocking_threads *p, struct blocking_thread *self)
{
	uint32_t word;
	bool     idle;

	TORTURE_POINT(); /* past the deadline, but still takeable */
	word = sn_wait_queue_lock(&p->word);
	idle = self->idle;
	if (idle) {
		sn_link_leave(&p->idle, &self->link);
		p->count--;
	}
	sn_wait_queue_unlock(&p->word, word);
	return idle;
}

void sn_blocking_thread_rest(struct blocking_threads *p,
			     struct blocking_thread  *self)
{
	a_store_rlx(&self->state,
		    BLOCKING_THREAD_RESTS); /* before others can find it */
	p->ceiling = p->limit;
	sn_link_join(&p->idle, &self->link);
	p->idle = &self->link;
	self->idle = true;
}

struct waiter *sn_blocking_thread_await(struct blocking_threads *p,
					struct blocking_thread  *self,
					sennit_time              deadline)
{
	TORTURE_POINT(); /* may be taken, not asleep yet */
	/* <- blocking_thread.give */
	while (a_load_acq(&self->state) != BLOCKING_THREAD_GIVEN) {
		uint32_t state = BLOCKING_THREAD_RESTS;

		a_cas_rlx(&self->state, &state, BLOCKING_THREAD_SLEEPS);
		if (os_word_wait(&self->state, BLOCKING_THREAD_SLEEPS,
				 deadline))
			continue;
		if (leave(p, self))
			return NULL;
		deadline = SENNIT_NEVER; /* taken: a call will be given very
					  * soon */
	}
	return self->given;
}
