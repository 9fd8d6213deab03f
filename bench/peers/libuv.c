/* SPDX-License-Identifier: Apache-2.0 */
/* libuv.c - libuv: callbacks instead of fibers. Its thread pool runs tasks, its
 * loop has timers and can be woken.
 *
 * Left out: everything that waits in the middle of a task, and fork-join.
 */
#include "peer.h"

#include <stdio.h>
#include <uv.h>

#define QUEUED 100000 /* each has a request of its own */

const char *peer_version(void)
{
	static char version[128];

	snprintf(version, sizeof(version), "libuv %s, " BENCH_COMPILER,
		 uv_version_string());
	return version;
}

/* --- tasks on the pool ---------------------------------------------------- */

static void nothing(uv_work_t *unused)
{
	(void)unused;
}

static void use_threads(uint32_t workers)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", workers);
	setenv("UV_THREADPOOL_SIZE", number, 1);
}

static void spawn_flat(struct bench_run *r)
{
	static uv_work_t requests[QUEUED];
	uv_loop_t       *loop = uv_default_loop();
	sennit_time      begin;

	use_threads(r->workers);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		bench_check(!uv_queue_work(loop, &requests[i], nothing, NULL),
			    "libuv: not queued");
	uv_run(loop, UV_RUN_DEFAULT);
	bench_elapsed(r, begin);
}

/* --- timers --------------------------------------------------------------- */

struct sleeper {
	uv_timer_t  timer;
	sennit_time due;
	uint64_t    late;
};

static struct sleeper sleepers[SLEEPERS];

static void wake_up(uv_timer_t *timer)
{
	struct sleeper *s = uv_handle_get_data((uv_handle_t *)timer);

	s->late = sennit_now() - s->due;
	uv_close((uv_handle_t *)timer, NULL);
}

/* Its timers count milliseconds and may fire early by a fraction of one. */
static void fall_asleep(uv_loop_t *loop, struct sleeper *s, uint64_t delay)
{
	uint64_t milliseconds = (delay + 999999) / SENNIT_MILLISECOND;

	uv_timer_init(loop, &s->timer);
	uv_handle_set_data((uv_handle_t *)&s->timer, s);
	uv_update_time(loop);
	s->due = sennit_after(milliseconds * SENNIT_MILLISECOND);
	uv_timer_start(&s->timer, wake_up, milliseconds, 0);
}

static void sleep_all(struct bench_run *r)
{
	static uint64_t late[SLEEPERS];
	uv_loop_t      *loop = uv_default_loop();
	uint64_t        cpu = bench_cpu_ns();

	for (uint64_t i = 0; i < r->n; i++)
		fall_asleep(loop, &sleepers[i], delay_of(i));
	uv_run(loop, UV_RUN_DEFAULT);
	for (uint64_t i = 0; i < r->n; i++)
		late[i] = (int64_t)sleepers[i].late < 0 ? 0 : sleepers[i].late;
	report_sleeps(r, late, cpu);
}

static void never(uv_timer_t *unused)
{
	(void)unused;
}

/* In milliseconds: from one to two hours ahead. */
static uint64_t far_away(uint64_t i)
{
	return 3600000 + i * 36 / 10;
}

static uv_timer_t timers[TIMERS];

static void arm_all(uv_loop_t *loop)
{
	static bool is_armed;

	if (is_armed)
		return;
	is_armed = true;
	for (uint64_t i = 0; i < TIMERS; i++) {
		uv_timer_init(loop, &timers[i]);
		uv_timer_start(&timers[i], never, far_away(i), 0);
	}
}

static void last_armed(struct bench_run *r)
{
	uv_loop_t  *loop = uv_default_loop();
	uv_timer_t  mine;
	sennit_time begin;

	arm_all(loop);
	uv_timer_init(loop, &mine);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++) {
		uv_timer_start(&mine, never, 1000, 0);
		uv_timer_stop(&mine);
	}
	bench_elapsed(r, begin);
	uv_close((uv_handle_t *)&mine, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}

static void any_armed(struct bench_run *r)
{
	uint64_t    at = 0;
	sennit_time begin;

	arm_all(uv_default_loop());
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++) {
		at = (at + STRIDE) % TIMERS;
		uv_timer_stop(&timers[at]);
		uv_timer_start(&timers[at], never, far_away(at), 0);
	}
	bench_elapsed(r, begin);
}

/* --- from outside --------------------------------------------------------- */

static uv_async_t bell;

static void answer(uv_async_t *unused)
{
	(void)unused;
	ran_now();
}

static void run_loop(void *loop)
{
	uv_run(loop, UV_RUN_DEFAULT);
}

static void ring_bell(void)
{
	uv_async_send(&bell);
}

static void submits(struct bench_run *r)
{
	static uv_thread_t thread;

	if (!thread) {
		uv_async_init(uv_default_loop(), &bell, answer);
		uv_thread_create(&thread, run_loop, uv_default_loop());
	}
	sample_wakes(r, ring_bell);
}

/* clang-format off */
#define ROW(name, count, which, function)                                  \
	{ .names = { name }, .n = (count), .workers = (which),              \
	  .run = (function) }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn/libuv", QUEUED, BENCH_EACH, spawn_flat),
	{ .names = { "W8-sleep/libuv/cpu", "W8-sleep/libuv/late-p50",
		     "W8-sleep/libuv/late-p99" },
	  .n = SLEEPERS,
	  .workers = BENCH_ONE,
	  .run = sleep_all },
	{ .names = { "W11a-submit/libuv/p50", "W11a-submit/libuv/p99" },
	  .n = SAMPLES,
	  .workers = BENCH_ONE,
	  .run = submits },
	ROW("W13-timeout/libuv/wheel-last-armed", TIMERS, BENCH_NONE,
	    last_armed),
	ROW("W13-timeout/libuv/wheel-any-armed", TIMERS, BENCH_NONE, any_armed),
	{ .run = NULL },
};
