/* SPDX-License-Identifier: Apache-2.0 */
/* scene.c - traces rays of light backwards from the eye. */
#include "render/scene.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define MIRRORS 6    /* the maximum number of reflections of a ray */
#define FAR     1e9  /* farther than any ray goes */
#define NEAR    1e-6 /* a ray does not hit the surface that it starts from */

struct vector {
	double x, y, z;
};

struct ball {
	struct vector centre, colour;
	double        radius, mirror; /* the share of light that it reflects: 0
				       * to 1 */
};

static const struct ball balls[] = {
	{ { -1.1, 1.0, 4.2 }, { 0.85, 0.25, 0.20 }, 1.0, 0.25 },
	{ { 1.0, 0.8, 3.4 }, { 0.20, 0.45, 0.85 }, 0.8, 0.35 },
	{ { 0.3, 1.6, 6.5 }, { 0.95, 0.90, 0.75 }, 1.6, 0.65 },
};

enum { BALLS = sizeof(balls) / sizeof(balls[0]) };

static const struct vector eye = { 0, 1.4, -2.2 };
static const struct vector sun = { -0.48, 0.64, -0.6 }; /* of length 1 */

static struct vector add(struct vector a, struct vector b)
{
	return (struct vector){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static struct vector times(struct vector a, double n)
{
	return (struct vector){ a.x * n, a.y * n, a.z * n };
}

static double dot(struct vector a, struct vector b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector of_length_1(struct vector a)
{
	return times(a, 1 / sqrt(dot(a, a)));
}

/* Return the distance along the ray to the ball, or FAR. */
static double to_ball(const struct ball *b, struct vector from,
		      struct vector to)
{
	struct vector aside = add(from, times(b->centre, -1));
	double        half = dot(aside, to);
	double        rest = dot(aside, aside) - b->radius * b->radius;
	double        root = half * half - rest;

	if (root < 0)
		return FAR;
	root = sqrt(root);
	if (-half - root > NEAR)
		return -half - root;
	return -half + root > NEAR ? -half + root : FAR;
}

/* Return the nearest ball, or NULL, and its distance. */
static const struct ball *nearest(struct vector from, struct vector to,
				  double *far)
{
	const struct ball *found = NULL;
	double             distance;

	*far = FAR;
	for (int i = 0; i < BALLS; i++) {
		distance = to_ball(&balls[i], from, to);
		if (distance < *far) {
			*far = distance;
			found = &balls[i];
		}
	}
	return found;
}

static double light(struct vector at, struct vector normal)
{
	double far, bright = dot(normal, sun);

	if (bright <= 0 || nearest(at, sun, &far))
		return 0.15;
	return 0.15 + 0.85 * bright;
}

static struct vector sky(struct vector to)
{
	double height = to.y < 0 ? 0 : to.y;

	return (struct vector){ 0.80 - 0.50 * height, 0.88 - 0.38 * height,
				0.98 - 0.18 * height };
}

static bool is_dark(double x, double z)
{
	return ((long)floor(x) + (long)floor(z)) & 1;
}

/* The point that a ray has hit. */
struct hit {
	struct vector at, normal, colour;
	double        mirror;
};

static bool meet(struct vector from, struct vector to, struct hit *hit)
{
	double             far;
	const struct ball *b = nearest(from, to, &far);
	double             floor_at = to.y < 0 ? -from.y / to.y : FAR;

	if (!b && (floor_at <= NEAR || floor_at > 60))
		return false;
	if (!b || (floor_at > NEAR && floor_at < far)) {
		hit->at = add(from, times(to, floor_at));
		hit->normal = (struct vector){ 0, 1, 0 };
		hit->colour = is_dark(hit->at.x, hit->at.z)
				      ? (struct vector){ 0.15, 0.15, 0.18 }
				      : (struct vector){ 0.9, 0.9, 0.85 };
		hit->mirror = 0.12;
		return true;
	}
	hit->at = add(from, times(to, far));
	hit->normal = of_length_1(add(hit->at, times(b->centre, -1)));
	hit->colour = b->colour;
	hit->mirror = b->mirror;
	return true;
}

static struct vector follow(struct vector from, struct vector to)
{
	struct vector sum = { 0, 0, 0 };
	struct hit    hit;
	double        weight = 1;

	for (int i = 0; i <= MIRRORS; i++) {
		if (!meet(from, to, &hit))
			return add(sum, times(sky(to), weight));
		sum = add(sum,
			  times(hit.colour, weight * (1 - hit.mirror) *
						    light(hit.at, hit.normal)));
		weight *= hit.mirror;
		from = hit.at;
		to = add(to, times(hit.normal, -2 * dot(hit.normal, to)));
	}
	return sum;
}

static struct vector pixel(const struct picture *p, uint32_t x, uint32_t y)
{
	struct vector sum = { 0, 0, 0 }, to;
	double        step = 1.0 / p->samples;

	for (uint32_t i = 0; i < p->samples; i++)
		for (uint32_t j = 0; j < p->samples; j++) {
			to.x = (x + (i + 0.5) * step - 0.5 * p->width) /
			       p->height;
			to.y = 0.5 - (y + (j + 0.5) * step) / p->height;
			to.z = 1.2;
			sum = add(sum, follow(eye, of_length_1(to)));
		}
	return times(sum, step * step);
}

/* The square root is approximately the inverse of a screen's gamma. */
static uint8_t byte_of(double brightness)
{
	double n = 255 * sqrt(brightness) + 0.5;

	return n < 0 ? 0 : n > 255 ? 255 : (uint8_t)n;
}

void scene_row(const struct picture *p, uint32_t y, uint8_t *row)
{
	struct vector colour;

	for (uint32_t x = 0; x < p->width; x++) {
		colour = pixel(p, x, y);
		*row++ = byte_of(colour.x);
		*row++ = byte_of(colour.y);
		*row++ = byte_of(colour.z);
	}
}
