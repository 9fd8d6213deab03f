/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - a folder, its entries sorted by name.
 *
 * A task may read it ahead of the walk. Whoever comes first reads it, the task
 * or the walk.
 */
#ifndef GREP_FOLDER_H
#define GREP_FOLDER_H

#include <sennit.h>

#include <stdatomic.h>

struct folder;

enum kind { KIND_FILE, KIND_FOLDER, KIND_OTHER };

struct folder_entry {
	char          *name;
	enum kind      kind;
	struct folder *folder; /* the walk's: NULL until it is read ahead */
};

struct folder {
	struct folder_entry *entries;
	size_t               count, room;
	int                  error;    /* 0 or why it could not be read */
	bool                 is_ahead; /* the walk's: a task was to read it */
	atomic_bool          is_taken; /* somebody reads it */
	atomic_uint          holders;  /* the walk, and a task */
	sennit_event         read;     /* now the fields above are fixed */
	struct folder       *parent;   /* the walk's */
	size_t               next;     /* the walk's: entries[next] */
	char                 path[];
};

/* The name of an entry of the folder. "." is left out if it is the default. The
 * caller frees it. */
char *folder_join(const char *path, const char *name);

/* Held by the caller. Returns NULL without memory. */
struct folder *folder_new(const char *path);
void           folder_release(struct folder *f);

/* Reads it, or waits until somebody else has read it. */
void folder_read(struct folder *f);

/* Reads it unless somebody else does. */
void folder_read_ahead(struct folder *f);

#endif
