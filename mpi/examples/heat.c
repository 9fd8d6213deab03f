/* SPDX-License-Identifier: Apache-2.0 */
/* heat.c - heat spreads over a plate: a grid in tiles, a fiber for each tile,
 * the tiles dealt to the processes of an MPI program.
 *
 * In each step a tile sends its four edges, computes what needs no neighbour,
 * waits for the four edges of its neighbours, and computes the rest. While it
 * waits, its worker computes other tiles. Tiles of the same process send each
 * other messages, too: the code is the same for all.
 *
 * Process 0 repeats the work alone, and every number must be the same.
 *
 *	mpirun -n 2 heat [STEPS]
 */
#include <mpi.h>
#include <sennit.h>
#include <sennit/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 4, SIZE = 24, WHOLE = TILES * SIZE, SIDES = 4 };

/* A tile with its neighbours' edges around it. */
typedef double field[SIZE + 2][SIZE + 2];

struct tile {
	field  now, next;
	int    row, column, number;
	double out[SIDES][SIZE], in[SIDES][SIZE];
};

static int          rank, ranks, steps = 50;
static struct tile *tiles[TILES * TILES]; /* NULL: another process's */

static const int row_of[SIDES] = { -1, 1, 0, 0 };
static const int column_of[SIDES] = { 0, 0, -1, 1 };

static int owner(int number)
{
	return number * ranks / (TILES * TILES);
}

static double start_value(int row, int column)
{
	return row < WHOLE / 3 && column > WHOLE / 2 ? 100.0 + column : 0.0;
}

static double mean(double up, double down, double left, double right)
{
	return 0.25 * (up + down + left + right);
}

/* --- a tile --------------------------------------------------------------- */

static double *edge_cell(struct tile *t, int side, int i, int outside)
{
	switch (side) {
	case 0:
		return &t->now[1 - outside][1 + i];
	case 1:
		return &t->now[SIZE + outside][1 + i];
	case 2:
		return &t->now[1 + i][1 - outside];
	default:
		return &t->now[1 + i][SIZE + outside];
	}
}

static void compute(struct tile *t, int r, int c)
{
	t->next[r][c] = mean(t->now[r - 1][c], t->now[r + 1][c],
			     t->now[r][c - 1], t->now[r][c + 1]);
}

static void compute_inside(struct tile *t)
{
	for (int r = 2; r < SIZE; r++)
		for (int c = 2; c < SIZE; c++)
			compute(t, r, c);
}

static void compute_rim(struct tile *t)
{
	for (int i = 1; i <= SIZE; i++) {
		compute(t, 1, i);
		compute(t, SIZE, i);
		compute(t, i, 1);
		compute(t, i, SIZE);
	}
}

/* The tile on that side, or -1 at the border of the plate, which stays cold. */
static int neighbour(const struct tile *t, int side)
{
	int row = t->row + row_of[side], column = t->column + column_of[side];

	if (row < 0 || row >= TILES || column < 0 || column >= TILES)
		return -1;
	return row * TILES + column;
}

/* A message is named by the tile that gets it, and the side where it goes. */
static int begin_exchange(struct tile *t, MPI_Request request[])
{
	int count = 0;

	for (int side = 0; side < SIDES; side++) {
		int other = neighbour(t, side);

		if (other < 0)
			continue;
		for (int i = 0; i < SIZE; i++)
			t->out[side][i] = *edge_cell(t, side, i, 0);
		MPI_Irecv(t->in[side], SIZE, MPI_DOUBLE, owner(other),
			  t->number * SIDES + side, MPI_COMM_WORLD,
			  &request[count++]);
		MPI_Isend(t->out[side], SIZE, MPI_DOUBLE, owner(other),
			  other * SIDES + (side ^ 1), MPI_COMM_WORLD,
			  &request[count++]);
	}
	return count;
}

