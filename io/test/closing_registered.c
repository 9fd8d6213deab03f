/* SPDX-License-Identifier: Apache-2.0 */
/* closing_registered.c - a descriptor is closed while its file stays open,
 * because a child has a copy: afterwards no epoll descriptor of the library
 * reports it.
 */
#include "operations.h"

#include <dirent.h>

/* The number of epoll descriptors of this process that have `fd`. */
static int registered(int fd)
{
	DIR           *all = opendir("/proc/self/fdinfo");
	struct dirent *e;
	char           path[300], line[200], sought[32];
	int            count = 0;

	must(all, "opendir");
	snprintf(sought, sizeof(sought), "tfd: %8d ", fd);
	while ((e = readdir(all))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			count += !strncmp(line, sought, strlen(sought));
		if (f)
			fclose(f);
	}
	closedir(all);
	return count;
}

struct scene {
	int fds[2];
	int copy; /* in place of the child's descriptor */
};

static void make_sockets(struct scene *c)
{
	open_sockets(c->fds);
}

static void make_pipe(struct scene *c)
{
	begin_pipe(c->fds);
}

/* The accepted end stays registered with epoll. */
static void make_connection(struct scene *c)
{
	int fds[2];

	open_listener(fds);
	connect_to_listener(fds);
	c->fds[0] = sennit_accept(fds[0], NULL, NULL, SOCK_CLOEXEC,
				  in_ms(100000));
	c->fds[1] = fds[1];
	must(c->fds[0] >= 0, "accept");
	close(fds[0]);
}

static void (*const makers[])(struct scene *c) = { make_sockets, make_pipe,
						   make_connection };

/* Wait until the deadline, then wait until a byte arrives. */
static void wait_on(void *argument)
{
	struct scene *c = argument;

	EXPECT(sennit_poll(c->fds[0], POLLIN, in_ms(1)) == -ETIMEDOUT);
	give_two_bytes(c->fds);
	EXPECT(sennit_poll(c->fds[0], POLLIN, in_ms(100000)) > 0);
	EXPECT(call_read(c->fds[0], in_ms(100000)) == 2);
}

static void close_it(void *argument)
{
	struct scene *c = argument;

	EXPECT(sennit_close(c->fds[0]) == 0);
}

static void close_by(struct scene *c, int how)
{
	if (how == 1)
		in_a_task(close_it, c);
	else if (how == 2)
		in_a_thread(close_it, c);
	else
		close_it(c);
}

/* Several workers have waited on it. */
TEST_WITH_WORKERS(what_is_closed_is_registered_nowhere)
{
	for (int i = 0; i < 9; i++) {
		struct scene c;

		makers[i % 3](&c);
		wait_on(&c);
		for (int k = 0; k < 8; k++)
			in_a_task(wait_on, &c);
		c.copy = dup(c.fds[0]);
		EXPECT(strcmp(wanted_backend, "epoll") != 0 ||
		       registered(c.fds[0]));
		close_by(&c, i / 3);
		EXPECT(!registered(c.fds[0]));
		give_two_bytes(c.fds);
		close(c.copy);
		close(c.fds[1]);
	}
	(void)w;
}

USES_BACKEND;
