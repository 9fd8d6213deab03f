/* SPDX-License-Identifier: Apache-2.0 */
/* tls_echo.c - an echo server over TLS, and a client of it: tls_stream.h.
 *
 *	tls_echo both CERTIFICATE KEY              both ends, all ways
 *	tls_echo serve WAY CERTIFICATE KEY COUNT   as many connections
 *	tls_echo ask WAY PORT CERTIFICATE [ROUNDS] one connection
 *
 * WAY is fd or memory. The certificate is for the name localhost; the client
 * trusts no other.
 */
#include "tls_stream.h"

#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_PATIENCE  (30 * SENNIT_SECOND)
#define CLOSE_PATIENCE (30 * SENNIT_SECOND)
#define CLIENTS        16

/* --- the server --------------------------------------------------------- */

struct server {
	SSL_CTX     *context;
	enum tls_way way;
	int          listener;
	int          count;    /* of connections, then it ends */
	uint64_t     patience; /* with a handshake */
	atomic_int   closed, cut_off, timed_out, refused;
};

struct connection {
	struct server *server;
	int            fd;
};

static int echo(struct tls_stream *t, uint64_t patience)
{
	char      bytes[16384]; /* a record */
	ptrdiff_t n;
	int       err = tls_handshake(t, sennit_after(patience));

	if (err)
		return err;
	while ((n = tls_read(t, bytes, sizeof(bytes),
			     sennit_after(IDLE_PATIENCE))) > 0) {
		err = tls_write(t, bytes, (size_t)n,
				sennit_after(IDLE_PATIENCE));
		if (err)
			return err;
	}
	return n < 0 ? (int)n : tls_close(t, sennit_after(CLOSE_PATIENCE));
}

/* An error of one connection is no error of the server. */
static int serve(void *argument)
{
	const struct connection *c = argument;
	struct server           *s = c->server;
	struct tls_stream        t;
	int err = tls_open(&t, s->context, c->fd, s->way, NULL);

	if (!err) {
		err = echo(&t, s->patience);
		tls_free(&t);
	}
	sennit_close(c->fd);
	atomic_fetch_add(!err ? &s->closed
			 : err == -ECONNABORTED || err == -ECONNRESET
				 ? &s->cut_off
			 : err == -ETIMEDOUT ? &s->timed_out
					     : &s->refused,
			 1);
	return 0;
}

static int accept_all(void *argument)
{
	struct server    *s = argument;
	struct connection c = { .server = s };
	sennit_group      served;
	int               err = 0;

	sennit_group_init(&served, SENNIT_NEVER, 0);
	for (int i = 0; i < s->count && !err; i++) {
		c.fd = sennit_accept(s->listener, NULL, NULL,
				     SOCK_CLOEXEC | SOCK_NONBLOCK,
				     SENNIT_NEVER);
		if (c.fd < 0)
			err = c.fd;
		else if (sennit_group_spawn_copy(&served, serve, &c, sizeof(c)))
			sennit_close(c.fd);
	}
	sennit_group_wait(&served);
	return err;
}

/* --- the client --------------------------------------------------------- */

struct client {
	SSL_CTX     *context;
	enum tls_way way;
	int          port, rounds;
	bool         close; /* with a close_notify, as is right */
};

static int exchange(struct tls_stream *t, int round)
{
	char   text[4000], back[sizeof(text)];
	size_t size = (size_t)(round * 997 % (int)sizeof(text)) + 1;
	size_t have = 0;
	int    err;

	memset(text, 'a' + round % 16, size); /* no Q, which s_server obeys */
	text[size - 1] = '\n';
	err = tls_write(t, text, size, sennit_after(IDLE_PATIENCE));
	while (!err && have < size) {
		ptrdiff_t n = tls_read(t, back + have, size - have,
				       sennit_after(IDLE_PATIENCE));

		err = n > 0 ? 0 : n ? (int)n : -ECONNRESET;
		have += n > 0 ? (size_t)n : 0;
	}
	return err || !memcmp(text, back, size) ? err : -EBADMSG;
}

static int connect_to(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -errno;
	err = sennit_connect(fd, (struct sockaddr *)&to, sizeof(to),
			     sennit_after(IDLE_PATIENCE));
	if (err)
		sennit_close(fd);
	return err ? err : fd;
}

static int ask(void *argument)
{
	const struct client *c = argument;
	struct tls_stream    t;
	int                  fd = connect_to(c->port);
	int                  err;

	if (fd < 0)
		return fd;
	err = tls_open(&t, c->context, fd, c->way, "localhost");
	if (!err) {
		err = tls_handshake(&t, sennit_after(IDLE_PATIENCE));
		for (int i = 0; i < c->rounds && !err; i++)
			err = exchange(&t, i);
		if (!err && c->close)
			err = tls_close(&t, sennit_after(CLOSE_PATIENCE));
		tls_free(&t);
	}
	sennit_close(fd);
	return err;
}

/* Connects, and waits in silence until the server has had enough. */
static int say_nothing(void *argument)
{
	const struct client *c = argument;
	int                  fd = connect_to(c->port);
	char                 byte;
	ptrdiff_t            n;

	if (fd < 0)
		return fd;
	n = sennit_recv(fd, &byte, 1, 0, sennit_after(IDLE_PATIENCE));
	sennit_close(fd);
	return n ? -EBADMSG : 0;
}

/* --- contexts and sockets ----------------------------------------------- */

static SSL_CTX *make_server_context(const char *certificate, const char *key)
{
	SSL_CTX *c = SSL_CTX_new(TLS_server_method());

	if (c && SSL_CTX_use_certificate_chain_file(c, certificate) == 1 &&
	    SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) == 1)
		return c;
	ERR_print_errors_fp(stderr);
	SSL_CTX_free(c);
	return NULL;
}

