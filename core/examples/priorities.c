/* SPDX-License-Identifier: Apache-2.0 */
/* priorities.c - answers requests first and tidies up when there is nothing
 * else to do.
 *
 * Each request leaves a record to be packed. Packing can wait but must not be
 * forgotten. As background tasks the records are packed when no request is
 * left; some are packed even if requests never end, and all before the
 * scheduler ends.
 */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>

enum { REQUESTS = 2000 };

static atomic_int answered, packed, packed_early;

static void pack(void *record)
{
	(void)record;
	if (atomic_load(&answered) < REQUESTS)
		atomic_fetch_add(&packed_early, 1);
	atomic_fetch_add(&packed, 1);
}

static void answer(void *request)
{
	const sennit_task tidy = { .run = pack,
				   .argument = request,
				   .flags = SENNIT_TASK_BACKGROUND };

	if (!sennit_schedule_task(&tidy))
		atomic_fetch_add(&answered, 1);
}

int main(void)
{
	sennit_scheduler *s;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		return 1;
	for (size_t i = 0; i < REQUESTS; i++)
		if (sennit_schedule(answer, (void *)i))
			return 1;
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("%d answered, %d packed, %d of them before the last answer\n",
	       answered, packed, packed_early);
	return answered == REQUESTS && packed == REQUESTS ? 0 : 1;
}
