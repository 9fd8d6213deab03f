/* SPDX-License-Identifier: Apache-2.0 */
/* end_clients.h - the clients that are informed of a scheduler's end, and the
 * handles that keep its memory block.
 *
 *	clients   wait for the end; each has a record on its stack, and the
 *	          first is the heir, which frees the scheduler
 *	notices   functions to call, for clients that do not wait
 *	weak      handles; the scheduler's block stays until the last is gone
 *
 *	client    WAITING --heir--> CLAIMED ----> OVER
 *	             |  \---last one inside--> HEIR
 *	             v ^
 *	           ASKING      its deadline passed: it tries to retain
 *
 * Invariants
 *   - A client joins while it holds a reference, and leaves with a new
 *     one. So no client joins or leaves once the last thread inside has
 *     looked.
 *   - While a client is ASKING, the heir does not free the scheduler. A
 *     CLAIMED client no longer accesses the scheduler.
 *   - A client that is OVER may be gone.
 *   - `told` and the notices change under the lock. A caller that finds
 *     `told` set calls its function itself.
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

/* A client that waits for the end. */
struct client {
	struct link link;  /* under end_clients.lock */
	a_u32       state; /* any: one of the above; slept on */
};

/* The part of a scheduler that exists as long as anyone has a handle. */
struct sennit_weak {
	a_u32 keepers; /* any: weak handles, + 1 while the scheduler exists */
};

/* The part of a scheduler. It needs no destructor. */
struct end_clients {
	struct sennit_weak weak;
	sennit_word        lock;
	a_u32              awaited; /* under lock: number of clients that
				     * wait */
	struct link       *clients; /* under lock: struct client */
	struct notice     *notices; /* under lock: the newest first */
	bool               told;    /* under lock: all notices have been
				     * called */
};

/* Initialise *e with the scheduler's own keeper, without clients. */
void sn_end_clients_init(struct end_clients *e);

/* The caller, which holds a reference, will wait. */
void sn_end_clients_join(struct end_clients *e, struct client *c);

/* The caller has taken a new reference, and no longer waits. */
void sn_end_clients_leave(struct end_clients *e, struct client *c);

/* Nobody uses the scheduler any more: make the first client the heir and wake
 * it. Returns false if no client waits. Otherwise *e may be gone. */
bool sn_end_clients_appoint(struct end_clients *e);

/* The deadline of *c has passed: try to take a reference from *g. Returns false
 * if the scheduler has ended; c must then wait for its final state. */
bool sn_end_clients_ask(struct client *c, struct gate *g);

/* Called by the heir, c: afterwards the other clients no longer access the
 * scheduler. Returns them, for sn_end_clients_dismiss. */
struct link *sn_end_clients_claim(struct end_clients *e, struct client *c);

/* The scheduler and its memory are gone: release the clients. */
void sn_end_clients_dismiss(struct link *clients);

/* Call the notices in the order in which they came. */
void sn_end_clients_tell(struct end_clients *e, const sennit_allocator *memory);

/* Call run(argument) at the end, or at once if the notices have been called.
 * Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_end_clients_on(struct end_clients     *e,
				      const sennit_allocator *memory,
				      sennit_end_fn *run, void *argument);

/* Add a weak handle; the caller must hold another one or a reference. Drop a
 * weak handle; returns true if it was the last one, and the caller must then
 * free the block. */
void                 sn_end_clients_keep(struct end_clients *e);
SENNIT_MUST_USE bool sn_end_clients_drop(struct end_clients *e);

/* Whether nobody has a weak handle, nor has asked to be told. The caller is the
 * last to have more than a weak handle. */
bool sn_end_clients_are_none(const struct end_clients *e);

static inline struct sennit_weak *sn_end_clients_weak(struct end_clients *e)
{
	return &e->weak;
}

/* Whether a client waits for the end. A hint that affects only the timing. */
static inline bool sn_end_clients_is_awaited(const struct end_clients *e)
{
	return a_load_rlx(&e->awaited);
}

#endif
