/* SPDX-License-Identifier: Apache-2.0 */
/* held_call.h - blocking calls that a test holds and releases, and the thread
 * that each one ran on. */
#ifndef SN_TEST_HELD_CALL_H
#define SN_TEST_HELD_CALL_H

#include "testing/with_workers.h"

#include <semaphore.h>
#include <signal.h>

static inline void *return_argument(void *argument)
{
	return argument;
}

/* Blocks its thread until released. */
struct hold {
	sem_t       go;
	atomic_uint begun;
	atomic_uint ended;
};

static inline void init_hold(struct hold *h)
{
	sem_init(&h->go, 0, 0);
	atomic_init(&h->begun, 0);
	atomic_init(&h->ended, 0);
}

static inline void let_go(struct hold *h, unsigned n)
{
	while (n--)
		sem_post(&h->go);
}

static inline void *hold(void *argument)
{
	struct hold *h = argument;

	atomic_fetch_add(&h->begun, 1);
	while (sem_wait(&h->go))
		;
	atomic_fetch_add(&h->ended, 1);
	return h;
}

static inline void call_hold(void *argument)
{
	EXPECT(sennit_blocking_call(hold, argument) == argument);
}

struct place {
	pthread_t         thread;
	sennit_scheduler *bound_to;
	sigset_t          blocked;
	char              name[16];
};

static inline void *note_place(void *argument)
{
	struct place *p = argument;

	p->thread = pthread_self();
	p->bound_to = sennit_scheduler_current();
	pthread_sigmask(SIG_BLOCK, NULL, &p->blocked);
	pthread_getname_np(pthread_self(), p->name, sizeof(p->name));
	return NULL;
}

#endif
