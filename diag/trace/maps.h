/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h - where the files of a process were mapped: names functions in a trace
 * that was written by the handler of a crash. */
#ifndef APPS_TRACE_MAPS_H
#define APPS_TRACE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct map {
	uint64_t begin, end;
	uint64_t base; /* where the first map of its file begins */
	char    *name; /* of the file, without folders, as in the text */
};

struct maps {
	char       *text; /* of /proc/self/maps */
	size_t      size, room;
	struct map *maps; /* sorted */
	uint32_t    count;
};

/* Append a part of the text. */
void maps_add(struct maps *m, const void *text, size_t size);

/* To be called once, after all parts. */
void maps_parse(struct maps *m);

/* Returns the map that contains the address, or NULL. */
const struct map *maps_find(const struct maps *m, uint64_t address);

void maps_free(struct maps *m);

#endif
