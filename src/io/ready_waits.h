/* SPDX-License-Identifier: Apache-2.0 */
/* ready_waits.h - who waits until a descriptor is ready, by descriptor.
 *
 * Each is a record in its fiber's frame, in a list of those whose descriptors
 * are equal in their low bits. There are about as many lists as records.
 *
 * Owned by one worker.
 */
#ifndef SN_IO_READY_WAITS_H
#define SN_IO_READY_WAITS_H

#include "base/list.h"
#include "sennit/poller.h"

struct ready_wait {
	sennit_poller_op    op;
	struct ready_wait  *next;
	struct ready_wait **pprev;
	int                 fd;
	uint32_t            events; /* of epoll */
	uint64_t            begun;  /* for closing.h */
	bool                trusts; /* for interest.h: a watch, since then */
	sennit_time         since;
	struct link         link;
};

struct ready_waits {
	const sennit_allocator *memory;
	struct ready_wait     **lists; /* mask + 1 of them */
	uint32_t                mask;
	uint32_t                count;
	struct link            *trusting; /* those that trust; oldest first */
};

/* 0 or -ENOMEM. */
int  sn_ready_waits_init(struct ready_waits *w, const sennit_allocator *memory);
void sn_ready_waits_free(struct ready_waits *w);

/* The list that has those on fd, others among them. */
static inline struct ready_wait **sn_ready_waits_on(const struct ready_waits *w,
						    int fd)
{
	return &w->lists[(uint32_t)fd & w->mask];
}

void sn_ready_waits_add(struct ready_waits *w, struct ready_wait *n);
void sn_ready_waits_remove(struct ready_waits *w, struct ready_wait *n);

/* n trusts a watch from now on, or no more. */
void sn_ready_waits_trust(struct ready_waits *w, struct ready_wait *n,
			  sennit_time now);
void sn_ready_waits_distrust(struct ready_waits *w, struct ready_wait *n);

/* The first that began to trust at `latest` or before. NULL: there is none. */
static inline struct ready_wait *sn_ready_waits_trusting(
	const struct ready_waits *w, sennit_time latest)
{
	struct ready_wait *n;

	if (!w->trusting)
		return NULL;
	n = (struct ready_wait *)((char *)w->trusting -
				  offsetof(struct ready_wait, link));
	return n->since <= latest ? n : NULL;
}

#endif
