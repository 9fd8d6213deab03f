/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a program while it runs: what the objects and the actors are in, and
 * what the calls of their steps may return. */
#ifndef SN_PROGRAM_RUN_H
#define SN_PROGRAM_RUN_H

#include "history.h"
#include "program.h"

#include "sennit.h"
#include "sennit/deterministic.h"
#include "sennit/domain.h"
#include "sennit/end.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAIN = ACTORS, PLACES = 2 * ACTORS + 2, TICKETS = 2, LOANS = 2 };

/* A stack that locks belong to: a fiber, or a thread that is not bound. Actors
 * that run within a call of another one share its place. */
struct place {
	_Atomic(uintptr_t) key; /* 0: free */
	atomic_int         actors;
	atomic_int         held; /* locks, tickets, loans: it may not wait for
				  * ever */
};

enum object_end { ALIVE, FREED };

/* An object, on a page of its own. */
struct object {
	union {
		sennit_event        event;
		sennit_mutex        mutex;
		sennit_cond         cond;
		sennit_semaphore    semaphore;
		sennit_rwlock       rwlock;
		sennit_barrier      barrier;
		sennit_once         once;
		sennit_ticket_queue line;
		sennit_channel      channel;
		sennit_future       future;
		sennit_wait_group   wait_group;
		sennit_pool         pool;
		sennit_group        group;
		sennit_event        domain_end;
	};
};

/* What is known of an object besides its history. */
struct known {
	struct object *at;      /* its page, or memory of the library */
	struct object *page;    /* its page */
	atomic_int     uses;    /* steps to come that may touch it */
	atomic_int     leaving; /* calls under way that release a waiter, who
				 * may free the object at once */
	atomic_int     end;     /* enum object_end */
	_Atomic(struct place *) holder; /* of a mutex, as a writer */
	/* cond: */
	atomic_int  waiting, notified;
	atomic_bool loose; /* it was notified without the mutex */
	/* barrier, once, pool, tickets: */
	atomic_int arrived, passed, last, running, ran, lent, drawn, served;
	atomic_int busy; /* whose turn it is */
	/* group: */
	atomic_int        state; /* 0: not open yet, 1: open, 2: ended */
	atomic_int        opener, around; /* an actor, a group; -1: none */
	atomic_int        members, failed, refused, cancels;
	_Atomic(uint64_t) deadline;
	atomic_bool       draining;
	_Atomic(uint64_t) drained_at;
	_Atomic(uint64_t) changed; /* when its deadline was */
	/* domain: */
	sennit_domain *domain;
	atomic_int     ended;
	/* future: the value of the first call to set it; what a wait got */
	atomic_int value, outcome;
	/* wait group: */
	atomic_int count;
};

enum actor_state { UNBORN, SCHEDULED, RUNNING, ENDED, DROPPED };

struct actor {
	const struct actor_plan *plan;
	uint8_t                  index;
	atomic_int               state;
	_Atomic(struct place *)  place;
	atomic_int               group;   /* it is a member of; -1: none */
	atomic_int               nesting; /* the actor that it calls; -1 */
	const struct step       *step;    /* now */
	/* The wait that it is in. */
	bool        waits, cancellable;
	sennit_time deadline, since;
	/* What it holds. */
	uint8_t             reads[OBJECTS], writes[OBJECTS];
	sennit_ticket       ticket[TICKETS];
	sennit_ticket      *other;         /* that it waits for */
	atomic_int          line[TICKETS]; /* -1: not taken */
	atomic_int          watched; /* by those who wait for a ticket of it */
	void               *loan[LOANS];
	int                 pool[LOANS];
	sennit_wait_group   tied;
	bool                has_tied;
	sennit_future       birth; /* CONTINUATION, OUTCOME */
	bool                spawned;
	sennit_continuation continuation;
	bool                in_setter; /* it runs in the call that set it off */
	pthread_t           thread;
	bool                has_thread;
	struct actor       *parent;
};

struct run {
	const struct program  *p;
	sennit_scheduler      *s, *second;
	sennit_weak_scheduler *weak;
	sennit_resources      *resources;
	atomic_int             ends; /* told to clients of its end */
	sennit_event           end_event;
	sennit_future          end_future;
	struct known           known[OBJECTS];
	struct actor           actor[ACTORS + 1];
	struct place           place[PLACES];
	atomic_int             left; /* actors that have not ended */
	sennit_event           over;
	struct record          record[RECORDS];
	atomic_uint            records, clock;
	atomic_int             next_value;
	atomic_int             holding; /* threads */
	atomic_int             live;    /* blocks of memory */
	atomic_int             allocations, refused;
	bool                   refusing;
	uint64_t               began;
};

extern struct run run;

/* Says what is wrong and aborts. */
_Noreturn void program_failed(const char *what, ...)
	__attribute__((format(printf, 1, 2)));

#define CHECK(claim)                                          \
	do {                                                  \
		if (!(claim))                                 \
			program_failed("not so: %s", #claim); \
	} while (0)

/* --- histories ---------------------------------------------------- */

/* Notes that a call begins; the result is for note_end. */
struct record *note(struct actor *a, uint8_t object, unsigned effect,
		    int32_t value);
struct record *note_wait(struct actor *a, uint8_t object, unsigned wanted,
			 int32_t value);
void           note_end(struct record *r, unsigned effect, int32_t value);

/* --- waits -------------------------------------------------------- */

/* The deadline of a step, and SENNIT_NEVER where the call has none. */
sennit_time deadline_of(struct actor *a, unsigned limit);

void begin_wait(struct actor *a, sennit_time deadline, bool cancellable);
/* The wait has returned this; 0 or more is a success. */
void end_wait(struct actor *a, int err);

/* --- actors ------------------------------------------------------- */

void start_actor(struct actor *parent, unsigned index);
/* The place of the caller; it waits for ever nowhere while it holds something.
 */
bool may_wait_long(const struct actor *a);
/* Whether it may spawn into a group, cancel it, and so on. */
bool is_inside(const struct actor *a, int group);

/* Whether it waits for a ticket that is due, or done. */
bool is_ticket_due(const struct actor *a);

void step_run(struct actor *a, const struct step *s);
/* The ends of what the actor still holds. */
void let_all_go(struct actor *a);
void end_group(struct actor *a, unsigned index, unsigned how, unsigned limit);

/* The call of *r has taken *object: if nobody else will use it, its memory
 * goes. `own`: steps of the caller that still count as uses. */
void perhaps_free(uint8_t object, const struct record *r, int own);
void perhaps_free_taken(uint8_t object, uint32_t began);

/* --- objects ------------------------------------------------------ */

void object_open(unsigned index);
void object_close(unsigned index);
/* One more reference to a shared object, or one less. */
void object_retain(unsigned index);
void object_release(unsigned index);
/* Something for everyone who waits for it. */
void object_supply(struct actor *main_part, unsigned index);
/* -1: there is none. */
int mutex_of_cond(void);

static inline uint8_t kind_of(uint8_t object)
{
	return run.p->object[object].kind;
}

#endif
