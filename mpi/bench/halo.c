/* SPDX-License-Identifier: Apache-2.0 */
/* halo.c - two processes exchange edges and compute: how much of the exchange
 * is hidden. */
#include "rows.h"

#include <stdint.h>
#include <stdio.h>

enum { STEPS = 10, HALO = 1 << 16, TILES = 64 };

static double out[HALO], in[HALO], field[HALO];

static int compute_tile(void *number)
{
	double *tile = field + (intptr_t)number * (HALO / TILES);

	for (int k = 0; k < 20; k++)
		for (int i = 1; i < HALO / TILES - 1; i++)
			tile[i] = 0.5 * (tile[i - 1] + tile[i + 1]);
	return 0;
}

static void compute(void)
{
	for (intptr_t i = 0; i < TILES; i++)
		(void)compute_tile((void *)i);
}

static void begin_exchange(MPI_Request request[2])
{
	MPI_Irecv(in, HALO, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(out, HALO, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &request[1]);
}

static void exchange_only(void)
{
	MPI_Request request[2];

	begin_exchange(request);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void exchange_then_compute(void)
{
	exchange_only();
	compute();
}

/* Plain MPI with the overlap that it offers. */
static void compute_between(void)
{
	MPI_Request request[2];

	begin_exchange(request);
	compute();
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void fibers_overlap(void)
{
	void (*exchange)(void) = exchange_only;
	sennit_group g;

	sennit_group_init_on(&g, scheduler, SENNIT_NEVER, 0);
	if (sennit_group_spawn(&g, run_in_fiber, &exchange))
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (intptr_t i = 0; i < TILES; i++)
		if (sennit_group_spawn(&g, compute_tile, (void *)i))
			MPI_Abort(MPI_COMM_WORLD, 1);
	(void)!sennit_group_wait(&g);
}

static const struct {
	const char *name;
	void (*step)(void);
} halos[] = {
	{ "halo/exchange-alone", exchange_only },
	{ "halo/compute-alone", compute },
	{ "halo/plain-in-turn", exchange_then_compute },
	{ "halo/plain-overlap", compute_between },
	{ "halo/fibers-overlap", fibers_overlap },
};

enum { ALONE, COMPUTED, IN_TURN, PLAIN, FIBERS, HALOS, HALO_TURNS = 20 };

static double take_steps(void (*step)(void))
{
	double begin;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = seconds(CLOCK_MONOTONIC);
	for (int i = 0; i < STEPS; i++)
		step();
	return 1e3 * (seconds(CLOCK_MONOTONIC) - begin) / STEPS;
}

/* What is hidden, of the shorter one of the exchange and the computation. Where
 * that is little beside the whole, nothing can be said. */
static void show_hidden(const char *name, const double ms[HALOS], double took)
{
	double most = ms[ALONE] < ms[COMPUTED] ? ms[ALONE] : ms[COMPUTED];

	if (5 * most < ms[ALONE] + ms[COMPUTED]) {
		if (!rank)
			printf("%-32s too short to hide\n", name);
		return;
	}
	show(name, 100 * (ms[ALONE] + ms[COMPUTED] - took) / most, "%");
}

/* By turns; the least of each. */
void measure_halos(void)
{
	double ms[HALOS];

	if (!wants("halo"))
		return;
	for (int t = 0; t < HALO_TURNS; t++)
		for (int h = 0; h < HALOS; h++) {
			double took = take_steps(halos[h].step);

			ms[h] = t && ms[h] < took ? ms[h] : took;
		}
	for (int h = 0; h < HALOS; h++)
		show(halos[h].name, ms[h], "ms a step");
	show_hidden("halo/plain-hidden", ms, ms[PLAIN]);
	show_hidden("halo/fibers-hidden", ms, ms[FIBERS]);
}
