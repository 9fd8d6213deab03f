/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deterministic.h"

#ifdef SENNIT_DETERMINISTIC

#include "base/deterministic_turns.h"

#include <errno.h>

/* --- threads ------------------------------------------------------------ */

int sn_deterministic_start(pthread_t *out, void *(*run)(void *), void *argument)
{
	struct turn *self = sn_turn_enter();
	struct turn *t = sn_turn_make();
	int          err;

	t->run = run;
	t->argument = argument;
	err = pthread_create(&t->thread, NULL, sn_turn_run, t);
	if (err) {
		sn_turn_free(t);
	} else {
		*out = t->thread;
		sn_turn_enlist(t);
		sn_turn_let_others(self);
	}
	sn_turn_unlock();
	return err;
}

/* --- what threads do ---------------------------------------------------- */

/* Whether all other threads have ended, so that nothing refers to them. */
static bool is_alone(const struct turn *self)
{
	for (const struct turn *t = sn_turn_first(); t; t = t->next)
		if (t != self && t->state != TURN_ENDED)
			return false;
	return true;
}

void sn_deterministic_begin(uint64_t value)
{
	struct turn *self = sn_turn_enter();

	while (!is_alone(self))
		sn_turn_pass(self);
	sn_turn_begin(self, value);
	sn_turn_unlock();
}

uint64_t sn_deterministic_seed(void)
{
	return sn_turn_seed();
}

uint64_t sn_deterministic_passed(void)
{
	uint64_t count;

	sn_turn_enter();
	count = sn_turn_passed();
	sn_turn_unlock();
	return count;
}

uint32_t sn_deterministic_random(uint32_t limit)
{
	uint32_t value;

	sn_turn_enter();
	value = sn_turn_random(limit);
	sn_turn_unlock();
	return value;
}

uint64_t sn_deterministic_now(void)
{
	uint64_t time;

	sn_turn_enter();
	time = sn_turn_now();
	sn_turn_unlock();
	return time;
}

void sn_deterministic_point(void)
{
	int saved = errno;

	sn_turn_let_others(sn_turn_enter());
	sn_turn_unlock();
	errno = saved;
}

bool sn_deterministic_wait(const uint32_t *word, uint32_t expected,
			   uint64_t deadline)
{
	int          saved = errno;
	struct turn *self = sn_turn_enter();
	bool         in_time = true;

	if (self->state != TURN_ENDED &&
	    __atomic_load_n(word, __ATOMIC_ACQUIRE) == expected) {
		self->word = word;
		self->deadline = deadline;
		self->in_time = true;
		self->state = TURN_WAITING;
		sn_turn_pass(self);
		in_time = self->in_time;
	}
	sn_turn_unlock();
	errno = saved;
	return in_time;
}

static void make_runnable(const uint32_t *word, bool all)
{
	for (struct turn *t = sn_turn_first(); t; t = t->next) {
		if (t->state != TURN_WAITING || t->word != word)
			continue;
		t->state = TURN_RUNNABLE;
		if (!all)
			break;
	}
}

void sn_deterministic_wake(const uint32_t *word, bool all)
{
	struct turn *self = sn_turn_enter();

	make_runnable(word, all);
	sn_turn_let_others(self);
	sn_turn_unlock();
}

void sn_deterministic_end_sleep(const uint32_t *word)
{
	sn_turn_enter();
	make_runnable(word, true);
	sn_turn_unlock();
}

int sn_deterministic_join(pthread_t thread)
{
	struct turn *self = sn_turn_enter();
	struct turn *other = NULL;

	/* Use the last thread with this id, because the system reuses ids. */
	for (struct turn *t = sn_turn_first(); t; t = t->next)
		if (pthread_equal(t->thread, thread))
			other = t;
	if (other && other->state != TURN_ENDED) {
		self->joined = other;
		self->state = TURN_JOINING;
		sn_turn_pass(self);
	}
	sn_turn_unlock();
	return pthread_join(thread, NULL);
}

void sn_deterministic_explain(void (*explain)(void *context), void *context)
{
	sn_turn_explain(explain, context);
}

void sn_deterministic_forget(const void *context)
{
	sn_turn_forget(context);
}

void sn_deterministic_lock(pthread_mutex_t *mutex)
{
	while (pthread_mutex_trylock(mutex))
		sn_deterministic_point();
}

#endif
