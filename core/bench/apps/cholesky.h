/* SPDX-License-Identifier: Apache-2.0 */
/* cholesky.h - factors a sparse positive definite matrix of dense tiles into L
 * and its transpose. The tiles of L are known beforehand, and so are the steps:
 * for each column, factor its tile on the diagonal, divide the tiles below by
 * it, and subtract their products from tiles to the right.
 */
#ifndef SN_BENCH_APPS_CHOLESKY_H
#define SN_BENCH_APPS_CHOLESKY_H

#include "harness.h"

#include <math.h>

#define CHOL_TILES 40 /* rows and columns of tiles */
#define CHOL_SIDE  32 /* rows and columns of a tile */
#define CHOL_ROWS  (CHOL_TILES * CHOL_SIDE)
#define CHOL_STEPS 3434 /* of all tiles */
#define CHOL_NONE  UINT32_MAX

enum chol_kind { CHOL_FACTOR, CHOL_DIVIDE, CHOL_SUBTRACT };

/* A step changes tile (i, j): it reads tile (j, j) to divide, and tiles (i, k)
 * and (j, k) to subtract their product. */
struct chol_step {
	enum chol_kind kind;
	unsigned       i, j, k;
	uint32_t       before[3]; /* the steps that must have ended */
};

typedef double chol_tile[CHOL_SIDE][CHOL_SIDE];

BENCH_DATA chol_tile    chol_data[CHOL_TILES][CHOL_TILES];
static bool             chol_has[CHOL_TILES][CHOL_TILES];
static struct chol_step chol_steps[CHOL_STEPS];
static uint32_t         chol_count;

/* The matrix has the diagonal and every 7th tile below it. L also has tiles
 * where two tiles of a column meet. */
static inline void chol_find_tiles(void)
{
	for (unsigned i = 0; i < CHOL_TILES; i++)
		for (unsigned j = 0; j <= i; j++)
			chol_has[i][j] = i == j || (i * 5 + j * 3) % 7 == 0;
	for (unsigned k = 0; k < CHOL_TILES; k++)
		for (unsigned i = k + 1; i < CHOL_TILES; i++)
			for (unsigned j = k + 1; j <= i; j++)
				if (chol_has[i][k] && chol_has[j][k])
					chol_has[i][j] = true;
}

/* The element at (i, j) and (j, i) of the matrix; the diagonal dominates. */
static inline double chol_element(unsigned i, unsigned j)
{
	const unsigned row = i / CHOL_SIDE, column = j / CHOL_SIDE;

	if (i == j)
		return CHOL_ROWS;
	if (row != column && (row * 5 + column * 3) % 7)
		return 0;
	return 1.0 / (1 + (i * 31 + j * 17) % 101);
}

static inline void chol_make_data(void)
{
	for (unsigned i = 0; i < CHOL_ROWS; i++)
		for (unsigned j = 0; j < CHOL_ROWS; j++)
			chol_data[i / CHOL_SIDE][j / CHOL_SIDE][i % CHOL_SIDE]
				 [j % CHOL_SIDE] = j > i ? 0
							 : chol_element(i, j);
}

/* Add a step after the last ones that changed the tiles which it uses. */
static inline void chol_add(enum chol_kind kind, unsigned i, unsigned j,
			    unsigned k, uint32_t last[CHOL_TILES][CHOL_TILES])
{
	struct chol_step *s = &chol_steps[chol_count];

	s->kind = kind;
	s->i = i;
	s->j = j;
	s->k = k;
	s->before[0] = last[i][j];
	s->before[1] = kind == CHOL_DIVIDE     ? last[j][j]
		       : kind == CHOL_SUBTRACT ? last[i][k]
					       : CHOL_NONE;
	s->before[2] = kind == CHOL_SUBTRACT ? last[j][k] : CHOL_NONE;
	last[i][j] = chol_count++;
}

static inline void chol_subtract_column(unsigned k,
					uint32_t last[CHOL_TILES][CHOL_TILES])
{
	for (unsigned i = k + 1; i < CHOL_TILES; i++)
		for (unsigned j = k + 1; j <= i; j++)
			if (chol_has[i][k] && chol_has[j][k])
				chol_add(CHOL_SUBTRACT, i, j, k, last);
}

