/* SPDX-License-Identifier: Apache-2.0 */
/* end_clients.h - who is told of a scheduler's end, and who keeps its last
 * block.
 *
 *	clients   wait for it: a record on the stack of each, the first is the
 *	          heir, who takes the scheduler apart
 *	notices   functions to be called, of who does not wait
 *	weak      handles; the block of the scheduler stays until the last goes
 *
 *	client    WAITING --heir--> CLAIMED ----> OVER
 *	             |  \---last one inside--> HEIR
 *	             v ^
 *	           ASKING      its deadline passed: it tries to retain
 *
 * Invariants
 *   - A client joins while it has a reference, and leaves under a new one: so
 *     nobody joins or leaves once the last one inside has looked.
 *   - While a client is ASKING the heir does not take the scheduler apart; a
 *     client that is CLAIMED does not touch the scheduler any more.
 *   - A client that is OVER may be gone.
 *   - `told` and the notices change under the lock; who finds `told` set calls
 *     its function itself.
 *
 * Checked by test/model/end.pml.
 */
#ifndef SN_END_CLIENTS_H
#define SN_END_CLIENTS_H

#include "base/list.h"
#include "core/gate.h"
#include "sennit/end.h"

enum {
	CLIENT_WAITING = 0,
	CLIENT_ASKING,
	CLIENT_CLAIMED,
	CLIENT_HEIR,
	CLIENT_OVER
};

/* One that waits for the end. */
struct client {
	struct link link;  /* under the lock of the ending */
	a_u32       state; /* any: above; slept on */
};

/* What stays as long as anybody has a handle: a part of the scheduler. */
struct sennit_weak {
	a_u32 keepers; /* any: weak handles, + 1 while the scheduler is there */
};

/* A scheduler's. Needs no destroying. */
struct end_clients {
	struct sennit_weak weak;
	sennit_word        lock;
	a_u32              awaited; /* under lock: clients that wait */
	struct link       *clients; /* under lock: struct client */
	struct notice     *notices; /* under lock: the newest first */
	bool               told;    /* under lock: notices are called no more */
};

/* The scheduler's own share; the lock is free, nobody is there. */
void sn_end_clients_init(struct end_clients *e);

/* The caller, who holds a reference, will wait. */
void sn_end_clients_join(struct end_clients *e, struct client *c);

/* The caller has taken a new reference, and waits no more. */
void sn_end_clients_leave(struct end_clients *e, struct client *c);

/* All have let go: the first client becomes the heir and is woken. False:
 * nobody waits. *e may be gone if somebody does. */
bool sn_end_clients_appoint(struct end_clients *e);

/* The deadline of *c has passed: try to take a reference by `retain`. False:
 * the scheduler has ended, and c must wait for what becomes of it. */
bool sn_end_clients_ask(struct client *c, struct gate *g);

/* The heir, c: the other clients touch the scheduler no more. Returns them, for
 * sn_end_clients_dismiss. */
struct link *sn_end_clients_claim(struct end_clients *e, struct client *c);

/* All is over, the scheduler's memory included: let the clients go. */
void sn_end_clients_dismiss(struct link *clients);

/* Call the notices, in the order in which they came. */
void sn_end_clients_tell(struct end_clients *e, const sennit_allocator *memory);

/* Have run(argument) called at the end, or at once if that was told already. 0
 * or -ENOMEM. */
SENNIT_MUST_USE int sn_end_clients_on(struct end_clients     *e,
				      const sennit_allocator *memory,
				      sennit_end_fn *run, void *argument);

/* One more weak handle, by a holder of another or of a reference; or one less:
 * true: it was the last, and the caller frees the block. */
void                 sn_end_clients_keep(struct end_clients *e);
SENNIT_MUST_USE bool sn_end_clients_drop(struct end_clients *e);

static inline struct sennit_weak *sn_end_clients_weak(struct end_clients *e)
{
	return &e->weak;
}

/* Whether a client waits for the end. A guess: only time depends on it. */
static inline bool sn_end_clients_is_awaited(const struct end_clients *e)
{
	return a_load_rlx(&e->awaited);
}

#endif
