/* SPDX-License-Identifier: Apache-2.0 */
/* ray.c - a picture, traced by a parallel loop over its lines. */
#include "ray.h"

static int draw(void *unused, size_t begin, size_t end)
{
	(void)unused;
	for (size_t y = begin; y < end; y++)
		ray_line((unsigned)y);
	return 0;
}

static void loop(struct bench_run *r)
{
	sennit_time begin;

	ray_begin();
	begin = sennit_now();
	bench_check(!sennit_parallel_for(0, RAY_HEIGHT, draw, NULL, NULL,
					 SENNIT_NEVER),
		    "ray: an error");
	bench_elapsed(r, begin);
	ray_check();
}

static void serial(struct bench_run *r)
{
	sennit_time begin;

	ray_begin();
	begin = sennit_now();
	(void)draw(NULL, 0, RAY_HEIGHT);
	bench_elapsed(r, begin);
	ray_check();
}

const struct bench_row bench_ray[] = {
	{ .names = { "R2-ray/serial" }, .n = RAY_PIXELS, .run = serial },
	BENCH_ROW("R2-ray/parallel-for", RAY_PIXELS, BENCH_EACH, loop),
	{ .run = NULL },
};