/* List the steps in an order in which they can be done one by one. */
static inline void chol_plan(void)
{
	static uint32_t last[CHOL_TILES][CHOL_TILES];

	if (chol_count)
		return;
	for (unsigned i = 0; i < CHOL_TILES; i++)
		for (unsigned j = 0; j < CHOL_TILES; j++)
			last[i][j] = CHOL_NONE;
	chol_find_tiles();
	for (unsigned k = 0; k < CHOL_TILES; k++) {
		chol_add(CHOL_FACTOR, k, k, k, last);
		for (unsigned i = k + 1; i < CHOL_TILES; i++)
			if (chol_has[i][k])
				chol_add(CHOL_DIVIDE, i, k, k, last);
		chol_subtract_column(k, last);
	}
	bench_check(chol_count == CHOL_STEPS, "cholesky: number of steps");
}

/* True for a step that can begin at once. */
static inline bool chol_is_first(const struct chol_step *s)
{
	return s->before[0] == CHOL_NONE && s->before[1] == CHOL_NONE &&
	       s->before[2] == CHOL_NONE;
}

BENCH_WORK void chol_factor(chol_tile a)
{
	for (unsigned j = 0; j < CHOL_SIDE; j++) {
		for (unsigned k = 0; k < j; k++)
			for (unsigned i = j; i < CHOL_SIDE; i++)
				a[i][j] -= a[i][k] * a[j][k];
		a[j][j] = sqrt(a[j][j]);
		for (unsigned i = j + 1; i < CHOL_SIDE; i++)
			a[i][j] /= a[j][j];
	}
}

BENCH_WORK void chol_divide(chol_tile a, chol_tile by)
{
	for (unsigned i = 0; i < CHOL_SIDE; i++)
		for (unsigned j = 0; j < CHOL_SIDE; j++) {
			for (unsigned k = 0; k < j; k++)
				a[i][j] -= a[i][k] * by[j][k];
			a[i][j] /= by[j][j];
		}
}

BENCH_WORK void chol_subtract(chol_tile a, chol_tile left, chol_tile right)
{
	for (unsigned i = 0; i < CHOL_SIDE; i++)
		for (unsigned j = 0; j < CHOL_SIDE; j++) {
			double sum = 0;

			for (unsigned k = 0; k < CHOL_SIDE; k++)
				sum += left[i][k] * right[j][k];
			a[i][j] -= sum;
		}
}

static inline void chol_do(const struct chol_step *s)
{
	double(*a)[CHOL_SIDE] = chol_data[s->i][s->j];

	switch (s->kind) {
	case CHOL_FACTOR:
		chol_factor(a);
		break;
	case CHOL_DIVIDE:
		chol_divide(a, chol_data[s->j][s->j]);
		break;
	case CHOL_SUBTRACT:
		chol_subtract(a, chol_data[s->i][s->k], chol_data[s->j][s->k]);
		break;
	}
}

static inline double chol_l(unsigned i, unsigned j)
{
	return j > i ? 0
		     : chol_data[i / CHOL_SIDE][j / CHOL_SIDE][i % CHOL_SIDE]
				[j % CHOL_SIDE];
}

/* The product of L, its transpose and a vector must be that of the matrix. */
static inline void chol_check(void)
{
	static double half[CHOL_ROWS];
	double        got, wanted;

	for (unsigned j = 0; j < CHOL_ROWS; j++) {
		half[j] = 0;
		for (unsigned i = j; i < CHOL_ROWS; i++)
			half[j] += chol_l(i, j) * (1 + i % 3);
	}
	for (unsigned i = 0; i < CHOL_ROWS; i++) {
		got = wanted = 0;
		for (unsigned j = 0; j <= i; j++)
			got += chol_l(i, j) * half[j];
		for (unsigned j = 0; j < CHOL_ROWS; j++)
			wanted += (j > i ? chol_element(j, i)
					 : chol_element(i, j)) *
				  (1 + j % 3);
		bench_check(fabs(got - wanted) < 1e-9 * wanted,
			    "cholesky: wrong product");
	}
}

#endif
