/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_for.c - changes ten million elements in pieces of a thousand. */
#include "harness.h"

#define ELEMENTS 10000000
#define PIECE    1000

static float             elements[ELEMENTS];
static sennit_wait_group left;

static void change(float *first)
{
	for (size_t i = 0; i < PIECE; i++)
		first[i] = first[i] * 0.5f + 1.0f;
}

static void run_piece(void *argument)
{
	change(argument);
	sennit_wait_group_done(&left);
}

static void tasks(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&left, ELEMENTS / PIECE);
	for (size_t i = 0; i < ELEMENTS; i += PIECE)
		spawn(run_piece, &elements[i]);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

static int change_pieces(void *unused, size_t begin, size_t end)
{
	(void)unused;
	for (size_t i = begin; i < end; i++)
		change(&elements[i * PIECE]);
	return 0;
}

static void loop(struct bench_run *r, size_t grain)
{
	const sennit_parallel_options o = { .size = sizeof(o), .grain = grain };
	sennit_time                   begin = sennit_now();

	bench_check(!sennit_parallel_for(0, ELEMENTS / PIECE, change_pieces,
					 NULL, &o, SENNIT_NEVER),
		    "parallel for: an error");
	bench_elapsed(r, begin);
}

static void loop_in_pieces(struct bench_run *r)
{
	loop(r, 1);
}

static void loop_as_it_comes(struct bench_run *r)
{
	loop(r, 0);
}

static void serial(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (size_t i = 0; i < ELEMENTS; i += PIECE)
		change(&elements[i]);
	bench_elapsed(r, begin);
}

const struct bench_row bench_parallel_for[] = {
	{ .names = { "W10b-parallel-for/serial" },
	  .n = ELEMENTS,
	  .run = serial },
	BENCH_ROW("W10b-parallel-for/pieces-of-1000", ELEMENTS, BENCH_EACH,
		  tasks),
	BENCH_ROW("W10b-parallel-for/loop-pieces-of-1000", ELEMENTS, BENCH_EACH,
		  loop_in_pieces),
	BENCH_ROW("W10b-parallel-for/loop", ELEMENTS, BENCH_EACH,
		  loop_as_it_comes),
	{ .run = NULL },
};
