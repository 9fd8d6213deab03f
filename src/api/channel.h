/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - one step of a channel, by whoever holds its lock: a send, a
 * receive, or a select that does either.
 *
 * A step either is done, or tells why not, or finds a partner: one who waits on
 * the other side, claimed by the step. What remains then is for after the
 * unlock: copy between the two stacks, wake the partner.
 *
 * Invariants, while unlocked
 *   - Receivers wait only while the channel is empty, senders only while it is
 *     full, neither while it is closed; but for those whose wait is over and
 *     who have not unlinked themselves yet.
 *   - On a rendezvous both wait only if they are cases of one select.
 */
#ifndef SN_CHANNEL_H
#define SN_CHANNEL_H

#include "api/channel_buffer.h"
#include "wait/wait.h"

#define CHANNEL_CLOSED WAIT_QUEUE_OWN

/* One who waits to send *value, or to receive into it; `handed`: it went over,
 * else the channel was closed. */
struct party {
	struct waiter n;
	void         *value;
	struct party *twin; /* fixed: of a select that waits on both sides of
			     * one channel, the other side; NULL: only on one.
			     * Means nothing in other waits */
};

/* What is left to do without the lock. */
struct deal {
	struct party    *partner; /* claimed, to be woken; NULL: nobody */
	void            *to;      /* copy from `from`; NULL: nothing */
	const void      *from;
	uint32_t         size;
	struct block    *block; /* to be freed; NULL: none */
	sennit_allocator allocator;
};

/* Try it, lock held: 0; -EPIPE; -EAGAIN: it has to wait; -ENOMEM: an unbounded
 * channel needs a block, see sn_channel_grow. After 0, sn_channel_conclude
 * without the lock. */
int sn_channel_try_send(sennit_channel *c, const void *value, struct deal *d);
int sn_channel_try_receive(sennit_channel *c, void *value, struct deal *d);

/* Copy, wake, free. Touches no channel. */
void sn_channel_conclude(const struct deal *d);

/* Bring a block to an unbounded channel; lock not held. 0 or -ENOMEM. */
int sn_channel_grow(sennit_channel *c);

#endif
