/* SPDX-License-Identifier: Apache-2.0 */
/* end_clients.h - the clients that are informed of a scheduler's end, and the
 * handles that keep its memory block.
 *
 *	clients   wait for the end; each has a record on its stack, and the
 *	          first is the heir, which takes the scheduler apart
 *	notices   functions to call, for clients that do not wait
 *	weak      handles; the scheduler's block stays until the last is gone
 *
 *	client    WAITS --last thread inside--> LEAVES --last client--> FREE
 *
 * The clients together have the scheduler's own keeper. Each one leaves when it
 * is told, the heir after it has taken the scheduler apart. The last one to
 * leave drops the keeper, and then lets the others return.
 *
 * Invariants
 *   - A client joins while it holds a reference, and gives up with a new one.
 *     So no client joins or gives up once the last thread inside has looked.
 *   - Until a client leaves, the block stays, so that it may ask the gate for
 *     its reference when its deadline passes.
 *   - A client that is FREE may be gone.
 *   - `told` and the notices change under the lock. A caller that finds
 *     `told` set calls its function itself.
 *
 * Checked by test/model/end.pml.
 */
#ifndef SN_END_CLIENTS_H
#define SN_END_CLIENTS_H

#include "base/atomic.h"
#include "base/list.h"
#include "sennit/end.h"

enum { CLIENT_WAITS = 0, CLIENT_LEAVES, CLIENT_FREE };

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
	struct sennit_weak      weak;
	sennit_word             lock;
	const sennit_allocator *memory;  /* fixed: for notices */
	a_u32                   awaited; /* number of clients that have not
					  * left; under lock until the end */
	struct link            *clients; /* under lock: struct client */
	struct notice          *notices; /* under lock: the newest first */
	bool                    told;    /* under lock: all notices have been
					  * called */
};

/* Initialise *e with the scheduler's own keeper, without clients. */
void sn_end_clients_init(struct end_clients *e, const sennit_allocator *memory);

/* The caller, which holds a reference, will wait. */
void sn_end_clients_join(struct end_clients *e, struct client *c);

/* The caller has taken a new reference, and no longer waits. */
void sn_end_clients_give_up(struct end_clients *e, struct client *c);

/* Nobody uses the scheduler any more: the clients shall leave. Returns false if
 * no client waits. Otherwise *e may be gone. */
bool sn_end_clients_dissolve(struct end_clients *e);

/* Whether c, which was told to leave, is the heir. */
bool sn_end_clients_is_heir(const struct end_clients *e,
			    const struct client      *c);

/* The caller, which was told to leave, no longer accesses the scheduler. *all
 * becomes the list of the clients. Returns true if the caller is the last one:
 * it must then drop the scheduler's keeper, and free the clients. */
SENNIT_MUST_USE bool sn_end_clients_leave(struct end_clients *e,
					  struct link       **all);

/* The scheduler and its memory are gone: all others return. */
void sn_end_clients_free(struct link *all, const struct client *c);

/* Call the notices in the order in which they came. */
void sn_end_clients_tell(struct end_clients *e);

/* Call run(argument), set the event or set the future at the end, or at once if
 * the notices have been called. Returns 0, -ENOMEM, or -EINVAL if run is
 * NULL. */
SENNIT_MUST_USE int sn_end_clients_on(struct end_clients *e, sennit_end_fn *run,
				      void *argument);
SENNIT_MUST_USE int sn_end_clients_on_event(struct end_clients *e,
					    sennit_event       *event);
SENNIT_MUST_USE int sn_end_clients_on_future(struct end_clients *e,
					     sennit_future      *f);

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
