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
#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/simulation.h>

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 3, WORDS = 4 };

static struct sockaddr_in address;
static sennit_group       served;
static atomic_uint        answers, failures;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "explored: %s\n", what);
	abort(); /* which prints the seed */
}

/* 0, or a negative errno. */
static int send_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ptrdiff_t n = sennit_send(fd, bytes, size, 0, SENNIT_NEVER);

		if (n < 0)
			return (int)n;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* --- the server: turns each line round ---------------------------------- */

static int answer(int fd, char *line, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		char c = line[i];

		line[i] = line[size - 1 - i];
		line[size - 1 - i] = c;
	}
	line[size] = '\n';
	return send_all(fd, line, size + 1);
}

/* Answer the lines that are whole, and keep the rest: a receive may end
 * anywhere. */
static int answer_lines(int fd, char *bytes, size_t *have)
{
	char *end;
	int   err = 0;

	while (!err && (end = memchr(bytes, '\n', *have))) {
		size_t size = (size_t)(end - bytes);

		err = answer(fd, bytes, size);
		*have -= size + 1;
		memmove(bytes, end + 1, *have);
	}
	return err;
}

static int serve(void *argument)
{
	int       fd = (int)(intptr_t)argument;
	char      bytes[64];
	size_t    have = 0;
	ptrdiff_t n;

	while ((n = sennit_recv(fd, bytes + have, sizeof(bytes) - have, 0,
				SENNIT_NEVER)) > 0) {
		have += (size_t)n;
		if (answer_lines(fd, bytes, &have) || have == sizeof(bytes))
			break;
	}
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
	char   bytes[16] = "";
	size_t have = 0;

	if (send_all(fd, word, strlen(word)))
		return false;
	while (have < strlen(expected)) {
		ptrdiff_t n = sennit_recv(fd, bytes + have,
					  strlen(expected) - have, 0,
					  SENNIT_NEVER);

		if (n <= 0)
			return false; /* the network took the connection */
		have += (size_t)n;
	}
	check(!memcmp(bytes, expected, have), "a wrong answer");
	atomic_fetch_add(&answers, 1);
	return true;
}

static int ask(void *unused)
{
	int  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool works = fd >= 0 && !sennit_connect(fd, (struct sockaddr *)&address,
						sizeof(address), SENNIT_NEVER);

	(void)unused;
	for (int i = 0; works && i < WORDS; i++)
		works = asks(fd, i % 2 ? "weft\n" : "spool\n",
			     i % 2 ? "tfew\n" : "loops\n");
	if (!works)
		atomic_fetch_add(&failures, 1);
	sennit_close(fd);
	return 0;
}

/* --- the scenario ------------------------------------------------------- */

static int listen_somewhere(void)
{
	int       fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(address);

	memset(&address, 0, sizeof(address));
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(fd >= 0 && !bind(fd, (struct sockaddr *)&address, size) &&
		      !listen(fd, 16) &&
		      !getsockname(fd, (struct sockaddr *)&address, &size),
	      "no socket to be had");
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
		      !sennit_bind(s),
	      "no scheduler to be had");
	/* -ENOSYS in an ordinary build */
	(void)!sennit_simulation_begin(
		SENNIT_SIMULATION_CONFIG(.resets = 20000, .refusals = 50000));
	run();
	sennit_unbind();
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
