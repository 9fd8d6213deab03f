/* SPDX-License-Identifier: Apache-2.0 */
/* libuv_before.c - a timer ticks three times; then a thread of the pool does
 * some work. */
#include <stdio.h>
#include <uv.h>

static int ticks;
static int result;

static void work(uv_work_t *unused)
{
	(void)unused;
	result = 6 * 7; /* on a thread of the pool */
}

static void after_work(uv_work_t *unused, int status)
{
	(void)unused;
	printf("work: %d, status %d\n", result, status);
}

static void on_tick(uv_timer_t *timer)
{
	static uv_work_t request;

	printf("tick %d\n", ++ticks);
	if (ticks < 3)
		return;
	uv_timer_stop(timer);
	uv_close((uv_handle_t *)timer, NULL);
	if (uv_queue_work(timer->loop, &request, work, after_work))
		fprintf(stderr, "no work\n");
}

int main(void)
{
	uv_loop_t *loop = uv_default_loop();
	uv_timer_t timer;

	if (uv_timer_init(loop, &timer) ||
	    uv_timer_start(&timer, on_tick, 1, 1))
		return 1;
	uv_run(loop, UV_RUN_DEFAULT);
	return uv_loop_close(loop) || result != 42 ? 1 : 0;
}
