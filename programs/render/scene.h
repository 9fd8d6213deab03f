/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - the picture: three balls that mirror each other, on a chessboard.
 *
 * Only +, -, *, / and sqrt() of doubles are used, which IEEE 754 defines to the
 * last bit. So a pixel is the same on every machine, as long as the compiler
 * fuses no operations (-ffp-contract=off).
 */
#ifndef RENDER_SCENE_H
#define RENDER_SCENE_H

#include <stdint.h>

struct picture {
	uint32_t width, height;
	uint32_t samples; /* rays per pixel: their square */
};

/* Compute row y, counted from the top, into `row`: red, green and blue of each
 * pixel. */
void scene_row(const struct picture *p, uint32_t y, uint8_t *row);

#endif
