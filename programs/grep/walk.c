/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - the task that walks through the folders. */
#include "grep/walk.h"
#include "grep/folder.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The maximum number of folders that are read ahead of the walk. */
#define AHEAD 64

struct walk {
	struct run *run;
	uint32_t    ahead;
};

static int read_ahead(void *folder)
{
	folder_read_ahead(folder);
	folder_release(folder);
	return 0;
}

static struct folder *make_folder(const struct folder *parent, const char *name)
{
	char          *path = folder_join(parent->path, name);
	struct folder *f = path ? folder_new(path) : NULL;

	free(path);
	return f;
}

/* Without memory the walk reads the folder itself, later. */
static void start_ahead(struct walk *w, const struct folder *parent,
			struct folder_entry *e)
{
	struct folder *f = make_folder(parent, e->name);

	if (!f)
		return;
	e->folder = f;
	atomic_fetch_add(&f->holders, 1);
	if (sennit_group_spawn(&w->run->group, read_ahead, f)) {
		folder_release(f);
		return;
	}
	f->is_ahead = true;
	w->ahead++;
}

static void enter(struct walk *w, struct folder *f)
{
	folder_read(f);
	if (f->is_ahead)
		w->ahead--;
	if (f->error)
		run_failed(w->run, *f->path ? f->path : ".",
			   strerror(f->error));
	for (size_t i = 0; i < f->count && w->ahead < AHEAD; i++)
		if (f->entries[i].kind == KIND_FOLDER)
			start_ahead(w, f, &f->entries[i]);
}

/* Return the folder with which to continue. */
static struct folder *descend(struct walk *w, struct folder *parent,
			      struct folder_entry *e)
{
	struct folder *f = e->folder;

	if (!f)
		f = make_folder(parent, e->name);
	e->folder = NULL;
	if (!f) {
		run_failed(w->run, e->name, strerror(ENOMEM));
		return parent;
	}
	f->parent = parent;
	enter(w, f);
	return f;
}

static int start_file(struct walk *w, const struct folder *parent,
		      const char *name)
{
	char *path = folder_join(parent->path, name);
	int   error = path ? search_start(w->run, path, false) : -ENOMEM;

	free(path);
	return error;
}

/* Leave the folder. After an error, folders that were read ahead are
 * released. */
static struct folder *leave(struct walk *w, struct folder *f)
{
	struct folder *parent = f->parent;

	for (size_t i = 0; i < f->count; i++)
		if (f->entries[i].folder) {
			if (f->entries[i].folder->is_ahead)
				w->ahead--;
			folder_release(f->entries[i].folder);
		}
	folder_release(f);
	return parent;
}

/* Takes ownership of the caller's reference to the folder. */
static int walk_folder(struct walk *w, struct folder *f)
{
	struct folder_entry *e;
	int                  error = 0;

	enter(w, f);
	while (f) {
		if (error || f->next == f->count) {
			f = leave(w, f);
			continue;
		}
		e = &f->entries[f->next++];
		if (e->kind == KIND_FILE)
			error = start_file(w, f, e->name);
		else if (e->kind == KIND_FOLDER)
			f = descend(w, f, e);
	}
	return error;
}

/* Remove slashes at the end of the name. The default name of the working folder
 * is omitted. */
static struct folder *make_root(const char *path, bool is_default)
{
	size_t         length = is_default ? 0 : strlen(path);
	char          *name;
	struct folder *f;

	while (length > 1 && path[length - 1] == '/')
		length--;
	name = strndup(path, length);
	f = name ? folder_new(name) : NULL;
	free(name);
	return f;
}

static int walk_path(struct walk *w, const char *path, bool is_default)
{
	struct folder *f;
	struct stat    st;

	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		if (!w->run->options.recursive) {
			run_failed(w->run, path, strerror(EISDIR));
			return 0;
		}
		f = make_root(path, is_default);
		return f ? walk_folder(w, f) : -ENOMEM;
	}
	return search_start(w->run, path, true);
}

int walk_all(void *argument)
{
	struct walk           w = { .run = argument };
	const struct options *o = &w.run->options;
	int                   error = 0;

	for (char **path = o->paths; *path && !error; path++)
		error = walk_path(&w, *path, o->is_here);
	return error;
}
