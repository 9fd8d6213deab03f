/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - the kernel's share of W6a, W8, W11 and W12, without the library:
 * touch the first page of a fresh stack, to guard a stack, to sleep until a
 * deadline once, to wake a thread that sleeps on a word, and a process barrier.
 */
#include "harness.h"

#include "os/os.h"

#include <pthread.h>

#define GUARD ((size_t)68 << 10) /* as in api/config.c */
#define STACK (GUARD + ((size_t)64 << 10))
#define BATCH 32 /* as in stack/slab.h */
#define NAPS  2000

/* The work of W11 and W12. */
#define SAMPLES 500
#define GAP     (2 * SENNIT_MILLISECOND)

/* Alternates between the two, so that a slow phase of the machine affects
 * both. */
static void touch_and_guard(struct bench_run *r)
{
	size_t page = os_page_size();
	char  *memory = os_map(r->n * STACK);

	bench_check(memory, "kernel: no memory");
	r->value[0] = 0;
	r->value[1] = 0;
	for (uint64_t i = 0; i < r->n; i += BATCH) {
		char       *stacks = memory + i * STACK;
		sennit_time begin = sennit_now();
		sennit_time guarded;

		bench_check(
			!os_guard(os_guard_kind(), stacks, STACK, BATCH, GUARD),
			"kernel: no guards");
		guarded = sennit_now();
		for (size_t k = 1; k <= BATCH; k++)
			*(volatile char *)(stacks + k * STACK - page) = 1;
		r->value[0] += (double)(sennit_now() - guarded) / (double)r->n;
		r->value[1] += (double)(guarded - begin) / (double)r->n;
	}
	os_unmap(memory, r->n * STACK);
}

static void nap(struct bench_run *r)
{
	static uint64_t late[NAPS];
	a_u32           word;
	uint64_t        cpu = bench_cpu_ns();

	a_init(&word, 0);
	for (size_t i = 0; i < NAPS; i++) {
		sennit_time due = sennit_after(100 * SENNIT_MICROSECOND);

		while (os_word_wait(&word, 0, due))
			;
		late[i] = sennit_now() - due;
	}
	r->value[0] = (double)(bench_cpu_ns() - cpu) / NAPS;
	r->value[1] = bench_percentile(late, NAPS, 50);
}

/* --- a thread that sleeps on a word -------------------------------------- */

/* `word` is not 0 while the thread is to run, or to end. */
static a_u32 word;
static a_u64 ran; /* when it ran; 0: not yet */
static a_u32 over;

static void *sleep_on_word(void *unused)
{
	while (!a_load_acq(&over)) {
		if (!a_load_acq(&word)) {
			os_word_wait(&word, 0, SENNIT_NEVER);
			continue;
		}
		a_store_rlx(&word, 0);
		a_store_rel(&ran, os_now());
	}
	return unused;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t thread;

	a_init(&word, 0);
	a_init(&over, 0);
	bench_check(!pthread_create(&thread, NULL, run, NULL),
		    "kernel: no thread");
	return thread;
}

static void wake(void)
{
	a_store_rel(&word, 1);
	os_word_wake_one(&word);
}

static void end(pthread_t thread)
{
	a_store_rel(&over, 1);
	wake();
	pthread_join(thread, NULL);
}

static uint64_t latency(void)
{
	sennit_time begin;

	a_store_rel(&ran, 0);
	bench_pause(GAP);
	begin = sennit_now();
	wake();
	while (!a_load_acq(&ran))
		bench_pause(GAP);
	return a_load_acq(&ran) - begin;
}

/* As in foreign_submit.c and, for the CPU time, in idle_cpu.c. */
static void wake_sleeper(struct bench_run *r)
{
	static uint64_t samples[SAMPLES];
	pthread_t       thread = start(sleep_on_word);
	sennit_time     begin = sennit_now();
	uint64_t        cpu = bench_cpu_ns();

	for (unsigned i = 0; i < SAMPLES; i++) {
		wake();
		bench_pause(GAP);
	}
	cpu = bench_cpu_ns() - cpu;
	r->value[2] = (double)cpu / (double)(sennit_now() - begin) * 1e9;
	for (unsigned i = 0; i < SAMPLES; i++)
		samples[i] = latency();
	r->value[0] = bench_percentile(samples, SAMPLES, 50);
	r->value[1] = bench_percentile(samples, SAMPLES, 99);
	end(thread);
}

/* --- a process barrier ---------------------------------------------------- */

static void *run_until_over(void *unused)
{
	while (!a_load_acq(&over))
		a_pause();
	return unused;
}

static double time_barriers(uint64_t count)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < count; i++)
		os_process_barrier();
	return (double)(sennit_now() - begin) / (double)count;
}

static void barriers(struct bench_run *r)
{
	pthread_t thread;

	bench_check(os_process_barrier_init(), "kernel: no barrier");
	r->value[0] = time_barriers(r->n);
	thread = start(run_until_over);
	bench_pause(GAP);
	r->value[1] = time_barriers(r->n);
	end(thread);
}

const struct bench_row bench_kernel[] = {
	{ .names = { "kernel-stack/touch", "kernel-stack/guard" },
	  .n = 3200 * BATCH,
	  .workers = BENCH_NONE,
	  .run = touch_and_guard },
	{ .names = { "kernel-sleep/cpu", "kernel-sleep/late-p50" },
	  .n = NAPS,
	  .workers = BENCH_NONE,
	  .run = nap },
	{ .names = { "kernel-wake/p50", "kernel-wake/p99",
		     "kernel-wake/cpu-per-second" },
	  .n = SAMPLES,
	  .workers = BENCH_NONE,
	  .run = wake_sleeper },
	{ .names = { "kernel-barrier/alone", "kernel-barrier/beside-a-thread" },
	  .n = 100000,
	  .workers = BENCH_NONE,
	  .run = barriers },
	{ .run = NULL },
};
