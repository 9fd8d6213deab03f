/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - opens a path beneath a folder. */
#ifndef APPS_HTTPD_OPEN_H
#define APPS_HTTPD_OPEN_H

#include <stdbool.h>

/* Open the file or folder at `path` for reading, beneath the folder `root`; ""
 * is the folder. No ".." and no absolute path leads out of it; symbolic links
 * are followed only within it. at_once: only if that needs no disc access.
 * Returns a descriptor, or a negative errno value: -EAGAIN if the disc may be
 * needed, -EXDEV or -ELOOP if a link leads out. */
int open_beneath(int root, const char *path, bool at_once);

/* Do the same segment by segment, for kernels without openat2. Follows no
 * link. */
int open_stepwise(int root, const char *path);

#endif
