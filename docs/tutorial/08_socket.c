/* SPDX-License-Identifier: Apache-2.0 */
/* 08_socket.c - a server that answers in capitals, and three clients. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static char address[SENNIT_ADDRESS_TEXT];

/* A connection: one fiber, written as if it blocked. */
static void serve(void *unused, int fd)
{
	char      text[64];
	ptrdiff_t n;

	(void)unused;
	while ((n = sennit_recv(fd, text, sizeof(text), 0, SENNIT_NEVER)) > 0) {
		for (ptrdiff_t i = 0; i < n; i++)
			text[i] = (char)toupper((unsigned char)text[i]);
		if (sennit_send_all(fd, text, (size_t)n, 0, NULL, SENNIT_NEVER))
			break;
	}
	sennit_close(fd);
}

struct client {
	const char *says;
	char        hears[64];
};

static int talk(void *argument)
{
	struct client *c = argument;
	size_t         size = strlen(c->says);
	int            fd = sennit_connect_to(address, SENNIT_NEVER), err;

	if (fd < 0)
		return fd;
	err = sennit_send_all(fd, c->says, size, 0, NULL, SENNIT_NEVER);
	if (!err)
		err = sennit_read_exactly(fd, c->hears, size, NULL,
					  SENNIT_NEVER);
	sennit_close(fd);
	return err;
}

static int run(struct client *clients, int count)
{
	sennit_group acceptors, connections, talks;
	int fd = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER), err, ended;

	if (fd < 0 || sennit_local_address(fd, address, sizeof(address)))
		return -1;
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	sennit_group_init(&talks, sennit_after(60 * SENNIT_SECOND), 0);
	err = sennit_listen_each(fd, &acceptors, &connections, serve, NULL);
	for (int i = 0; i < count && !err; i++)
		err = sennit_group_spawn(&talks, talk, &clients[i]);
	ended = sennit_group_wait(&talks);
	sennit_group_cancel(&acceptors); /* no more connections */
	sennit_group_wait(&acceptors);
	sennit_group_wait(&connections); /* those that are there end */
	sennit_close(fd);
	return err ? err : ended;
}

static int program(void *unused)
{
	struct client clients[] = { { .says = "warp" },
				    { .says = "weft" },
				    { .says = "shuttle" } };
	int           err;

	(void)unused;
	err = run(clients, 3);
	if (err)
		return 1;
	for (int i = 0; i < 3; i++)
		printf("%s -> %s\n", clients[i].says, clients[i].hears);
	return strcmp(clients[2].hears, "SHUTTLE") ? 1 : 0;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
