/* SPDX-License-Identifier: Apache-2.0 */
/* maps.c - an address is named by its distance from the begin of the file's
 * first map, as addr2line and dladdr() do. */
#include "trace/maps.h"

#include "trace/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void maps_add(struct maps *m, const void *text, size_t size)
{
	char *all;

	if (m->size + size >= m->room) {
		m->room = 2 * (m->size + size) + 1;
		all = array_zeros(m->room, 1);
		if (m->size)
			memcpy(all, m->text, m->size);
		free(m->text);
		m->text = all;
	}
	memcpy(m->text + m->size, text, size);
	m->size += size;
}

/* Add the map that the line describes, if it is that of a file. */
static void parse_line(struct maps *m, char *line)
{
	const struct map *last = m->count ? &m->maps[m->count - 1] : NULL;
	struct map        map;
	uint64_t          offset;
	char             *path = strchr(line, '/');

	if (!path || sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64,
			    &map.begin, &map.end, &offset) != 3)
		return;
	map.name = strrchr(path, '/') + 1;
	map.base = map.begin - offset;
	if (last && !strcmp(last->name, map.name) && offset)
		map.base = last->base;
	m->maps = array_grow(m->maps, m->count, sizeof(*m->maps));
	m->maps[m->count++] = map;
}

static int compare(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void maps_parse(struct maps *m)
{
	char *line, *rest = m->text;

	while (rest && (line = strsep(&rest, "\n")))
		parse_line(m, line);
	if (m->count)
		qsort(m->maps, m->count, sizeof(*m->maps), compare);
}

const struct map *maps_find(const struct maps *m, uint64_t address)
{
	uint32_t low = 0, high = m->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (m->maps[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < m->maps[low - 1].end ? &m->maps[low - 1] : NULL;
}

void maps_free(struct maps *m)
{
	free(m->text);
	free(m->maps);
}
