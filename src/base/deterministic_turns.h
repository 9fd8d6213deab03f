/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic_turns.h - whose turn it is: one thread runs, the others wait
 * until chance gives them the turn.
 *
 * For deterministic.c alone. All of it is under one lock, which
 * sn_turn_enter takes.
 */
#ifndef SN_DETERMINISTIC_TURNS_H
#define SN_DETERMINISTIC_TURNS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

enum turn_state {
	TURN_RUNNABLE,
	TURN_WAITING, /* on a word */
	TURN_JOINING,
	TURN_ABSENT, /* had the turn, and does something else */
	TURN_ENDED
};

struct turn {
	struct turn    *next; /* of all, first come first */
	sem_t           go;   /* the turn is given */
	enum turn_state state;
	bool            taken;    /* the turn: it has noticed that it has it */
	bool            in_time;  /* TURN_WAITING: woken, not by the deadline */
	const uint32_t *word;     /* TURN_WAITING */
	uint64_t        deadline; /* TURN_WAITING */
	struct turn    *joined;   /* TURN_JOINING */
	uint64_t        seen;     /* `points` when last impatient */
	pthread_t       thread;
	void *(*run)(void *);
	void *argument;
};

/* A thread that is to be started, and is not on the list yet; or never will
 * be. */
struct turn *sn_turn_make(void);
void         sn_turn_free(struct turn *t);
void         sn_turn_enlist(struct turn *t);

/* What such a thread runs: run(argument), in turn, and then it has ended. */
void *sn_turn_run(void *turn);

/* The calling thread, with the turn and the lock. */
struct turn *sn_turn_enter(void);
void         sn_turn_unlock(void);

/* Hand the turn to whom chance says, who may be the caller. */
void sn_turn_pass(struct turn *self);

/* Some time goes by, and perhaps the turn. */
void sn_turn_let_others(struct turn *self);

/* All that take part, the ended ones included, first come first. */
struct turn *sn_turn_first(void);

/* Once all others have ended: forget them, and begin anew with this seed. */
void sn_turn_begin(struct turn *self, uint64_t seed);

uint64_t sn_turn_seed(void);   /* changes when a run begins alone */
uint64_t sn_turn_passed(void); /* how often the turn has been passed */
uint64_t sn_turn_now(void);
uint32_t sn_turn_random(uint32_t limit);

/* As sn_deterministic_explain and _forget. */
void sn_turn_explain(void (*what)(void *context), void *context);
void sn_turn_forget(const void *context);

#endif
