/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - the outputs of sennit-trace. Each returns 0 or a negative errno
 * value. An error of writing is left with the stream. */
#ifndef APPS_TRACE_OUTPUT_H
#define APPS_TRACE_OUTPUT_H

#include "trace/timeline.h"

#include <stdbool.h>
#include <stdio.h>

/* The JSON of Chrome's trace events, for ui.perfetto.dev. */
int output_json(FILE *out, const struct timeline *t);

/* Perfetto's protobuf. Without libprotobuf-c: -ENOTSUP. */
int output_perfetto(FILE *out, const struct timeline *t);

/* Tables for a terminal. At most `rows` of each. */
int output_summary(FILE *out, const struct timeline *t, uint32_t rows);

/* A picture: a row per worker, or per fiber, at most `rows`. */
int output_svg(FILE *out, const struct timeline *t, uint32_t track_kind,
	       uint32_t rows);

/* Where fibers wait: folded stacks, or their picture. */
int output_flame(FILE *out, const struct timeline *t, bool folded);

/* The picture of folded stacks, a text that ends with 0. -EINVAL: it is
 * another text; nothing was written. */
int output_flame_of(FILE *out, const char *text);

#endif
