/* SPDX-License-Identifier: Apache-2.0 */
/* thread_state.h - the thread of a worker. */
#ifndef SN_THREAD_STATE_H
#define SN_THREAD_STATE_H

#include "base/atomic.h"
#include "os/os.h"

#include <pthread.h>
#include <stdbool.h>

struct startup;

struct thread_state {
	pthread_t       id;       /* fixed while it runs */
	a_u32           number;   /* owner writes: the system's thread id; in a
				   * report it may be that of the previous
				   * thread while another begins; 0: no thread
				   * has begun */
	a_u32           present;  /* under counts.lock: whether there is a
				   * thread */
	struct startup *startup;  /* fixed: the creator that the thread reports
				   * to; NULL: none */
	bool            founding; /* handed: the scheduler's creator started the
				   * thread */
};

/* Stale unless counts.lock is held. */
static inline bool sn_thread_is_present(const struct thread_state *t)
{
	return a_load_rlx(&t->present); /* not raced under the lock */
}

/* Under counts.lock. */
static inline void sn_thread_set_present(struct thread_state *t, bool present)
{
	a_store_rlx(&t->present, present); /* the lock or the gate makes it
					    * visible */
}

/* Start the thread with run(argument). Its stack has `stack` bytes, and as many
 * more as a signal stack at its far end takes. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE static inline int sn_thread_start(struct thread_state *t,
						  void *(*run)(void *),
						  void *argument, size_t stack)
{
	return os_thread_start(&t->id, run, argument,
			       stack + os_fault_stack_size());
}

/* The thread is the calling one, which is never joined. */
static inline void sn_thread_adopt(struct thread_state *t)
{
	t->id = pthread_self();
}

static inline void sn_thread_join(const struct thread_state *t)
{
	os_thread_join(t->id);
}

/* A new thread reports to *startup, if that is not NULL, before it works.
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

/* The calling thread is the worker's. Only reports use the number, so relaxed
 * is enough. */
static inline void sn_thread_begin(struct thread_state *t)
{
	a_store_rlx(&t->number, os_thread_id());
}

/* Stale: the previous thread's id, or 0 before the first thread. */
static inline uint32_t sn_thread_number(const struct thread_state *t)
{
	return a_load_rlx(&t->number);
}

#endif
