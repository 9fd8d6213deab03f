/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - wait until a file is written in a folder. */
#include "../calls/calls.h"

#include <sennit/watch.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = "/tmp/sennit-watch-XXXXXX";
static char path[sizeof(folder) + 8];

static int write_file(void *unused)
{
	FILE *file = fopen(path, "w");

	(void)unused;
	CHECK(file && fputs("hello\n", file) >= 0);
	return fclose(file);
}

static void show(sennit_scheduler *s)
{
	sennit_watch      *w;
	sennit_watch_event event = { .size = sizeof(event) };
	sennit_group       g;
	int                number;

	(void)s;
	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	CHECK(sennit_watch_open(&w) == 0);
	number = sennit_watch_add(w, folder, IN_CLOSE_WRITE);
	CHECK(number > 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, write_file, NULL) == 0);
	CHECK(sennit_watch_next(w, &event, soon()) == 0);
	CHECK(event.watched == number && strcmp(event.name, "file") == 0);
	CHECK(sennit_group_wait(&g) == 0);
	CHECK(sennit_watch_remove(w, number) == 0);
	sennit_watch_close(w);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	return run(show);
}
