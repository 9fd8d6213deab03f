/* SPDX-License-Identifier: Apache-2.0 */
/* ray.h - a picture of mirroring spheres over a floor, traced ray by ray. Lines
 * differ in cost: those that see spheres follow more rays.
 */
#ifndef SN_BENCH_APPS_RAY_H
#define SN_BENCH_APPS_RAY_H

#include "harness.h"

#include <math.h>
#include <string.h>

#define RAY_WIDTH   640
#define RAY_HEIGHT  480
#define RAY_SPHERES 64
#define RAY_DEPTH   6
#define RAY_PIXELS  UINT64_C(307200)

struct vec {
	double x, y, z;
};

struct sphere {
	struct vec centre;
	double     radius;
};

static struct sphere ray_spheres[RAY_SPHERES];
static float         ray_picture[RAY_HEIGHT][RAY_WIDTH];
static float         ray_wanted[RAY_HEIGHT][RAY_WIDTH];

static inline struct vec vec(double x, double y, double z)
{
	struct vec v = { x, y, z };

	return v;
}

static inline double dot(struct vec a, struct vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct vec step_along(struct vec from, struct vec way, double far)
{
	return vec(from.x + way.x * far, from.y + way.y * far,
		   from.z + way.z * far);
}

static inline struct vec unit(struct vec v)
{
	return step_along(vec(0, 0, 0), v, 1 / sqrt(dot(v, v)));
}

/* Eight rows of eight spheres, those of the far rows in the upper lines. */
static inline void ray_make_scene(void)
{
	for (unsigned i = 0; i < RAY_SPHERES; i++) {
		ray_spheres[i].centre = vec((i % 8) * 1.5 - 5.25, 0.5,
					    4 + (i / 8) * 1.5);
		ray_spheres[i].radius = 0.3 + 0.05 * (i % 5);
	}
}

/* The distance to the sphere, or a negative number. */
static inline double hit(const struct sphere *s, struct vec from,
			 struct vec way)
{
	struct vec to = step_along(from, s->centre, -1);
	double     b, rest;

	to = vec(-to.x, -to.y, -to.z);
	b = dot(to, way);
	rest = b * b - dot(to, to) + s->radius * s->radius;
	return rest < 0 ? -1 : b - sqrt(rest);
}

static inline const struct sphere *nearest(struct vec from, struct vec way,
					   double *distance)
{
	const struct sphere *found = NULL;

	for (unsigned i = 0; i < RAY_SPHERES; i++) {
		double d = hit(&ray_spheres[i], from, way);

		if (d > 1e-6 && (!found || d < *distance)) {
			found = &ray_spheres[i];
			*distance = d;
		}
	}
	return found;
}

/* The sky is bright above; the floor at height 0 has squares. */
static inline double background(struct vec from, struct vec way)
{
	struct vec at;

	if (way.y >= 0)
		return 0.5 + 0.5 * way.y;
	at = step_along(from, way, -from.y / way.y);
	return (long)(floor(at.x) + floor(at.z)) & 1 ? 0.2 : 0.7;
}

static inline double ray_trace(struct vec from, struct vec way)
{
	double light = 0, weight = 1;

	for (unsigned depth = 0; depth < RAY_DEPTH; depth++) {
		double               distance = 0;
		const struct sphere *s = nearest(from, way, &distance);
		struct vec           normal;

		if (!s)
			return light + weight * background(from, way);
		from = step_along(from, way, distance);
		normal = unit(step_along(from, s->centre, -1));
		light += weight * 0.1 * fabs(normal.y);
		way = step_along(way, normal, -2 * dot(way, normal));
		weight *= 0.8;
	}
	return light;
}

BENCH_WORK void ray_line(unsigned y)
{
	const struct vec eye = vec(0, 1.5, -2);

	for (unsigned x = 0; x < RAY_WIDTH; x++) {
		struct vec way = vec((x - RAY_WIDTH / 2.0) / RAY_WIDTH,
				     (RAY_HEIGHT / 2.0 - y) / RAY_WIDTH, 1);

		ray_picture[y][x] = (float)ray_trace(eye, unit(way));
	}
}

/* The first call of a process draws the picture that is wanted. */
static inline void ray_begin(void)
{
	static bool drawn;

	if (!drawn) {
		ray_make_scene();
		for (unsigned y = 0; y < RAY_HEIGHT; y++)
			ray_line(y);
		memcpy(ray_wanted, ray_picture, sizeof(ray_wanted));
	}
	drawn = true;
	memset(ray_picture, 0, sizeof(ray_picture));
}

static inline void ray_check(void)
{
	bench_check(!memcmp(ray_wanted, ray_picture, sizeof(ray_wanted)),
		    "ray: another picture");
}

#endif
