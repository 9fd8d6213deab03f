/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic_turns.h - the turns of a deterministic run: one thread runs,
 * the others wait until the seed gives them the turn.
 *
 * Only deterministic.c uses this. One lock protects everything; sn_turn_enter
 * takes it.
 */
#ifndef SN_DETERMINISTIC_TURNS_H
#define SN_DETERMINISTIC_TURNS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

enum turn_state {
	TURN_RUNNABLE,
	TURN_WAITING, /* waits on a word */
	TURN_JOINING,
	TURN_ABSENT, /* lost the turn while it did something outside the
		      * library */
	TURN_ENDED
};

struct turn {
	struct turn    *next; /* in the list of all threads, in order of
			       * arrival */
	sem_t           go;   /* posted when the thread gets the turn */
	enum turn_state state;
	bool            taken;    /* the thread has noticed that it has the
				   * turn */
	bool            in_time;  /* TURN_WAITING: a wake came before the
				   * deadline */
	const uint32_t *word;     /* TURN_WAITING: the word */
	uint64_t        deadline; /* TURN_WAITING */
	struct turn    *joined;   /* TURN_JOINING */
	uint64_t        seen;     /* `points` at the last check for an absent
				   * holder */
	pthread_t       thread;
	void *(*run)(void *);
	void *argument;
};

/* Allocate the record of a thread that is to be started. It is not on the list
 * before sn_turn_enlist. */
struct turn *sn_turn_make(void);
void         sn_turn_free(struct turn *t);
void         sn_turn_enlist(struct turn *t);

/* The main function of such a thread: it runs run(argument) when it has the
 * turn, and then ends. */
void *sn_turn_run(void *turn);

/* Wait until the calling thread has the turn, and take the lock. */
struct turn *sn_turn_enter(void);
void         sn_turn_unlock(void);

/* Pass the turn to the thread that the seed chooses, which may be the
 * caller. */
void sn_turn_pass(struct turn *self);

/* Advance the clock a little, and perhaps pass the turn. */
void sn_turn_let_others(struct turn *self);

/* The list of all threads that take part, including ended ones, in order of
 * arrival. */
struct turn *sn_turn_first(void);

/* Forget all other threads, which have ended, and begin a new run with this
 * seed. */
void sn_turn_begin(struct turn *self, uint64_t seed);

uint64_t sn_turn_seed(void);   /* changes only when a run begins with one
			        * thread */
uint64_t sn_turn_passed(void); /* the number of times that the turn has
			        * passed */
uint64_t sn_turn_now(void);
uint32_t sn_turn_random(uint32_t limit);

/* See sn_deterministic_explain and sn_deterministic_forget. */
void sn_turn_explain(void (*what)(void *context), void *context);
void sn_turn_forget(const void *context);

#endif
