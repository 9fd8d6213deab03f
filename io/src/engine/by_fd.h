/* SPDX-License-Identifier: Apache-2.0 */
/* by_fd.h - a hash table of waits by descriptor. It finds the waits to end when
 * a descriptor is ready or closed, however many wait on others.
 *
 * Each wait has a record in its fiber's frame. A list holds the records whose
 * descriptors are equal in their low bits. There are about as many lists as
 * records.
 *
 * Owned by one worker.
 */
#ifndef SN_BY_FD_H
#define SN_BY_FD_H

#include "sennit/base.h"

#include <stdint.h>

struct by_fd {
	struct by_fd  *next;
	struct by_fd **pprev;
	int            fd;
};

struct by_fds {
	const sennit_allocator *memory; /* fixed */
	struct by_fd          **lists;  /* mask + 1 of them */
	uint32_t                mask;
	uint32_t                count;
	struct by_fd           *lone; /* the only list at first */
};

void sn_by_fds_init(struct by_fds *w, const sennit_allocator *memory);
void sn_by_fds_free(struct by_fds *w);

/* The list with the waits on fd. It has waits on other descriptors, too. */
static inline struct by_fd **sn_by_fds_on(const struct by_fds *w, int fd)
{
	return &w->lists[(uint32_t)fd & w->mask];
}

void sn_by_fds_add(struct by_fds *w, struct by_fd *n, int fd);
void sn_by_fds_remove(struct by_fds *w, struct by_fd *n);

#endif
