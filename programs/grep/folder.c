/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - reads and sorts folders. */
#include "grep/folder.h"
#include "grep/open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *folder_join(const char *path, const char *name)
{
	size_t      length = strlen(path);
	const char *slash = length && path[length - 1] == '/' ? "" : "/";
	char       *out;

	if (!length)
		return strdup(name);
	return asprintf(&out, "%s%s%s", path, slash, name) < 0 ? NULL : out;
}

struct folder *folder_new(const char *path)
{
	struct folder *f = calloc(1, sizeof(*f) + strlen(path) + 1);

	if (!f)
		return NULL;
	atomic_init(&f->holders, 1);
	sennit_event_init(&f->read, SENNIT_EVENT_MANUAL);
	strcpy(f->path, path);
	return f;
}

void folder_release(struct folder *f)
{
	if (atomic_fetch_sub(&f->holders, 1) != 1)
		return;
	for (size_t i = 0; i < f->count; i++)
		free(f->entries[i].name);
	free(f->entries);
	free(f);
}

static int add(struct folder *f, const char *name, enum kind kind)
{
	size_t               room = f->room ? 2 * f->room : 16;
	struct folder_entry *more;

	if (f->count == f->room) {
		more = realloc(f->entries, room * sizeof(*more));
		if (!more)
			return ENOMEM;
		f->entries = more;
		f->room = room;
	}
	f->entries[f->count] = (struct folder_entry){ strdup(name), kind,
						      NULL };
	if (!f->entries[f->count].name)
		return ENOMEM;
	f->count++;
	return 0;
}

static enum kind kind_of(int fd, const struct dirent *d)
{
	struct stat st;
	mode_t      mode = (mode_t)DTTOIF(d->d_type);

	if (d->d_type == DT_UNKNOWN &&
	    !fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
		mode = st.st_mode;
	if (S_ISDIR(mode))
		return KIND_FOLDER;
	return S_ISREG(mode) ? KIND_FILE : KIND_OTHER;
}

static int by_name(const void *a, const void *b)
{
	const struct folder_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void read_entries(struct folder *f, DIR *dir)
{
	struct dirent *d;

	while (errno = 0, !f->error && (d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			f->error = add(f, d->d_name, kind_of(dirfd(dir), d));
	if (!f->error)
		f->error = errno;
	if (f->count)
		qsort(f->entries, f->count, sizeof(*f->entries), by_name);
}

static void read_now(struct folder *f)
{
	int fd = open_path(*f->path ? f->path : ".",
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir) {
		read_entries(f, dir);
		closedir(dir);
	} else {
		f->error = errno;
		if (fd >= 0)
			close(fd);
	}
	sennit_event_set(&f->read);
}

void folder_read_ahead(struct folder *f)
{
	if (!atomic_exchange(&f->is_taken, true))
		read_now(f);
}

void folder_read(struct folder *f)
{
	folder_read_ahead(f);
	/* The task that reads the folder sets the event. */
	(void)!sennit_event_wait_until(&f->read, SENNIT_UNCANCELLED);
}
