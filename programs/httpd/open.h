/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - open a path beneath a folder. */
#ifndef APPS_HTTPD_OPEN_H
#define APPS_HTTPD_OPEN_H

#include <stdbool.h>

/* Open the file or folder at `path` for reading, beneath the folder `root`; ""
 * is the folder. No ".." and no absolute path leads out of it, and a symbolic
 * link only to what is in it. at_once: only if that needs no disc. Returns a
 * descriptor, or a negative errno: -EAGAIN if it might need one, -EXDEV, -ELOOP
 * if a link leads out. */
int open_beneath(int root, const char *path, bool at_once);

/* The same step by step, for kernels without openat2: follows no link. */
int open_stepwise(int root, const char *path);

#endif
