/* SPDX-License-Identifier: Apache-2.0 */
/* entries.c - the list of results. */
#include "entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *path_join(size_t room, const char *directory, const char *name)
{
	size_t length = strlen(directory);
	size_t more = name ? strlen(name) : 0;
	char  *memory = malloc(room + length + more + 2);
	char  *path;

	if (!memory)
		return NULL;
	path = memory + room;
	memcpy(path, directory, length + 1);
	if (name) {
		if (length && path[length - 1] != '/')
			path[length++] = '/';
		memcpy(path + length, name, more + 1);
	}
	return memory;
}

struct entry *entry_new(struct entries *all, const char *directory,
			const char *name)
{
	size_t        room = offsetof(struct entry, path);
	struct entry *e = path_join(room, directory, name);

	if (e)
		memset(e, 0, room);
	else
		atomic_fetch_add_explicit(&all->lost, 1, memory_order_relaxed);
	return e;
}

void entries_add(struct entries *all, struct entry *first)
{
	struct entry *last = first;
	size_t        count = 1;

	if (!first)
		return;
	for (; last->next; last = last->next)
		count++;
	sennit_mutex_lock(&all->lock);
	last->next = all->first;
	all->first = first;
	all->count += count;
	sennit_mutex_unlock(&all->lock);
}

static int by_path(const void *a, const void *b)
{
	const struct entry *const *left = a;
	const struct entry *const *right = b;

	return strcmp((*left)->path, (*right)->path);
}

int entries_sort(struct entries *all)
{
	struct entry *e;
	size_t        i = 0;

	all->sorted = calloc(all->count + 1, sizeof(struct entry *));
	if (!all->sorted)
		return -ENOMEM;
	for (e = all->first; e; e = e->next)
		all->sorted[i++] = e;
	qsort(all->sorted, all->count, sizeof(struct entry *), by_path);
	return 0;
}

void entries_free(struct entries *all)
{
	struct entry *e;

	while ((e = all->first)) {
		all->first = e->next;
		free(e);
	}
	free(all->sorted);
}
