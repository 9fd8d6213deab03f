/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - the calls of sennit/resources.h. */
#include "base/memory.h"
#include "base/sized.h"
#include "life/end.h"
#include "life/fork.h"
#include "cpus/slots.h"
#include "os/os.h"
#include "os/quota.h"
#include "sennit/resources.h"

#include <errno.h>
#include <string.h>

static void check_resources(const sennit_resources *r, const char *call)
{
	MISUSE(!r, call, "the resources are NULL");
	MISUSE(r->process != a_load_rlx(&sn_process), call,
	       "the resources belong to the parent process");
}

int sennit_resources_create(sennit_resources **out, uint32_t cpus,
			    const sennit_allocator *allocator)
{
	const sennit_allocator *a = allocator ? allocator : &sn_memory_libc;
	sennit_resources       *r;
	int                     err = sn_fork_exit_prepare();

	MISUSE(!out, "sennit_resources_create", "out is NULL");
	if (cpus > SENNIT_WORKERS_MAX || !sn_memory_is_valid(allocator))
		return -EINVAL;
	if (err)
		return err;
	r = sn_memory_take(a, sizeof(*r), _Alignof(sennit_resources));
	if (!r)
		return -ENOMEM;
	r->memory = *a;
	r->process = a_load_rlx(&sn_process);
	a_init(&r->references, 1);
	pthread_mutex_init(&r->lock, NULL);
	sn_shares_init(&r->shares, cpus ? cpus : os_cpu_count());
	*out = r;
	return 0;
}

sennit_resources *sennit_resources_retain(sennit_resources *r)
{
	check_resources(r, "sennit_resources_retain");
	a_add_rlx(&r->references, 1); /* not the last one: the caller has a
				       * reference */
	return r;
}

void sennit_resources_release(sennit_resources *r)
{
	check_resources(r, "sennit_resources_release");
	sn_slots_release(r);
}

int sennit_resources_set_cpus(sennit_resources *r, uint32_t cpus)
{
	check_resources(r, "sennit_resources_set_cpus");
	if (cpus > SENNIT_WORKERS_MAX)
		return -EINVAL;
	return sn_slots_resize(r, cpus ? cpus : os_cpu_count()) ? 0 : -EAGAIN;
}

ENDS_WITH(sennit_resources_stats, yields);
ENDS_WITH(sennit_resources_share, reserved_);

static int change_share(sennit_scheduler             *s,
			const sennit_resources_share *given)
{
	sennit_resources_share  shares;
	sennit_resources_share *share = &shares;
	const int               err =
		sn_sized_read(share, sizeof(*share), given,
			      SIZE_THROUGH(sennit_resources_share, reserved_));
	uint32_t most = s->config.max_workers;
	uint32_t max, priority;

	if (err)
		return err;
	max = share->max ? share->max : most;
	priority = share->priority ? share->priority : 1;
	if (!s->slots.resources || share->reserved_ || share->min > max ||
	    share->min > most || priority > SENNIT_RESOURCES_PRIORITY_MAX)
		return -EINVAL;
	return sn_slots_change(s, share->min, max, priority) ? 0 : -EAGAIN;
}

int sennit_resources_set_share(sennit_scheduler             *s,
			       const sennit_resources_share *share)
{
	int err;

	MISUSE_INHERITED(s, "sennit_resources_set_share");
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	err = change_share(s, share);
	sn_end_release(s);
	return err;
}

void sennit_resources_get_stats(sennit_resources       *r,
				sennit_resources_stats *stats)
{
	sennit_resources_stats now = { .size = sizeof(now) };

	check_resources(r, "sennit_resources_get_stats");
	MISUSE(!stats, "sennit_resources_get_stats", "stats is NULL");
	os_lock(&r->lock);
	now.cpus = sn_slots_number(r);
	now.schedulers = r->shares.count;
	now.promised = r->shares.promised;
	now.active = r->shares.held;
	now.active_peak = r->shares.held_most;
	now.waiting = r->shares.waiting;
	now.yields = r->shares.moves;
	pthread_mutex_unlock(&r->lock);
	MISUSE(!sn_sized_write(stats, &now, sizeof(now),
			       SIZE_THROUGH(sennit_resources_stats, yields)),
	       "sennit_resources_get_stats", "stats->size is not set");
}
