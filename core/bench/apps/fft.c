/* SPDX-License-Identifier: Apache-2.0 */
/* fft.c - a Fourier transform in two dimensions by parallel loops. */
#include "fft.h"

static int transform(void *rows, size_t begin, size_t end)
{
	struct point(*row)[FFT_SIDE] = rows;

	for (size_t i = begin; i < end; i++)
		fft_row(row[i]);
	return 0;
}

static int turn(void *unused, size_t begin, size_t end)
{
	(void)unused;
	for (size_t i = begin; i < end; i++)
		fft_turn((unsigned)i);
	return 0;
}

static void loop(size_t count, sennit_range_fn *body, void *rows)
{
	bench_check(
		!sennit_parallel_for(0, count, body, rows, NULL, SENNIT_NEVER),
		"fft: an error");
}

static void loops(struct bench_run *r)
{
	sennit_time begin;

	fft_make_data();
	begin = sennit_now();
	loop(FFT_SIDE, transform, fft_data);
	loop(FFT_TILES, turn, NULL);
	loop(FFT_SIDE, transform, fft_turned);
	bench_elapsed(r, begin);
	fft_check();
}

static void serial(struct bench_run *r)
{
	sennit_time begin;

	fft_make_data();
	begin = sennit_now();
	(void)transform(fft_data, 0, FFT_SIDE);
	(void)turn(NULL, 0, FFT_TILES);
	(void)transform(fft_turned, 0, FFT_SIDE);
	bench_elapsed(r, begin);
	fft_check();
}

const struct bench_row bench_fft[] = {
	{ .names = { "R1-fft/serial" }, .n = FFT_ROWS, .run = serial },
	BENCH_ROW("R1-fft/parallel-for", FFT_ROWS, BENCH_EACH, loops),
	{ .run = NULL },
};
