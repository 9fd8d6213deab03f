/* SPDX-License-Identifier: Apache-2.0 */
/* thread_state.h - the thread of a worker: who it is, whether it is there. */
#ifndef SN_THREAD_STATE_H
#define SN_THREAD_STATE_H

#include "base/atomic.h"
#include "os/os.h"

#include <pthread.h>
#include <stdbool.h>

struct startup;

struct thread_state {
	pthread_t       id;       /* fixed while it runs */
	a_u32           number;   /* owner writes: the system's, or that of the
				  * last, in a report just when another begins;
				  * 0: not begun */
	a_u32           present;  /* under counts.lock: there is one */
	struct startup *startup;  /* fixed: whom to report to; NULL: none */
	bool            founding; /* handed: it is create's */
};

/* Under counts.lock, or a number that may be stale. */
static inline bool sn_thread_is_present(const struct thread_state *t)
{
	return a_load_rlx(&t->present); /* changed under the lock */
}

/* Under counts.lock. */
static inline void sn_thread_set_present(struct thread_state *t, bool present)
{
	a_store_rlx(&t->present, present); /* seen through lock, gate */
}

/* Start it with run(argument). 0 or -EAGAIN. */
SENNIT_MUST_USE static inline int sn_thread_start(struct thread_state *t,
						  void *(*run)(void *),
						  void *argument, size_t stack)
{
	return os_thread_start(&t->id, run, argument, stack);
}

/* It is the calling one, which nobody joins. */
static inline void sn_thread_adopt(struct thread_state *t)
{
	t->id = pthread_self();
}

static inline void sn_thread_join(const struct thread_state *t)
{
	os_thread_join(t->id);
}

/* A new thread reports to *startup, if that is not NULL, before it works;
 * founding: its scheduler is being created. */
static inline void sn_thread_prepare(struct thread_state *t,
				     struct startup *startup, bool founding)
{
	t->startup = startup;
	t->founding = founding;
}

static inline struct startup *sn_thread_startup(const struct thread_state *t)
{
	return t->startup;
}

static inline bool sn_thread_is_founding(const struct thread_state *t)
{
	return t->founding;
}

/* The calling thread is the worker's: reports print its number, alone; nothing
 * else is reached through it. */
static inline void sn_thread_begin(struct thread_state *t)
{
	a_store_rlx(&t->number, os_thread_id());
}

/* Stale: the last owner's, or 0, as one begins. */
static inline uint32_t sn_thread_number(const struct thread_state *t)
{
	return a_load_rlx(&t->number);
}

#endif
