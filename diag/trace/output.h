/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - the outputs of sennit-trace. Each returns 0 or a negative errno
 * value. Write errors are found with ferror(). */
#ifndef APPS_TRACE_OUTPUT_H
#define APPS_TRACE_OUTPUT_H

#include "trace/timeline.h"

#include <stdbool.h>
#include <stdio.h>

/* Write the JSON of Chrome's trace events, for ui.perfetto.dev. */
int output_json(FILE *out, const struct timeline *t);

/* Write Perfetto's protobuf. Returns -ENOTSUP without libprotobuf-c. */
int output_perfetto(FILE *out, const struct timeline *t);

/* Write tables for a terminal, at most `rows` rows of each. */
int output_summary(FILE *out, const struct timeline *t, uint32_t rows);

/* Write a picture: a row per worker, or per fiber, at most `rows`. */
int output_svg(FILE *out, const struct timeline *t, uint32_t track_kind,
	       uint32_t rows);

/* Write where fibers wait: as folded stacks, or as a picture. */
int output_flame(FILE *out, const struct timeline *t, bool folded);

/* Write a picture of folded stacks. text is zero-terminated. Returns -EINVAL if
 * it is not folded stacks; nothing was written then. */
int output_flame_of(FILE *out, const char *text);

#endif