/* trusted: NULL to trust nobody. */
static SSL_CTX *make_client_context(const char *trusted)
{
	SSL_CTX *c = SSL_CTX_new(TLS_client_method());

	if (c)
		SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
	if (c &&
	    (!trusted || SSL_CTX_load_verify_locations(c, trusted, NULL) == 1))
		return c;
	ERR_print_errors_fp(stderr);
	SSL_CTX_free(c);
	return NULL;
}

/* Returns the port, or a negative errno. */
static int listen_somewhere(int *listener)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);
	int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) ||
	    listen(fd, 1024) || getsockname(fd, (struct sockaddr *)&a, &size))
		return -errno;
	*listener = fd;
	return ntohs(a.sin_port);
}

/* --- both ends ---------------------------------------------------------- */

/* Runs `count` clients against the server, which ends after so many. The first
 * error of a client is the result. */
static int run_both(struct server *s, sennit_member_fn *client,
		    struct client *c, int count)
{
	sennit_group servers, clients;
	int          err = 0, ended;

	s->count = count;
	c->port = listen_somewhere(&s->listener);
	if (c->port < 0)
		return c->port;
	sennit_group_init(&servers, SENNIT_NEVER, 0);
	sennit_group_init(&clients, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	err = sennit_group_spawn(&servers, accept_all, s);
	for (int i = 0; i < count && !err; i++)
		err = sennit_group_spawn(&clients, client, c);
	ended = sennit_group_wait(&clients);
	if (err)
		sennit_group_cancel(&servers);
	sennit_group_wait(&servers);
	sennit_close(s->listener);
	return err ? err : ended;
}

static int print_ends(struct server *s)
{
	printf("%d closed, %d cut off, %d timed out, %d refused\n", s->closed,
	       s->cut_off, s->timed_out, s->refused);
	return s->closed + s->cut_off + s->timed_out + s->refused == s->count
		       ? 0
		       : -EBADMSG;
}

static int test_way(SSL_CTX *server, SSL_CTX *client, SSL_CTX *stranger,
		    enum tls_way server_way, enum tls_way client_way)
{
	struct server s = { .context = server,
			    .way = server_way,
			    .patience = IDLE_PATIENCE };
	struct client c = { .context = client,
			    .way = client_way,
			    .rounds = 20,
			    .close = true };
	int           err = run_both(&s, ask, &c, CLIENTS);

	if (err || s.closed != CLIENTS)
		return err ? err : -EBADMSG;
	c.close = false;
	err = run_both(&s, ask, &c, 1);
	if (err || s.cut_off != 1)
		return err ? err : -EBADMSG;
	s.patience = 50 * SENNIT_MILLISECOND;
	err = run_both(&s, say_nothing, &c, 1);
	if (err || s.timed_out != 1)
		return err ? err : -EBADMSG;
	s.patience = IDLE_PATIENCE;
	c.context = stranger;
	err = run_both(&s, ask, &c, 1);
	s.count = CLIENTS + 3;
	return err == -EPROTO && s.refused == 1 ? print_ends(&s) : -EBADMSG;
}

static int both(char **argv)
{
	SSL_CTX *server = make_server_context(argv[2], argv[3]);
	SSL_CTX *client = make_client_context(argv[2]);
	SSL_CTX *stranger = make_client_context(NULL);
	int      err = server && client && stranger ? 0 : -EINVAL;

	for (int i = 0; i < 4 && !err; i++)
		err = test_way(server, client, stranger,
			       i & 1 ? TLS_MEMORY : TLS_FD,
			       i & 2 ? TLS_MEMORY : TLS_FD);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
	SSL_CTX_free(stranger);
	return err;
}

/* --- one end ------------------------------------------------------------ */

static enum tls_way way_of(const char *name)
{
	return strcmp(name, "memory") ? TLS_FD : TLS_MEMORY;
}

static int serve_some(char **argv)
{
	struct server s = { .context = make_server_context(argv[3], argv[4]),
			    .way = way_of(argv[2]),
			    .patience = IDLE_PATIENCE,
			    .count = atoi(argv[5]) };
	int           port, err;

	if (!s.context)
		return -EINVAL;
	port = listen_somewhere(&s.listener);
	err = port < 0 ? port : 0;
	if (!err) {
		printf("port %d\n", port);
		fflush(stdout);
		err = accept_all(&s);
		sennit_close(s.listener);
	}
	err = err ? err : print_ends(&s);
	SSL_CTX_free(s.context);
	return err;
}

static int ask_one(int argc, char **argv)
{
	struct client c = { .context = make_client_context(argv[4]),
			    .way = way_of(argv[2]),
			    .port = atoi(argv[3]),
			    .rounds = argc > 5 ? atoi(argv[5]) : 20,
			    .close = true };
	int           err = c.context ? ask(&c) : -EINVAL;

	SSL_CTX_free(c.context);
	return err;
}

static int run(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "both"))
		return both(argv);
	if (argc == 6 && !strcmp(argv[1], "serve"))
		return serve_some(argv);
	if (argc >= 5 && !strcmp(argv[1], "ask"))
		return ask_one(argc, argv);
	fputs("tls_echo both CERTIFICATE KEY\n"
	      "tls_echo serve fd|memory CERTIFICATE KEY COUNT\n"
	      "tls_echo ask fd|memory PORT CERTIFICATE [ROUNDS]\n",
	      stderr);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	signal(SIGPIPE, SIG_IGN); /* with TLS_FD libssl writes by write() */
	if (sennit_scheduler_create(&s, NULL) || sennit_bind(s))
		return 1;
	err = run(argc, argv);
	if (err)
		fprintf(stderr, "tls_echo: %s\n", sennit_strerror(err));
	sennit_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}
