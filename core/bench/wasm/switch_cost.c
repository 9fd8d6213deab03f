/* SPDX-License-Identifier: Apache-2.0 */
/* switch_cost.c - the time of a switch of WebAssembly, by the number of frames
 * on one of the two stacks. docs/platforms.md has the command. */
#include "arch/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZE ((size_t)64 * 1024)

static arch_stack caller, other;
static int        rounds, depth;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static int descend(int frames)
{
	volatile int mine = frames;

	if (frames)
		return descend(frames - 1) + mine;
	for (int i = 0; i < rounds; i++)
		arch_switch(&other, caller);
	return mine;
}

static arch_stack run(void *unused)
{
	(void)unused;
	if (descend(depth) < 0)
		abort();
	return caller;
}

static double measure(char *low)
{
	double began = now();

	arch_note_low(low + SIZE, low);
	arch_start(&caller, low + SIZE, run, NULL, 0);
	for (int i = 0; i < rounds; i++)
		arch_switch(&caller, other);
	return (now() - began) / (2.0 * rounds);
}

int main(void)
{
	static const int depths[] = { 0, 10, 50 };
	char            *low = aligned_alloc(4096, SIZE);

	for (size_t i = 0; low && i < sizeof(depths) / sizeof(*depths); i++) {
		double best = 1e9;

		depth = depths[i];
		rounds = 100000;
		for (int k = 0; k < 5; k++) {
			double ns = measure(low);

			best = ns < best ? ns : best;
		}
		printf("%d frames: %.0f ns a switch\n", depth, best);
	}
	free(low);
	return 0;
}
