/* SPDX-License-Identifier: Apache-2.0 */
/* end_clients.h - who is told of a scheduler's end, or of a domain's: see
 * struct end_clients. */
#ifndef SN_END_CLIENTS_H
#define SN_END_CLIENTS_H

#include "sched/state.h"

/* Initialise *e with the scheduler's own weak reference, without clients. */
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
 * it must then drop the scheduler's weak reference, and free the clients. */
SENNIT_MUST_USE bool sn_end_clients_leave(struct end_clients *e,
					  struct link       **all);

/* The scheduler and its memory are gone: all others return. */
void sn_end_clients_free(struct link *all, const struct client *c);

/* Register *n, with `run`, `argument` and `lent` set. The caller has a
 * reference. *n is the caller's again when it is called, or after the caller,
 * which then has a new reference, takes it back. */
void sn_end_clients_lend(struct end_clients *e, struct notice *n);
void sn_end_clients_take_back(struct end_clients *e, struct notice *n);

/* Call the notices in the order in which they came. */
void sn_end_clients_tell(struct end_clients *e);

/* Call run(argument) at the end, or at once if the notices have been called.
 * Returns 0, -ENOMEM, or -EINVAL if run is NULL. */
SENNIT_MUST_USE int sn_end_clients_on(struct end_clients *e, sennit_end_fn *run,
				      void *argument);

/* Add a weak handle; the caller must hold another one or a reference. Drop a
 * weak handle; returns true if it was the last one, and the caller must then
 * free the block. */
void                 sn_end_clients_keep(struct end_clients *e);
SENNIT_MUST_USE bool sn_end_clients_drop(struct end_clients *e);

/* Whether nobody has a weak handle, nor has asked to be told. The caller is the
 * last to have more than a weak handle. */
bool sn_end_clients_are_none(const struct end_clients *e);

/* Whether a client waits for the end. A hint that affects only the timing. */
static inline bool sn_end_clients_is_awaited(const struct end_clients *e)
{
	return a_load_rlx(&e->awaited);
}

#endif
