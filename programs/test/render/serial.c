/* SPDX-License-Identifier: Apache-2.0 */
/* serial.c WIDTH HEIGHT SAMPLES - writes the pixels of the picture of
 * sennit-render, by a plain loop. */
#include "render/scene.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
	struct picture p;
	uint8_t       *row;

	if (count != 4)
		return 2;
	p.width = (uint32_t)strtoul(arguments[1], NULL, 10);
	p.height = (uint32_t)strtoul(arguments[2], NULL, 10);
	p.samples = (uint32_t)strtoul(arguments[3], NULL, 10);
	row = malloc((size_t)p.width * 3);
	if (!row)
		return 1;
	for (uint32_t y = 0; y < p.height; y++) {
		scene_row(&p, y, row);
		fwrite(row, 3, p.width, stdout);
	}
	free(row);
	return fflush(stdout) ? 1 : 0;
}
