/* SPDX-License-Identifier: Apache-2.0 */
/* ares.c - c-ares, a library that resolves names with sockets of its own, in
 * one fiber: c-ares says for which sockets it waits and until when, and
 * sennit_poll_many() waits. Other fibers run meanwhile.
 *
 *	ares [-s server[:port],...] [-t milliseconds] [name...]
 *
 * Prints an IPv4 address of each name, as the answers come, and how often it
 * had to wait. A channel belongs to one thread at a time: keep its fiber where
 * it is, and send it names by a channel (sennit/channel.h).
 */
#include <sennit.h>
#include <sennit/io.h>

#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define SOCKETS 64

struct resolver {
	ares_channel  channel;
	struct pollfd fds[SOCKETS]; /* for which c-ares waits */
	size_t        count;
	unsigned      left; /* names without an answer */
	unsigned      failed;
	unsigned      polls;
};

struct query {
	struct resolver *r;
	const char      *name;
};

/* --- what c-ares tells -------------------------------------------------- */

/* It waits for fd to be readable, writable, both, or, closing it, for none. */
static void note_socket(void *data, ares_socket_t fd, int readable,
			int writable)
{
	struct resolver *r = data;
	size_t           i = 0;

	while (i < r->count && r->fds[i].fd != fd)
		i++;
	if (!readable && !writable) {
		if (i < r->count)
			r->fds[i] = r->fds[--r->count];
		return;
	}
	if (i == SOCKETS)
		abort(); /* c-ares has one per server and few more */
	r->count += i == r->count;
	r->fds[i] = (struct pollfd){ .fd = fd };
	r->fds[i].events = (short)((readable ? POLLIN : 0) |
				   (writable ? POLLOUT : 0));
}

static void print_answer(void *argument, int status, int timeouts,
			 struct ares_addrinfo *list)
{
	struct query      *q = argument;
	char               text[INET_ADDRSTRLEN] = "?";
	struct sockaddr_in a;

	(void)timeouts;
	q->r->left--;
	if (status == ARES_SUCCESS && list->nodes) {
		memcpy(&a, list->nodes->ai_addr, sizeof(a));
		inet_ntop(AF_INET, &a.sin_addr, text, sizeof(text));
		printf("%s %s\n", q->name, text);
	} else {
		printf("%s: %s\n", q->name, ares_strerror(status));
		q->r->failed++;
	}
	if (list)
		ares_freeaddrinfo(list);
}

/* --- what it needs ------------------------------------------------------ */

/* c-ares drops what is less than a millisecond: without one more it would be
 * asked again and again until that has passed. */
static sennit_time next_timeout(struct resolver *r)
{
	struct timeval  tv;
	struct timeval *left = ares_timeout(r->channel, NULL, &tv);

	return left ? sennit_after((uint64_t)left->tv_sec * SENNIT_SECOND +
				   (uint64_t)left->tv_usec *
					   SENNIT_MICROSECOND +
				   SENNIT_MILLISECOND)
		    : SENNIT_NEVER;
}

static void process(struct resolver *r, const struct pollfd *p)
{
	const short reads = POLLIN | POLLERR | POLLHUP;

	ares_process_fd(r->channel,
			p->revents & reads ? p->fd : ARES_SOCKET_BAD,
			p->revents & POLLOUT ? p->fd : ARES_SOCKET_BAD);
}

/* Until all names have an answer, or fail. */
static int run(struct resolver *r)
{
	while (r->left) {
		struct pollfd fds[SOCKETS]; /* processing changes r->fds */
		size_t        count = r->count;
		int           n;

		memcpy(fds, r->fds, sizeof(fds));
		n = sennit_poll_many(fds, count, next_timeout(r));
		r->polls++;
		if (n < 0 && n != -ETIMEDOUT)
			return n;
		if (n < 0) /* c-ares asks again, or gives up */
			ares_process_fd(r->channel, ARES_SOCKET_BAD,
					ARES_SOCKET_BAD);
		for (size_t i = 0; n > 0 && i < count; i++)
			if (fds[i].revents)
				process(r, &fds[i]);
	}
	return 0;
}

/* --- the program -------------------------------------------------------- */

static int resolve(struct resolver *r, char **names, unsigned count)
{
	const struct ares_addrinfo_hints hints = { .ai_family = AF_INET };
	struct query                    *queries;
	int                              err;

	queries = calloc(count, sizeof(*queries));
	if (!queries)
		return -ENOMEM;
	r->left = count;
	for (unsigned i = 0; i < count; i++) {
		queries[i] = (struct query){ .r = r, .name = names[i] };
		ares_getaddrinfo(r->channel, names[i], NULL, &hints,
				 print_answer, &queries[i]);
	}
	err = run(r);
	ares_destroy(r->channel); /* before the objects that it may still use */
	free(queries);
	return err;
}

static int open_channel(struct resolver *r, const char *servers, int timeout)
{
	struct ares_options o = { .timeout = timeout,
				  .tries = 2,
				  .sock_state_cb = note_socket,
				  .sock_state_cb_data = r };

	if (ares_init_options(&r->channel, &o,
			      ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
				      ARES_OPT_SOCK_STATE_CB) != ARES_SUCCESS)
		return -1;
	if (!servers ||
	    ares_set_servers_ports_csv(r->channel, servers) == ARES_SUCCESS)
		return 0;
	ares_destroy(r->channel);
	return -1;
}

static int resolve_all(const char *servers, int timeout, char **names,
		       unsigned count)
{
	struct resolver r = { .count = 0 };
	int             err;

	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		return 1;
	err = open_channel(&r, servers, timeout);
	if (!err)
		err = resolve(&r, names, count);
	ares_library_cleanup();
	printf("%u names, %u failed, %u polls, by %s\n", count, r.failed,
	       r.polls, sennit_io_backend());
	return err || r.failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	char             *nobody[] = { "localhost" };
	const char       *servers = NULL;
	int               option, err, timeout = 2000;
	sennit_scheduler *s;

	while ((option = getopt(argc, argv, "s:t:")) != -1)
		if (option == 's')
			servers = optarg;
		else if (option == 't')
			timeout = atoi(optarg);
		else
			return 2;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	if (optind < argc)
		err = resolve_all(servers, timeout, argv + optind,
				  (unsigned)(argc - optind));
	else
		err = resolve_all(servers, timeout, nobody, 1);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || err ? 1 : 0;
}
