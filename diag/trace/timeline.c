/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/timeline.h"

#include "trace/array.h"

#include <stdlib.h>

void timeline_free(struct timeline *t)
{
	for (uint32_t i = 0; i < t->name_count; i++)
		free(t->names[i]);
	free(t->names);
	free(t->tracks);
	free(t->slices);
	free(t->marks);
	free(t->values);
	free(t->flows);
	free(t->waits);
	free(t->tasks);
}

const char *timeline_mark_name(uint32_t kind)
{
	static const char *const names[] = { "steal", "spawn", "wake", "call",
					     "events lost" };

	return names[kind];
}

struct edge *timeline_edges(const struct timeline *t)
{
	struct edge *edges = array_zeros(t->edges, sizeof(*edges));

	for (uint32_t i = 0; i < t->slice_count; i++) {
		edges[t->slices[i].opened] = (struct edge){ EDGE_BEGIN, i };
		edges[t->slices[i].closed] = (struct edge){ EDGE_END, i };
	}
	for (uint32_t i = 0; i < t->mark_count; i++)
		edges[t->marks[i].at] = (struct edge){ EDGE_MARK, i };
	for (uint32_t i = 0; i < t->value_count; i++)
		edges[t->values[i].at] = (struct edge){ EDGE_VALUE, i };
	return edges;
}
