/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - opens paths of any length.
 */
#ifndef GREP_OPEN_H
#define GREP_OPEN_H

/* Like open(), but also for paths that are longer than the system accepts.
 * Returns -1 and sets errno on error. */
int open_path(const char *path, int flags);

#endif
