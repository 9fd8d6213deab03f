/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - one step of a channel under its lock: a send, a receive, or a
 * select that does either.
 *
 * A step succeeds, or fails with an error, or finds a partner: a waiter on the
 * other side, which the step claims. The rest follows after the unlock: copy
 * the value between the two stacks, and wake the partner.
 *
 * Invariants, while unlocked
 *   - Receivers wait only while the channel is empty, senders only while
 *     it is full, and neither while it is closed. Exception: waiters
 *     whose wait is over and that have not unlinked themselves yet.
 *   - On a rendezvous channel, senders and receivers wait at the same
 *     time only if they are cases of one select.
 */
#ifndef SN_CHANNEL_H
#define SN_CHANNEL_H

#include "api/channel_buffer.h"
#include "wait/wait.h"

#define CHANNEL_CLOSED WAIT_QUEUE_OWN

/* A waiter that sends *value, or receives into it. `handed` is set if the value
 * was transferred; otherwise the channel was closed. */
struct party {
	struct waiter n;
	void         *value;
	struct party *twin; /* fixed: for a select that waits on both sides of
			     * one channel, the party of the other side; else
			     * NULL. Unused in other waits */
};

/* The work that remains after the unlock. */
struct deal {
	struct party    *partner; /* claimed, must be woken; NULL: none */
	void            *to;      /* destination of a copy from `from`; NULL:
				   * nothing to copy */
	const void      *from;
	uint32_t         size;
	struct block    *block; /* must be freed; NULL: none */
	sennit_allocator allocator;
};

/* Try a step. Lock held. Returns 0; -EPIPE; -EAGAIN: the caller has to wait;
 * -ENOMEM: an unbounded channel needs a block, see sn_channel_grow. After 0 the
 * caller unlocks and calls sn_channel_conclude. */
int sn_channel_try_send(sennit_channel *c, const void *value, struct deal *d);
int sn_channel_try_receive(sennit_channel *c, void *value, struct deal *d);

/* Copy, wake and free as *d says. Does not access the channel. */
void sn_channel_conclude(const struct deal *d);

/* Allocate a block for an unbounded channel. Lock not held. Returns 0 or
 * -ENOMEM. */
int sn_channel_grow(sennit_channel *c);

#endif