static void take_edges(struct tile *t)
{
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; neighbour(t, side) >= 0 && i < SIZE; i++)
			*edge_cell(t, side, i, 1) = t->in[side][i];
}

static int run_tile(void *tile)
{
	struct tile *t = tile;
	MPI_Request  request[2 * SIDES];

	for (int step = 0; step < steps; step++) {
		int count = begin_exchange(t, request);

		compute_inside(t);
		MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
		take_edges(t);
		compute_rim(t);
		memcpy(t->now, t->next, sizeof(t->now));
	}
	return 0;
}

static void make_tiles(void)
{
	for (int n = 0; n < TILES * TILES; n++) {
		struct tile *t;

		if (owner(n) != rank)
			continue;
		t = calloc(1, sizeof(*t));
		if (!t)
			abort();
		t->number = n;
		t->row = n / TILES;
		t->column = n % TILES;
		for (int r = 0; r < SIZE; r++)
			for (int c = 0; c < SIZE; c++)
				t->now[r + 1][c + 1] =
					start_value(t->row * SIZE + r,
						    t->column * SIZE + c);
		tiles[n] = t;
	}
}

/* --- the same, alone ------------------------------------------------------ */

typedef double plate[WHOLE + 2][WHOLE + 2];

static void run_alone(plate now, plate next)
{
	for (int r = 0; r < WHOLE; r++)
		for (int c = 0; c < WHOLE; c++)
			now[r + 1][c + 1] = start_value(r, c);
	for (int step = 0; step < steps; step++) {
		for (int r = 1; r <= WHOLE; r++)
			for (int c = 1; c <= WHOLE; c++)
				next[r][c] = mean(now[r - 1][c], now[r + 1][c],
						  now[r][c - 1], now[r][c + 1]);
		memcpy(now, next, sizeof(plate));
	}
}

static int count_differences(plate whole, int n, field f)
{
	int wrong = 0;

	for (int r = 0; r < SIZE; r++)
		for (int c = 0; c < SIZE; c++)
			wrong += f[r + 1][c + 1] !=
				 whole[n / TILES * SIZE + r + 1]
				      [n % TILES * SIZE + c + 1];
	return wrong;
}

/* All tiles come to process 0. Returns how many numbers are wrong. */
static int compare(void)
{
	static plate now, next;
	static field got;
	int          wrong = 0;

	if (!rank)
		run_alone(now, next);
	for (int n = 0; n < TILES * TILES; n++) {
		if (tiles[n] && rank)
			MPI_Send(tiles[n]->now, sizeof(field), MPI_BYTE, 0, n,
				 MPI_COMM_WORLD);
		if (!rank && !tiles[n])
			MPI_Recv(got, sizeof(got), MPI_BYTE, owner(n), n,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (!rank)
			wrong += count_differences(
				now, n, tiles[n] ? tiles[n]->now : got);
		free(tiles[n]);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	sennit_group      g;
	int               provided, wrong;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1)
		steps = atoi(argv[1]);
	make_tiles();
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 2,
				      .stack_size = SENNIT_MPI_STACK_SIZE)) ||
	    sennit_mpi_start(s, NULL))
		MPI_Abort(MPI_COMM_WORLD, 1);
	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	for (int n = 0; n < TILES * TILES; n++)
		if (tiles[n] && sennit_group_spawn(&g, run_tile, tiles[n]))
			MPI_Abort(MPI_COMM_WORLD, 1);
	if (sennit_group_wait(&g) || sennit_mpi_stop(s, SENNIT_NEVER) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		MPI_Abort(MPI_COMM_WORLD, 1);
	wrong = compare();
	if (!rank)
		printf("heat: %d steps, %d processes, %d of %d numbers "
		       "differ\n",
		       steps, ranks, wrong, WHOLE * WHOLE);
	if (wrong)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Barrier(MPI_COMM_WORLD); /* see "Limits of MPICH" */
	MPI_Finalize();
	return 0;
}
