/* SPDX-License-Identifier: Apache-2.0 */
#include "group/submit.h"

#include "base/torture.h"
#include "group/domain.h"
#include "sched/worker.h"

#include <errno.h>
#include <string.h>

_Static_assert(SENNIT_COPY_SMALL <= POOL_BLOCK, "small copies fit a block");

/* --- packing ------------------------------------------------------------ */

/* Allocate a copy of `size` bytes with its header. NULL: out of memory. */
static void *allocate_task_copy(sennit_scheduler *s, size_t size)
{
	struct task_copy *copy;

	if (size > SIZE_MAX - sizeof(*copy))
		return NULL;
	size += sizeof(*copy);
	copy = s->memory.allocate(s->memory.context, size, 16);
	if (!copy)
		return NULL;
	copy->size = size;
	return copy + 1;
}

int sn_submit_pack_from(sennit_scheduler *s, struct pool_cache *c,
			const sennit_task *user, struct task *t)
{
	void     *copy = user->argument;
	uintptr_t meta = TASK_BORROWED;

	if (!sn_submit_are_flags(user->flags) || user->reserved_ || !user->run)
		return -EINVAL;
	if (user->copy_size > POOL_BLOCK) {
		copy = allocate_task_copy(s, user->copy_size);
		meta = TASK_COPY;
	} else if (user->copy_size) {
		copy = c ? sn_pool_take(c) : sn_pool_take_shared(&s->pool);
		meta = TASK_BLOCK;
	}
	if (user->copy_size) {
		if (!copy)
			return -ENOMEM;
		sn_race_fresh(copy, user->copy_size);
		memcpy(copy, user->argument, user->copy_size);
	}
	*t = TASK(user->run, copy, meta);
	return 0;
}

int sn_submit_pack(sennit_scheduler *s, const sennit_task *user, struct task *t)
{
	struct worker *w = sn_place_own_worker(s);

	return sn_submit_pack_from(s, w ? &w->cache : NULL, user, t);
}

void sn_submit_unpack(sennit_scheduler *s, struct task t)
{
	if ((t.meta & TASK_OWNED) == TASK_BLOCK)
		sn_place_give_block(s, t.argument);
	else if ((t.meta & TASK_OWNED) == TASK_COPY)
		sn_worker_free_copy(s, t.argument);
}

/* --- placing ------------------------------------------------------------ */

int sn_submit_in(sennit_scheduler *s, struct sennit_domain *d, struct task t,
		 uint32_t flags, const char *call)
{
	struct domain_part *part;
	int                 err;

	part = sn_domain_part(d, sn_self);
	t.meta |= (uintptr_t)d;
	sn_domain_count(d, part, 1);
	err = sn_place(s, t, flags, call);
	if (err) /* on success *d may be gone */
		sn_domain_count(d, part, -1);
	return err;
}

static int submit_packed(sennit_scheduler *s, struct sennit_domain *d,
			 const sennit_task *user, uint32_t kept,
			 const char *call)
{
	struct task t;
	int         err = sn_submit_pack(s, user, &t);

	if (err)
		return err;
	err = d ? sn_submit_in(s, d, t, user->flags | kept, call)
		: sn_place(s, t, user->flags | kept, call);
	if (err)
		sn_submit_unpack(s, t);
	return err;
}

/* Of a scheduler that has ended only the gate is left. */
int sn_submit(sennit_scheduler *s, struct sennit_domain *d,
	      const sennit_task *user, const char *call)
{
	int err;

	if (sn_place_own_worker(s))
		return submit_packed(s, d, user, 0, call);
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	err = submit_packed(s, d, user, PLACE_KEPT, call);
	TORTURE_POINT(); /* the task may have dropped all other references */
	sn_end_release(s);
	return err;
}
