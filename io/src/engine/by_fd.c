/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/by_fd.h"

#include "base/list.h"
#include "base/torture.h"

#include <string.h>

/* Number of lists once there is a record. */
#define FIRST_LISTS TORTURED(2u, 256u)

void sn_by_fds_init(struct by_fds *w, const sennit_allocator *memory)
{
	*w = (struct by_fds){ .memory = memory };
	w->lists = &w->lone;
}

void sn_by_fds_free(struct by_fds *w)
{
	const sennit_allocator *a = w->memory;

	if (w->lists && w->lists != &w->lone)
		a->release(a->context, w->lists,
			   ((size_t)w->mask + 1) * sizeof(*w->lists));
}

/* Add lists. Without memory for that, the existing lists get longer. */
static void grow_lists(struct by_fds *w)
{
	const sennit_allocator *a = w->memory;
	const uint32_t count = w->mask ? 2 * (w->mask + 1) : FIRST_LISTS;
	const size_t   size = count * sizeof(struct by_fd *);
	struct by_fd **lists = a->allocate(a->context, size, _Alignof(void *));

	if (!lists)
		return;
	memset(lists, 0, size);
	for (uint32_t i = 0; i <= w->mask; i++)
		while (w->lists[i]) {
			struct by_fd  *n = w->lists[i];
			struct by_fd **to =
				&lists[(uint32_t)n->fd & (count - 1)];

			SN_LIST_REMOVE(n);
			SN_LIST_PUSH(to, n);
		}
	sn_by_fds_free(w);
	w->lists = lists;
	w->mask = count - 1;
}

void sn_by_fds_add(struct by_fds *w, struct by_fd *n, int fd)
{
	struct by_fd **list;

	n->fd = fd;
	if (++w->count > 2 * w->mask)
		grow_lists(w);
	list = sn_by_fds_on(w, fd);
	SN_LIST_PUSH(list, n);
}

void sn_by_fds_remove(struct by_fds *w, struct by_fd *n)
{
	SN_LIST_REMOVE(n);
	w->count--;
}
