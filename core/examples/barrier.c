/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - heat spreads along a rod. Four tasks each compute a part of the
 * rod, and a barrier makes them begin each time step together.
 *
 * A step reads the results of all parts from the previous step. The barrier
 * between the steps is the only synchronization. The last task to arrive does
 * the work that is needed once per step.
 */
#include <sennit.h>

#include <stdio.h>

#define PARTS 4
#define CELLS 64 /* of a part */
#define STEPS 200
#define ROD   (PARTS * CELLS)

static sennit_barrier    stepped;
static sennit_wait_group done;
static double            rod[2][ROD + 2]; /* with its cold ends */
static unsigned          steps;           /* written by the last task to
					   * arrive */

static void warm(const double *from, double *to, unsigned part)
{
	for (unsigned i = part * CELLS + 1; i <= (part + 1) * CELLS; i++)
		to[i] = from[i] + (from[i - 1] - 2 * from[i] + from[i + 1]) / 4;
}

static void simulate(void *argument)
{
	const unsigned part = *(const unsigned *)argument;

	for (unsigned i = 0; i < STEPS; i++) {
		warm(rod[i % 2], rod[(i + 1) % 2], part);
		if (sennit_barrier_wait(&stepped))
			steps++;
	}
	(void)sennit_wait_group_done(&done);
}

/* Compare with the result of one task alone. */
static bool is_right(void)
{
	static double alone[2][ROD + 2];

	alone[0][ROD / 2] = 1000;
	for (unsigned i = 0; i < STEPS; i++)
		for (unsigned part = 0; part < PARTS; part++)
			warm(alone[i % 2], alone[(i + 1) % 2], part);
	for (unsigned i = 0; i < ROD + 2; i++)
		if (rod[STEPS % 2][i] < alone[STEPS % 2][i] ||
		    rod[STEPS % 2][i] > alone[STEPS % 2][i])
			return false;
	return true;
}

static int program(void *unused)
{
	(void)unused;
	rod[0][ROD / 2] = 1000;
	sennit_barrier_init(&stepped, PARTS);
	sennit_wait_group_init(&done, PARTS);
	for (unsigned part = 0; part < PARTS; part++)
		if (sennit_schedule_copy(simulate, &part, sizeof(part)))
			return 1;
	sennit_wait_group_wait(&done);
	printf("%u steps; the middle has %.2f degrees left\n", steps,
	       rod[STEPS % 2][ROD / 2]);
	return steps == STEPS && is_right() ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
