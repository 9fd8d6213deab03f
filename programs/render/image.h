/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - writes a picture as PNG. */
#ifndef RENDER_IMAGE_H
#define RENDER_IMAGE_H

#include "render/scene.h"

/* Write the picture to fd. Returns 0 or a negative errno value. */
int image_write(int fd, const struct picture *p, const uint8_t *pixels);

#endif
