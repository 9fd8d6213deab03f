/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what files are called after they were compressed or decompressed.
 */
#ifndef PIG_NAMES_H
#define PIG_NAMES_H

#include <stdbool.h>

/* Returns whether the name ends in .gz or .tgz, so the file is compressed. */
bool name_is_compressed(const char *path);

/* Returns the name of the result, for the caller to free; NULL without memory,
 * or, to decompress, if the name does not end in .gz or .tgz. */
char *name_compressed(const char *path);
char *name_decompressed(const char *path);

#endif
