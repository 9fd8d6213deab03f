/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - the cost of end detection while a scheduler runs: a worker that goes
 * idle and comes back, and a reference that is taken and released, both on the
 * gate alone; and a task, which must cost nothing there.
 *
 * For the last one, the scheduler's memory, which contains the gate, is made
 * read-only while one worker runs a million tasks. A write would cause a fault,
 * which is counted.
 */
#include "harness.h"

#include "park/gate.h"
#include "sched/state.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the gate alone ----------------------------------------------------- */

static void step_out_and_in(struct gate *g, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		bench_check(!sn_gate_leave(g) && sn_gate_enter(g),
			    "gate: not open");
}

/* A reference is held throughout, so no sweep happens. */
static void leave_enter(struct bench_run *r)
{
	struct gate g;
	sennit_time begin;

	sn_gate_init(&g, 1, 1);
	begin = sennit_now();
	step_out_and_in(&g, r->n);
	bench_elapsed(r, begin);
}

static void retain_release(struct bench_run *r)
{
	struct gate g;
	sennit_time begin;

	sn_gate_init(&g, 1, 1);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		bench_check(sn_gate_retain(&g) && !sn_gate_release(&g),
			    "gate: not open");
	bench_elapsed(r, begin);
}

struct pair {
	struct gate g;
	atomic_uint present;
	uint64_t    times;
};

static void meet(struct pair *p)
{
	atomic_fetch_add(&p->present, 1);
	while (atomic_load(&p->present) < 2)
		continue;
}

static void *second(void *argument)
{
	struct pair *p = argument;

	meet(p);
	step_out_and_in(&p->g, p->times);
	return NULL;
}

/* Both threads make the same number of passes; the time is per pass of one
 * thread. */
static void leave_enter_together(struct bench_run *r)
{
	struct pair p = { .times = r->n };
	sennit_time begin;
	pthread_t   t;

	sn_gate_init(&p.g, 1, 2);
	bench_check(!pthread_create(&t, NULL, second, &p), "gate: no thread");
	meet(&p);
	begin = sennit_now();
	step_out_and_in(&p.g, r->n);
	bench_elapsed(r, begin);
	pthread_join(t, NULL);
}

/* --- tasks -------------------------------------------------------------- */

static struct {
	char       *low; /* the pages of the scheduler, which contain nothing
			  * else */
	size_t      size;
	atomic_uint writes; /* 0 or 1: the first write makes the pages
			     * writable */
} watched;

static size_t whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static void *take_pages(void *unused, size_t size, size_t alignment)
{
	void *memory = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	(void)alignment; /* no alignment of the library is larger than a page */
	return memory == MAP_FAILED ? NULL : memory;
}

static void give_pages(void *unused, void *memory, size_t size)
{
	(void)unused;
	munmap(memory, whole_pages(size));
}

static void count_write(int number, siginfo_t *info, void *unused)
{
	char *at = info->si_addr;

	(void)number;
	(void)unused;
	if (at < watched.low || at >= watched.low + watched.size)
		_exit(3);
	atomic_fetch_add(&watched.writes, 1);
	mprotect(watched.low, watched.size, PROT_READ | PROT_WRITE);
}

static void watch(int protection)
{
	bench_check(!mprotect(watched.low, watched.size, protection),
		    "gate: pages not protected");
}

static void count_down(void *left)
{
	--*(uint64_t *)left;
}

/* Called in a task of the only worker: schedule n tasks, and yield until all of
 * them have run. */
static void run_some(uint64_t n)
{
	uint64_t left = n;

	for (uint64_t i = 0; i < n; i++)
		spawn(count_down, &left);
	while (left)
		sennit_yield();
}

/* The first task runs before the writes are counted, to touch its stack. */
static void run_tasks(void *argument)
{
	run_some(1);
	watch(PROT_READ);
	run_some(*(const uint64_t *)argument);
	watch(PROT_READ | PROT_WRITE);
}

static void task(struct bench_run *r)
{
	static const sennit_allocator pages = { take_pages, give_pages, NULL };
	struct sigaction              fault = { .sa_sigaction = count_write,
						.sa_flags = SA_SIGINFO };
	const sennit_task root = { .run = run_tasks, .argument = &r->n };
	sennit_scheduler *s = NULL;

	bench_check(!sigaction(SIGSEGV, &fault, NULL), "gate: no handler");
	bench_check(
		!sennit_scheduler_create(
			&s, SENNIT_CONFIG(.workers = 1, .allocator = &pages)),
		"gate: not created");
	watched.low = (char *)s;
	watched.size = whole_pages(sizeof(*s));
	atomic_store(&watched.writes, 0);
	bench_check(!sennit_schedule_task_on(s, &root), "gate: not submitted");
	bench_check(!sennit_scheduler_shutdown(s, SENNIT_NEVER),
		    "gate: no shutdown");
	r->value[0] = (double)atomic_load(&watched.writes);
}

const struct bench_row bench_gate[] = {
	{ .names = { "W15-gate/leave-enter" },
	  .n = 10000000,
	  .run = leave_enter },
	{ .names = { "W15-gate/leave-enter-by-two" },
	  .n = 5000000,
	  .run = leave_enter_together },
	{ .names = { "W15-gate/retain-release" },
	  .n = 10000000,
	  .run = retain_release },
	{ .names = { "W15-gate/writes-by-tasks" }, .n = 1000000, .run = task },
	{ .run = NULL },
};
