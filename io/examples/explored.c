/* SPDX-License-Identifier: Apache-2.0 */
/* explored.c - a server and its clients under hundreds of networks: every seed
 * has its own delays, pieces and resets, and repeats them.
 *
 *	explored [first seed [seeds]]
 *
 * Build sennit with -DSENNIT_DETERMINISTIC=ON. A seed that fails is printed;
 * run it alone, and see what the network did:
 *
 *	SENNIT_SIMULATION_TRACE=1 explored 17 1
 *
 * In an ordinary build the scenario runs once, on the sockets of the system.
 */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/reader.h>
#include <sennit/simulation.h>
#include <sennit/deterministic.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 3, WORDS = 4 };

static char         address[SENNIT_ADDRESS_TEXT];
static sennit_group served;
static atomic_uint  answers, failures;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "explored: %s\n", what);
	abort(); /* which prints the seed */
}

/* --- the server: turns each line round ---------------------------------- */

static int answer(int fd, char *line, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		char c = line[i];

		line[i] = line[size - 1 - i];
		line[size - 1 - i] = c;
	}
	line[size] = '\n'; /* in place of the zero byte */
	return sennit_send_all(fd, line, size + 1, 0, NULL, SENNIT_NEVER);
}

static int serve(void *argument)
{
	int           fd = (int)(intptr_t)argument;
	char          room[64], *line;
	sennit_reader r;
	ptrdiff_t     n;

	sennit_reader_init(&r, fd, room, sizeof(room));
	while ((n = sennit_reader_read_line(&r, &line, SENNIT_NEVER)) >= 0)
		if (answer(fd, line, (size_t)n))
			break;
	sennit_close(fd);
	return 0;
}

static int accept_all(void *argument)
{
	int listener = (int)(intptr_t)argument;
	int fd;

	while ((fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER)) >= 0)
		if (sennit_group_spawn(&served, serve, (void *)(intptr_t)fd))
			sennit_close(fd);
	return 0;
}

/* --- the clients -------------------------------------------------------- */

static bool asks(int fd, const char *word, const char *expected)
{
	char   bytes[16];
	size_t size = strlen(expected);

	if (sennit_send_all(fd, word, size, 0, NULL, SENNIT_NEVER) ||
	    sennit_read_exactly(fd, bytes, size, NULL, SENNIT_NEVER))
		return false; /* the network took the connection */
	check(!memcmp(bytes, expected, size), "a wrong answer");
	atomic_fetch_add(&answers, 1);
	return true;
}

static int ask(void *unused)
{
	int  fd = sennit_connect_to(address, SENNIT_NEVER);
	bool works = fd >= 0;

	(void)unused;
	for (int i = 0; works && i < WORDS; i++)
		works = asks(fd, i % 2 ? "weft\n" : "spool\n",
			     i % 2 ? "tfew\n" : "loops\n");
	if (!works)
		atomic_fetch_add(&failures, 1);
	if (fd >= 0)
		sennit_close(fd);
	return 0;
}

/* --- the scenario ------------------------------------------------------- */

static int listen_somewhere(void)
{
	int fd = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER);

	check(fd >= 0 && !sennit_local_address(fd, address, sizeof(address)),
	      "no socket");
	return fd;
}

static void run(void)
{
	int          listener = listen_somewhere();
	sennit_group server, clients;

	sennit_group_init(&served, SENNIT_NEVER, 0);
	sennit_group_init(&server, SENNIT_NEVER, 0);
	sennit_group_init(&clients, SENNIT_NEVER, 0);
	check(!sennit_group_spawn(&server, accept_all,
				  (void *)(intptr_t)listener),
	      "no memory");
	for (int i = 0; i < CLIENTS; i++)
		check(!sennit_group_spawn(&clients, ask, NULL), "no memory");
	check(!sennit_group_wait(&clients), "a client failed");
	sennit_group_cancel(&server);
	sennit_group_wait(&server); /* it says that it was cancelled */
	check(!sennit_group_wait(&served), "a server failed");
	sennit_close(listener);
}

static void scenario(void *unused)
{
	sennit_scheduler *s;

	(void)unused;
	check(!sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) &&
		      !sennit_thread_bind(s),
	      "no scheduler");
	/* -ENOSYS in an ordinary build */
	(void)!sennit_simulation_begin(
		SENNIT_SIMULATION_CONFIG(.resets = 20000, .refusals = 50000));
	run();
	sennit_thread_unbind();
	check(!sennit_scheduler_shutdown(s, SENNIT_NEVER), "it did not end");
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 0) : 200;

	if (sennit_explore(first, seeds, scenario, NULL)) {
		seeds = 1;
		scenario(NULL);
	}
	printf("%llu networks: %u answers, %u clients lost their connection\n",
	       (unsigned long long)seeds, atomic_load(&answers),
	       atomic_load(&failures));
	return atomic_load(&answers) ? 0 : 1;
}
