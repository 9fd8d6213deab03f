/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - check a configuration, change the number of workers, give
 * memory back, and find the schedulers of the process and their workers.
 */
#include "calls.h"

#include <sennit/workers.h>
#include <string.h>

static void count(void *context, const sennit_worker_view *view)
{
	unsigned *workers = context;

	if (view->worker != UINT32_MAX) /* not a bound thread */
		++*workers;
}

static void look(sennit_scheduler *s)
{
	sennit_scheduler *all[8];
	unsigned          workers = 0;
	size_t            n = sennit_schedulers_get(all, 8);

	CHECK(n == 1 && all[0] == s);
	CHECK(sennit_version() == SENNIT_VERSION);
	puts(sennit_build());
	CHECK(sennit_worker_current() == SENNIT_WORKER_NONE);
	sennit_workers_visit(s, count, &workers);
	printf("%u workers have begun\n", workers);
	CHECK(workers <= 3);
	sennit_scheduler_release(all[0]);
}

int main(void)
{
	sennit_config     c = { .size = sizeof(c), .workers = 2 };
	sennit_scheduler *s;
	const char       *field = NULL;

	c.max_workers = 1; /* fewer than workers */
	CHECK(sennit_config_check(&c, &field) == -EINVAL);
	CHECK(strcmp(field, "max_workers") == 0);
	c.max_workers = 4;
	c.owner = &c; /* anything that outlives the scheduler */
	c.owner_type = "calls/scheduler";
	CHECK(sennit_config_check(&c, NULL) == 0);

	printf("%u CPUs\n", (unsigned int)sennit_cpu_count());
	CHECK(sennit_scheduler_create(&s, &c) == 0);
	CHECK(sennit_scheduler_set_workers(s, 3) == 0);
	CHECK(sennit_scheduler_workers(s) == 3);
	CHECK(sennit_scheduler_stack_size(s) >= 64 * 1024); /* the default */
	CHECK(sennit_scheduler_owner(s, "calls/scheduler") == &c);
	sennit_scheduler_trim(s);
	look(s);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
