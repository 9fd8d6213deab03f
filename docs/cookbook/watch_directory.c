/* SPDX-License-Identifier: Apache-2.0 */
/* watch_directory.c - handles each file that comes into a folder, once it is
 * whole. */
#include <sennit.h>
#include <sennit/watch.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = "/tmp/sennit-watch-XXXXXX";

enum { FILES = 3, PATH_SIZE = sizeof(folder) + 1 + SENNIT_WATCH_NAME_MAX };

static const char *names[FILES] = { "shed", "heddle", "reed" };

static void path_of(char path[PATH_SIZE], const char *name)
{
	snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

/* Written under another name and then renamed: a reader never sees half a
 * file. */
static int deliver(void *unused)
{
	char  path[PATH_SIZE], draft[PATH_SIZE];
	FILE *f;

	(void)unused;
	path_of(draft, "draft");
	for (int i = 0; i < FILES; i++) {
		path_of(path, names[i]);
		f = fopen(draft, "w");
		if (!f || fputs(names[i], f) < 0 || fclose(f) ||
		    rename(draft, path))
			return -EIO;
	}
	return 0;
}

static int handle_files(void *watch)
{
	sennit_watch_event event = { .size = sizeof(event) };
	char               path[PATH_SIZE];
	int                err = 0;

	for (int i = 0; i < FILES && !err; i++) {
		err = sennit_watch_next(watch, &event, SENNIT_NEVER);
		if (err)
			break;
		printf("came: %s\n", event.name);
		path_of(path, event.name);
		err = strcmp(event.name, names[i]) || unlink(path) ? -EIO : 0;
	}
	return err;
}

static int run(void)
{
	sennit_watch *watch;
	sennit_group  g;
	int           err, ended;

	if (sennit_watch_open(&watch))
		return -1;
	sennit_group_init(&g, sennit_after(60 * SENNIT_SECOND), 0);
	err = sennit_watch_add(watch, folder, IN_MOVED_TO) < 0 ? -1 : 0;
	if (!err)
		err = sennit_group_spawn(&g, handle_files, watch);
	if (!err)
		err = sennit_group_spawn(&g, deliver, NULL);
	ended = sennit_group_wait(&g);
	sennit_watch_close(watch);
	return ended ? ended : err;
}

static int program(void *unused)
{
	int err;

	(void)unused;
	if (!mkdtemp(folder))
		return 1;
	err = run();
	return rmdir(folder) || err ? 1 : 0;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
