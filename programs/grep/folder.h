/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - a folder, its entries sorted by name.
 *
 * A task may read it ahead of the walk. It is read once: by the task, or by the
 * walk if that needs it first.
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
	struct folder *folder; /* owned by the walk: NULL unless it is read
			        * ahead */
};

struct folder {
	struct folder_entry *entries;
	size_t               count, room;
	int                  error;    /* 0, or the errno value of a failed
				        * read */
	bool                 is_ahead; /* owned by the walk: a task was started
				        * to read it */
	atomic_bool          is_taken; /* the walk or the task is reading it, or
				        * has */
	atomic_uint          holders;  /* reference count: the walk, and a
				        * task */
	sennit_event         read;     /* set when the fields above are fixed */
	struct folder       *parent;   /* owned by the walk */
	size_t               next;     /* owned by the walk: next entry */
	char                 path[];
};

/* Return the path of an entry of the folder, which the caller frees. "." is
 * omitted if it is the default. */
char *folder_join(const char *path, const char *name);

/* Return a folder with one reference, or NULL without memory. */
struct folder *folder_new(const char *path);
void           folder_release(struct folder *f);

/* Read the folder, or wait until the other reader has read it. */
void folder_read(struct folder *f);

/* Read the folder unless it is being read. */
void folder_read_ahead(struct folder *f);

#endif
