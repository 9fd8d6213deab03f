/* SPDX-License-Identifier: Apache-2.0 */
/* find.h - finds the path of a process's live view. */
#ifndef TOP_FIND_H
#define TOP_FIND_H

#include "link.h"

/* Write the path of the live view of process `pid` to `path`. If there are
 * several, choose the one that was started first. Returns false with *f set if
 * there is none. */
bool find_socket(const char *pid, char *path, size_t size, struct fault *f);

#endif
