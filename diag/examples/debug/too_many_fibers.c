/* SPDX-License-Identifier: Apache-2.0 */
/* too_many_fibers.c - a fiber for each request, however many there are.
 *
 * All requests start at once, and each waits for one of ten connections. Each
 * waiting request keeps a stack: the program's memory grows with the load
 * instead of its speed. The live view shows it to sennit-top. The program ends
 * by itself after a minute.
 *
 * Cure: take the connection before the request becomes a task, so that the
 * caller waits; or set sennit_config.max_fibers.
 */
#include <sennit.h>
#include <sennit/live.h>

#include <stdio.h>
#include <unistd.h>

#define REQUESTS    2000
#define CONNECTIONS 10

static sennit_semaphore connections;

static void request(void *unused)
{
	(void)unused;
	if (sennit_semaphore_acquire(&connections, 1))
		return;
	sennit_sleep(3600 * SENNIT_SECOND); /* the database is slow today */
	sennit_semaphore_release(&connections, 1);
}

static sennit_scheduler *start_server(void)
{
	sennit_scheduler *s;

	sennit_function_set_name(request, "request");
	sennit_semaphore_init(&connections, CONNECTIONS);
	if (sennit_scheduler_create(&s,
				    SENNIT_CONFIG(.workers = 1, .name = "web")))
		return NULL;
	for (int i = 0; i < REQUESTS; i++)
		if (sennit_schedule_task_on(s,
					    &(sennit_task){ .run = request }))
			break; /* no memory */
	return s;
}

int main(void)
{
	sennit_scheduler *s = start_server();
	sennit_live      *live;

	if (!s || sennit_live_start(&live, s, "too_many_fibers.live"))
		return 1;
	printf("process %d\n", (int)getpid());
	fflush(stdout);
	sleep(60);
	sennit_live_stop(live);
	_exit(0); /* the requests have not ended */
}
