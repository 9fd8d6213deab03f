/* SPDX-License-Identifier: Apache-2.0 */
/* fft.h - a Fourier transform in two dimensions: all rows, transpose, all rows.
 *
 * Source: Cooley and Tukey (1965), radix 2, with the bits of the index reversed
 * first. The result stays transposed, since its order does not matter here.
 */
#ifndef SN_BENCH_APPS_FFT_H
#define SN_BENCH_APPS_FFT_H

#include "harness.h"

#include <math.h>

#define FFT_SIDE  1024
#define FFT_TILE  32
#define FFT_TILES (FFT_SIDE / FFT_TILE)
#define FFT_ROWS  UINT64_C(2048) /* row transforms in a run */

struct point {
	double re, im;
};

BENCH_DATA struct point fft_data[FFT_SIDE][FFT_SIDE];
BENCH_DATA struct point fft_turned[FFT_SIDE][FFT_SIDE];
BENCH_DATA struct point fft_roots[FFT_SIDE / 2];

static inline void fft_make_data(void)
{
	const double full_turn = 6.283185307179586;
	uint64_t     x = 1;
	double       angle;

	for (unsigned i = 0; i < FFT_SIDE / 2; i++) {
		angle = full_turn * i / FFT_SIDE;
		fft_roots[i].re = cos(angle);
		fft_roots[i].im = -sin(angle);
	}
	for (size_t i = 0; i < (size_t)FFT_SIDE * FFT_SIDE; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		fft_data[i / FFT_SIDE][i % FFT_SIDE].re = (double)(x >> 40);
		fft_data[i / FFT_SIDE][i % FFT_SIDE].im = 0;
	}
}

static inline void fft_reverse(struct point *row)
{
	struct point kept;

	for (unsigned i = 1, j = 0; i < FFT_SIDE; i++) {
		unsigned bit = FFT_SIDE / 2;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			kept = row[i];
			row[i] = row[j];
			row[j] = kept;
		}
	}
}

/* Combine the transforms of two halves of `half` points each. */
static inline void fft_combine(struct point *row, unsigned half)
{
	for (unsigned k = 0; k < half; k++) {
		struct point w = fft_roots[k * (FFT_SIDE / 2 / half)];
		struct point a = row[k], b = row[k + half], t;

		t.re = b.re * w.re - b.im * w.im;
		t.im = b.re * w.im + b.im * w.re;
		row[k].re = a.re + t.re;
		row[k].im = a.im + t.im;
		row[k + half].re = a.re - t.re;
		row[k + half].im = a.im - t.im;
	}
}

BENCH_WORK void fft_row(struct point *row)
{
	fft_reverse(row);
	for (unsigned half = 1; half < FFT_SIDE; half *= 2)
		for (unsigned at = 0; at < FFT_SIDE; at += 2 * half)
			fft_combine(&row[at], half);
}

/* Transpose the tiles of one column of tiles. */
BENCH_WORK void fft_turn(unsigned column)
{
	const unsigned left = column * FFT_TILE;

	for (unsigned top = 0; top < FFT_SIDE; top += FFT_TILE)
		for (unsigned i = top; i < top + FFT_TILE; i++)
			for (unsigned j = left; j < left + FFT_TILE; j++)
				fft_turned[j][i] = fft_data[i][j];
}

/* The first coefficient is the sum of the data, and by Parseval's theorem the
 * squares of data and coefficients have the same mean but for the factor. */
static inline void fft_check(void)
{
	double   sum = 0, before = 0, after = 0;
	uint64_t x = 1;

	for (size_t i = 0; i < (size_t)FFT_SIDE * FFT_SIDE; i++) {
		struct point p = fft_turned[i / FFT_SIDE][i % FFT_SIDE];
		double       value;

		x = x * UINT64_C(6364136223846793005) + 1;
		value = (double)(x >> 40);
		sum += value;
		before += value * value;
		after += p.re * p.re + p.im * p.im;
	}
	after /= (double)FFT_SIDE * FFT_SIDE;
	bench_check(fabs(fft_turned[0][0].re - sum) < 1e-9 * sum,
		    "fft: wrong sum");
	bench_check(fabs(after - before) < 1e-9 * before, "fft: wrong energy");
}

#endif
