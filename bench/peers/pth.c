/* SPDX-License-Identifier: Apache-2.0 */
/* pth.c - GNU Pth: fibers of one thread, with stacks of 16 KiB, and a scheduler
 * that checks every event of every fiber.
 *
 * Left out: all rows with two workers, because it has one; W5, W6 and W8,
 * because with hundreds or thousands of waiters it takes 1 ms per switch.
 */
#include "peer.h"

#include <pth.h>

#define STACK (16 * 1024)
#define FEW   2000

const char *peer_version(void)
{
	return "GNU Pth 2.0.7, " BENCH_COMPILER;
}

static pth_attr_t attributes;

static void start(void)
{
	if (attributes)
		return;
	bench_check(pth_init(), "pth: no start");
	attributes = pth_attr_new();
	pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, STACK);
	pth_attr_set(attributes, PTH_ATTR_JOINABLE, TRUE);
}

static pth_t launch(void *(*run)(void *), void *argument)
{
	pth_t t = pth_spawn(attributes, run, argument);

	bench_check(t, "pth: no thread");
	return t;
}

static void *nothing(void *unused)
{
	return unused;
}

static void spawn_flat(struct bench_run *r)
{
	static pth_t all[FEW];
	sennit_time  begin;

	start();
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		all[i] = launch(nothing, NULL);
	for (uint64_t i = 0; i < r->n; i++)
		pth_join(all[i], NULL);
	bench_elapsed(r, begin);
}

/* --- passing a token ------------------------------------------------------ */

/* An auto-reset event. */
struct event {
	pth_mutex_t mutex;
	pth_cond_t  changed;
	bool        is_set;
};

static void set(struct event *e)
{
	pth_mutex_acquire(&e->mutex, FALSE, NULL);
	e->is_set = true;
	pth_cond_notify(&e->changed, FALSE);
	pth_mutex_release(&e->mutex);
}

static void wait_for(struct event *e)
{
	pth_mutex_acquire(&e->mutex, FALSE, NULL);
	while (!e->is_set)
		pth_cond_await(&e->changed, &e->mutex, NULL);
	e->is_set = false;
	pth_mutex_release(&e->mutex);
}

static struct event ping;
static struct event pong;
static uint64_t     rallies;

static void *play_ping(void *unused)
{
	for (uint64_t i = 0; i < rallies; i++) {
		set(&pong);
		wait_for(&ping);
	}
	return unused;
}

static void *play_pong(void *unused)
{
	for (uint64_t i = 0; i < rallies; i++) {
		wait_for(&pong);
		set(&ping);
	}
	return unused;
}

static void init(struct event *e)
{
	pth_mutex_init(&e->mutex);
	pth_cond_init(&e->changed);
	e->is_set = false;
}

static void one_worker(struct bench_run *r)
{
	sennit_time begin;
	pth_t       both[2];

	start();
	init(&ping);
	init(&pong);
	rallies = r->n / 2;
	begin = sennit_now();
	both[0] = launch(play_ping, NULL);
	both[1] = launch(play_pong, NULL);
	pth_join(both[0], NULL);
	pth_join(both[1], NULL);
	bench_elapsed(r, begin);
}

static pth_mutex_t mutex;
static uint64_t    counter;

static void *lock_and_unlock(void *unused)
{
	for (unsigned i = 0; i < LOCK_PAIRS; i++) {
		pth_mutex_acquire(&mutex, FALSE, NULL);
		counter++;
		pth_mutex_release(&mutex);
	}
	return unused;
}

static void contend(struct bench_run *r)
{
	pth_t       all[LOCKERS];
	sennit_time begin;

	start();
	pth_mutex_init(&mutex);
	counter = 0;
	begin = sennit_now();
	for (unsigned i = 0; i < LOCKERS; i++)
		all[i] = launch(lock_and_unlock, NULL);
	for (unsigned i = 0; i < LOCKERS; i++)
		pth_join(all[i], NULL);
	bench_elapsed(r, begin);
	bench_check(counter == r->n, "mutex: lost updates");
}

/* clang-format off */
#define ROW(name, count, function)                                         \
	{ .names = { name "/pth" }, .n = (count), .workers = BENCH_ONE,     \
	  .run = (function) }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn", FEW, spawn_flat),
	ROW("W4a-ping-pong", HAND_OVERS / 100, one_worker),
	ROW("W7-mutex", LOCKERS *LOCK_PAIRS, contend),
	{ .run = NULL },
};
