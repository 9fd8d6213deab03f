/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - the kernel's share of W6a and W8, without the library: to touch
 * the first page of a fresh stack, to guard a stack, and to sleep until a
 * deadline once.
 */
#include "harness.h"

#include "os/os.h"

#define GUARD ((size_t)68 << 10) /* as in api/config.c */
#define STACK (GUARD + ((size_t)64 << 10))
#define BATCH 32 /* as in core/slab.h */
#define NAPS  2000

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

const struct bench_row bench_kernel[] = {
	{ .names = { "kernel-stack/touch", "kernel-stack/guard" },
	  .n = 3200 * BATCH,
	  .workers = BENCH_NONE,
	  .run = touch_and_guard },
	{ .names = { "kernel-sleep/cpu", "kernel-sleep/late-p50" },
	  .n = NAPS,
	  .workers = BENCH_NONE,
	  .run = nap },
	{ .run = NULL },
};
