/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - uses libpng's simplified interface, into memory first, so that
 * write errors are those of write(). */
#include "render/image.h"
#include "file/transfer.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

int image_write(int fd, const struct picture *p, const uint8_t *pixels)
{
	png_alloc_size_t size;
	png_image        image;
	void            *bytes;
	int              error = -ENOMEM;

	memset(&image, 0, sizeof(image));
	image.version = PNG_IMAGE_VERSION;
	image.width = p->width;
	image.height = p->height;
	image.format = PNG_FORMAT_RGB;
	size = PNG_IMAGE_PNG_SIZE_MAX(image);
	bytes = malloc(size);
	if (bytes &&
	    png_image_write_to_memory(&image, bytes, &size, 0, pixels, 0, NULL))
		error = file_write(fd, bytes, size);
	free(bytes);
	return error;
}
