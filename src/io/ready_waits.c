/* SPDX-License-Identifier: Apache-2.0 */
#include "io/ready_waits.h"

#include <errno.h>
#include <string.h>

/* Lists at first. */
#ifdef SENNIT_TORTURE
#define LISTS 2u
#else
#define LISTS 256u
#endif

static struct ready_wait **new_lists(const sennit_allocator *a, uint32_t count)
{
	size_t size = count * sizeof(struct ready_wait *);
	void  *lists = a->allocate(a->context, size, _Alignof(void *));

	return lists ? memset(lists, 0, size) : NULL;
}

int sn_ready_waits_init(struct ready_waits *w, const sennit_allocator *memory)
{
	w->memory = memory;
	w->mask = LISTS - 1;
	w->lists = new_lists(memory, LISTS);
	return w->lists ? 0 : -ENOMEM;
}

void sn_ready_waits_free(struct ready_waits *w)
{
	const sennit_allocator *a = w->memory;

	if (w->lists)
		a->release(a->context, w->lists,
			   ((size_t)w->mask + 1) * sizeof(*w->lists));
}

/* Twice as many lists; without memory the old ones get longer. */
static void grow(struct ready_waits *w)
{
	const uint32_t      count = w->mask + 1;
	struct ready_wait **lists = new_lists(w->memory, 2 * count);

	if (!lists)
		return;
	for (uint32_t i = 0; i < count; i++)
		while (w->lists[i]) {
			struct ready_wait  *n = w->lists[i];
			struct ready_wait **to =
				&lists[(uint32_t)n->fd & (2 * count - 1)];

			SN_LIST_REMOVE(n);
			SN_LIST_PUSH(to, n);
		}
	sn_ready_waits_free(w);
	w->lists = lists;
	w->mask = 2 * count - 1;
}

void sn_ready_waits_add(struct ready_waits *w, struct ready_wait *n)
{
	struct ready_wait **list;

	if (++w->count > 2 * w->mask)
		grow(w);
	list = sn_ready_waits_on(w, n->fd);
	SN_LIST_PUSH(list, n);
}

void sn_ready_waits_trust(struct ready_waits *w, struct ready_wait *n,
			  sennit_time now)
{
	n->trusts = true;
	n->since = now;
	sn_link_join(&w->trusting, &n->link);
}

void sn_ready_waits_distrust(struct ready_waits *w, struct ready_wait *n)
{
	if (n->trusts)
		sn_link_leave(&w->trusting, &n->link);
	n->trusts = false;
}

void sn_ready_waits_remove(struct ready_waits *w, struct ready_wait *n)
{
	sn_ready_waits_distrust(w, n);
	SN_LIST_REMOVE(n);
	w->count--;
}
