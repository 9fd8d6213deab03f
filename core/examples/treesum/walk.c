/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - reads directories. */
#include "walk.h"

#include "interrupt.h"
#include "sum.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A directory to read. Its task owns it. */
struct directory {
	struct directory *next;
	struct job       *job;
	char              path[];
};

/* What one task has found so far. */
struct walk {
	struct job       *job;
	struct directory *left;  /* for which there was no memory for a task */
	struct entry     *found; /* not yet in the job's list */
};

static void walk_directory(void *argument);

static struct entry *find(struct walk *w, const char *directory,
			  const char *name)
{
	struct entry *e = entry_new(&w->job->entries, directory, name);

	if (e) {
		e->next = w->found;
		w->found = e;
	}
	return e;
}

static void found_failure(struct walk *w, const char *directory,
			  const char *name, int error, bool is_file)
{
	struct entry *e = find(w, directory, name);

	if (!e)
		return;
	e->error = error;
	e->is_file = is_file;
	if (is_file && name && error == ENOENT)
		e->note = "dangling symbolic link";
	else if (is_file && name && error == ELOOP)
		e->note = "loop of symbolic links";
}

static void found_file(struct walk *w, const char *directory, const char *name)
{
	struct entry *e = find(w, directory, name);

	if (!e)
		return;
	e->is_file = true;
	sum_start(w->job, e);
}

static void found_directory(struct walk *w, const char *directory,
			    const char *name)
{
	size_t            room = offsetof(struct directory, path);
	struct directory *d = path_join(room, directory, name);

	if (!d) {
		atomic_fetch_add_explicit(&w->job->entries.lost, 1,
					  memory_order_relaxed);
		return;
	}
	d->next = NULL;
	d->job = w->job;
	sennit_wait_group_add(&w->job->tasks, 1);
	if (sennit_schedule(walk_directory, d)) {
		(void)sennit_wait_group_done(&w->job->tasks);
		d->next = w->left;
		w->left = d;
	}
}

static const char *kind_of_special(mode_t mode)
{
	if (S_ISFIFO(mode))
		return "a fifo, skipped";
	if (S_ISSOCK(mode))
		return "a socket, skipped";
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return "a device, skipped";
	return "not a regular file, skipped";
}

static void found_mode(struct walk *w, const char *directory, const char *name,
		       mode_t mode)
{
	struct entry *e;

	if (S_ISDIR(mode)) {
		found_directory(w, directory, name);
	} else if (S_ISREG(mode)) {
		found_file(w, directory, name);
	} else if (S_ISLNK(mode)) {
		progress_count(&w->job->progress.links, 1);
	} else if ((e = find(w, directory, name))) {
		e->note = kind_of_special(mode);
	}
}

/* Store the mode of the entry *d of the directory fd in *mode. For a link it is
 * the mode of the target, or S_IFLNK if the target is a directory.
 * Returns 0 or an errno value. */
static int look(int fd, const struct dirent *d, mode_t *mode)
{
	struct stat st;

	*mode = (mode_t)DTTOIF(d->d_type);
	if (d->d_type == DT_UNKNOWN) {
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			return errno;
		*mode = st.st_mode;
	}
	if (!S_ISLNK(*mode))
		return 0;
	if (fstatat(fd, d->d_name, &st, 0))
		return errno;
	if (!S_ISDIR(st.st_mode))
		*mode = st.st_mode;
	return 0;
}

static void walk_entries(struct walk *w, DIR *dir, const char *path)
{
	struct dirent *d;
	mode_t         mode;
	int            error;

	while (errno = 0, !interrupt_asked() && (d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		error = look(dirfd(dir), d, &mode);
		if (error)
			found_failure(w, path, d->d_name, error, true);
		else
			found_mode(w, path, d->d_name, mode);
	}
	if (errno)
		found_failure(w, path, NULL, errno, false);
}

static void walk_one(struct walk *w, const char *path)
{
	DIR *dir = opendir(path);

	if (!dir) {
		found_failure(w, path, NULL, errno, false);
		return;
	}
	walk_entries(w, dir, path);
	closedir(dir);
}

/* Add the entries that were found, after reading the directories that got no
 * task of their own. These are read one after the other, so that the stack does
 * not grow. */
static void walk_finish(struct walk *w)
{
	struct directory *d;

	while ((d = w->left)) {
		w->left = d->next;
		if (!interrupt_asked())
			walk_one(w, d->path);
		free(d);
	}
	entries_add(&w->job->entries, w->found);
}

static void walk_directory(void *argument)
{
	struct directory *d = argument;
	struct walk       w = { .job = d->job, .left = d };

	walk_finish(&w);
	(void)sennit_wait_group_done(&w.job->tasks);
}

void walk_start(struct job *job, const char *path)
{
	struct walk w = { .job = job };
	struct stat st;

	/* For sha256sum "-" is standard input; here it is a name. */
	if (!strcmp(path, "-"))
		path = "./-";
	if (stat(path, &st))
		found_failure(&w, path, NULL, errno, true);
	else
		found_mode(&w, path, NULL, st.st_mode);
	walk_finish(&w);
}
