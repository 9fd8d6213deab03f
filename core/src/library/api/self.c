/* SPDX-License-Identifier: Apache-2.0 */
/* self.c - what a fiber asks and says of itself, and the time. */
#include "sched/fiber.h"

#include "os/os.h"
#include "sched/hooks.h"
#include "sched/loop.h"
#include "sennit/base.h"
#include "sennit/fiber.h"

sennit_fiber *sennit_fiber_current(void)
{
	return sn_self ? sn_self->home.current : NULL;
}

uint32_t sennit_worker_current(void)
{
	return sn_self && sn_self->threaded ? sn_self->index
					    : SENNIT_WORKER_NONE;
}

uint32_t sennit_fiber_number(const sennit_fiber *f)
{
	return f->id;
}

void sennit_task_set_name(const char *name)
{
	struct sennit_fiber *f = sennit_fiber_current();

	if (!f)
		return;
	f->cleanup &= ~CLEANUP_NAME;
	if (name && name[0])
		f->cleanup |= CLEANUP_NAME;
	sn_task_name_write(&f->name, name ? name : "");
	sn_hook_task_name(sn_self, name ? name : "");
}

void sennit_yield(void)
{
	if (sn_self)
		sn_loop_yield(sn_self);
	else
		os_thread_yield();
	FRAME_IS_KEPT();
}

/* --- time ----------------------------------------------------------------- */

sennit_time sennit_now(void)
{
	return os_now();
}

sennit_time sennit_after(uint64_t nanoseconds)
{
	return os_after(nanoseconds);
}
