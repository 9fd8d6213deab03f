/* SPDX-License-Identifier: Apache-2.0 */
/* walk_directory.c - counts the lines of all files below a folder, one task for
 * each, and then removes the folder with everything in it. */
#include <sennit.h>
#include <sennit/file.h>
#include <sennit/io.h>
#include <sennit/reader.h>
#include <sennit/walk.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE (60 * SENNIT_SECOND)

static atomic_int files, lines;

/* Counts, and closes the file. */
static int count_lines(void *argument)
{
	int           fd = *(int *)argument;
	char         *line;
	sennit_reader r;
	ptrdiff_t     n;

	sennit_reader_init(&r, fd, NULL, 4096);
	while ((n = sennit_reader_read_line(&r, &line, SENNIT_NEVER)) >= 0)
		atomic_fetch_add(&lines, 1);
	sennit_reader_destroy(&r);
	sennit_close(fd);
	atomic_fetch_add(&files, 1);
	return n == -ENODATA ? 0 : (int)n;
}

/* Opens each file in its directory: also where its path would be too long. */
static int start_count(void *group, const sennit_walk_entry *e)
{
	int fd, err;

	if (e->error)
		fprintf(stderr, "%s: %s\n", e->path, sennit_strerror(e->error));
	if (!S_ISREG(e->type))
		return 0;
	fd = sennit_openat(e->dir, e->name, O_RDONLY | O_CLOEXEC, 0,
			   SENNIT_NEVER);
	if (fd < 0)
		return fd;
	err = sennit_group_spawn_copy(group, count_lines, &fd, sizeof(fd));
	if (err)
		sennit_close(fd);
	return err;
}

static int remove_entry(void *unused, const sennit_walk_entry *e)
{
	const bool folder = S_ISDIR(e->type);

	(void)unused;
	if (folder && !e->after)
		return e->error;
	return sennit_unlinkat(e->dir, e->name, folder ? AT_REMOVEDIR : 0,
			       SENNIT_NEVER);
}

static int count_and_remove(const char *folder)
{
	sennit_group g;
	int          err, ended;

	sennit_group_init(&g, sennit_after(PATIENCE), 0);
	err = sennit_walk(folder, 0, start_count, &g, sennit_after(PATIENCE));
	ended = sennit_group_wait(&g);
	printf("%d lines in %d files\n", lines, files);
	if (!err && !ended)
		err = sennit_walk(folder, SENNIT_WALK_AFTER, remove_entry, NULL,
				  sennit_after(PATIENCE));
	return err ? err : ended;
}

static int make_file(const char *folder, const char *name, const char *text)
{
	char path[64];
	int  fd, err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = sennit_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600,
			 SENNIT_NEVER);
	if (fd < 0)
		return fd;
	err = sennit_write_all(fd, text, strlen(text), NULL, SENNIT_NEVER);
	sennit_close(fd);
	return err;
}

static int program(void *unused)
{
	char folder[] = "/tmp/sennit-walk-XXXXXX", below[64];
	int  err;

	(void)unused;
	if (!mkdtemp(folder))
		return -errno;
	snprintf(below, sizeof(below), "%s/below", folder);
	err = sennit_mkdirat(AT_FDCWD, below, 0700, SENNIT_NEVER);
	if (!err)
		err = make_file(folder, "one", "a line\nanother\n");
	if (!err)
		err = make_file(below, "two", "the last one has no end");
	return err ? err : count_and_remove(folder);
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
