/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - names of compressed and decompressed files.
 */
#ifndef PIG_NAMES_H
#define PIG_NAMES_H

#include <stdbool.h>

/* Report whether the name ends in .gz or .tgz. */
bool name_is_compressed(const char *path);

/* Return the name of the result, which the caller frees; NULL without memory,
 * or for decompression if the name does not end in .gz or .tgz. */
char *name_compressed(const char *path);
char *name_decompressed(const char *path);

#endif
