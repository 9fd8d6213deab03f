/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - an echo server over TLS, and a client of it.
 *
 *	tls serve CERTIFICATE KEY COUNT [PROTOCOLS]   as many connections
 *	tls ask PORT TRUSTED [ROUNDS]                 one connection
 *	tls silent PORT                               one that says nothing
 *
 * The client wants a server of the name localhost. The server waits two seconds
 * for handshakes, reads its certificate again at SIGHUP, and ends when it has
 * served COUNT connections.
 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>
#include <sennit/reader.h>
#include <sennit/signals.h>
#include <sennit/tls.h>

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDSHAKE_PATIENCE (2 * SENNIT_SECOND)
#define PATIENCE           (30 * SENNIT_SECOND)

/* --- the server ----------------------------------------------------------- */

struct server {
	sennit_tls_context *context;
	sennit_tls_config   config;
	atomic_int          closed, cut_off, timed_out, refused;
};

struct connection {
	struct server *server;
	int            fd;
};

/* What is there. Returns 0 at the end. */
static ptrdiff_t echo_record(sennit_tls *tls)
{
	char      bytes[16384]; /* a record */
	ptrdiff_t n = sennit_tls_read(tls, bytes, sizeof(bytes), 0);
	int err = n > 0 ? sennit_tls_write_all(tls, bytes, (size_t)n, NULL,
					       sennit_after(PATIENCE))
			: 0;

	return err ? err : n;
}

/* No stack is touched for a record before one comes. */
static int echo(sennit_tls *tls)
{
	ptrdiff_t n = 1;
	int err = sennit_tls_accept(tls, sennit_after(HANDSHAKE_PATIENCE));

	while (!err && n > 0) {
		err = sennit_tls_wait_readable(tls, sennit_after(PATIENCE));
		if (!err)
			n = echo_record(tls);
	}
	if (err || n < 0)
		return err ? err : (int)n;
	return sennit_tls_shutdown(tls, sennit_after(PATIENCE));
}

static void count(struct server *s, int err, const char *why)
{
	if (why)
		printf("%s\n", why);
	atomic_fetch_add(!err                   ? &s->closed
			 : err == -ECONNABORTED ? &s->cut_off
			 : err == -ETIMEDOUT    ? &s->timed_out
						: &s->refused,
			 1);
}

/* An error of one connection is no error of the server. */
static int serve(void *argument)
{
	const struct connection *c = argument;
	sennit_tls              *tls = NULL;
	int err = sennit_tls_create(&tls, c->server->context, c->fd);

	if (!err)
		err = echo(tls);
	count(c->server, err, tls ? sennit_tls_error(tls) : NULL);
	sennit_tls_destroy(tls);
	sennit_close(c->fd);
	return 0;
}

static int accept_some(struct server *s, int listener, int connections)
{
	struct connection c = { .server = s };
	sennit_group      served;
	int               err = 0;

	sennit_group_init(&served, SENNIT_NEVER, 0);
	for (int i = 0; i < connections && !err; i++) {
		c.fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				     SENNIT_NEVER);
		if (c.fd < 0)
			err = c.fd;
		else if (sennit_group_spawn_copy(&served, serve, &c, sizeof(c)))
			sennit_close(c.fd);
	}
	sennit_group_wait(&served);
	return err;
}

/* Returns a listener, on a port that it prints. */
static int listen_somewhere(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);
	int                fd;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = sennit_listen((struct sockaddr *)&a, size, 0, 0);
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&a, &size))
		return fd;
	printf("port %d\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

/* Makes a context, or says why not. */
static int open_context(sennit_tls_context     **out,
			const sennit_tls_config *config)
{
	char text[256];
	int  err = sennit_tls_context_create(out, config, text, sizeof(text));

	if (err)
		fprintf(stderr, "tls: %s\n", text);
	return err;
}

static void only_hangup(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGHUP);
}

/* A certificate that cannot be read leaves the old one in use. */
static int renew(void *argument)
{
	struct server  *s = argument;
	sennit_signals *signals;
	sigset_t        hangup;
	char            text[256];
	int             err;

	only_hangup(&hangup);
	err = sennit_signals_open(&signals, &hangup);
	if (err)
		return err;
	while (sennit_signals_wait(signals, NULL, SENNIT_NEVER) > 0) {
		err = sennit_tls_context_reload(s->context, &s->config, text,
						sizeof(text));
		printf("%s\n", err ? text : "renewed");
		fflush(stdout);
	}
	sennit_signals_close(signals);
	return 0;
}

static int serve_until(struct server *s, int listener, int connections)
{
	sennit_group renewer;
	int          err;

	sennit_group_init(&renewer, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&renewer, renew, s);
	if (!err)
		err = accept_some(s, listener, connections);
	sennit_group_cancel(&renewer);
	(void)sennit_group_wait(&renewer);
	return err;
}

static int serve_some(char **argv)
{
	struct server s = { .config = { .size = sizeof(s.config),
					.certificate = argv[2],
					.key = argv[3],
					.protocols = argv[5] } };
	int           err = open_context(&s.context, &s.config);
	int           listener;

	if (err)
		return err;
	listener = listen_somewhere();
	if (listener >= 0) {
		err = serve_until(&s, listener, atoi(argv[4]));
		sennit_close(listener);
		printf("%d closed, %d cut off, %d timed out, %d refused\n",
		       s.closed, s.cut_off, s.timed_out, s.refused);
	}
	sennit_tls_context_destroy(s.context);
	return listener < 0 ? listener : err;
}

/* --- the client ----------------------------------------------------------- */

static int connect_to(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port) };
	int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int                err;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -errno;
	err = sennit_connect(fd, (struct sockaddr *)&to, sizeof(to),
			     sennit_after(PATIENCE));
	if (err)
		sennit_close(fd);
	return err ? err : fd;
}

static int exchange(sennit_tls *tls, sennit_reader *reader, int round)
{
	char      text[4000], *line;
	size_t    size = (size_t)(round * 997 % (int)sizeof(text)) + 1;
	ptrdiff_t n;
	int       err;

	memset(text, 'a' + round % 16, size); /* no Q, which s_server obeys */
	text[size - 1] = '\n';
	err = sennit_tls_write_all(tls, text, size, NULL,
				   sennit_after(PATIENCE));
	if (err)
		return err;
	n = sennit_reader_read_line(reader, &line, sennit_after(PATIENCE));
	if (n < 0)
		return (int)n;
	return (size_t)n == size - 1 && !memcmp(text, line, size - 1)
		       ? 0
		       : -EBADMSG;
}

/* Until the server says something more. Other cases may stand beside this one:
 * events, channels, other connections. */
static int await_server(sennit_tls *tls)
{
	sennit_case cases[] = { sennit_case_tls(tls) };
	size_t      which;

	return sennit_select_until(cases, 1, &which, sennit_after(PATIENCE));
}

static int ask(sennit_tls *tls, int rounds)
{
	sennit_reader reader;
	char          byte;
	int err = sennit_tls_connect(tls, "localhost", sennit_after(PATIENCE));

	sennit_reader_init_tls(&reader, tls, NULL, 4096);
	for (int i = 0; i < rounds && !err; i++)
		err = exchange(tls, &reader, i);
	if (!err)
		err = sennit_tls_shutdown(tls, sennit_after(PATIENCE));
	if (!err)
		err = await_server(tls);
	if (!err) /* the server has had everything when it ends, too */
		err = (int)sennit_reader_read(&reader, &byte, 1,
					      sennit_after(PATIENCE));
	sennit_reader_destroy(&reader);
	return err;
}

static int ask_one(char **argv)
{
	sennit_tls_context *context;
	sennit_tls         *tls = NULL;
	int                 fd, err;

	err = open_context(&context, SENNIT_TLS_CONFIG(.trusted = argv[3]));
	if (err)
		return err;
	fd = connect_to(atoi(argv[2]));
	err = fd < 0 ? fd : sennit_tls_create(&tls, context, fd);
	if (!err)
		err = ask(tls, argv[4] ? atoi(argv[4]) : 20);
	if (tls && sennit_tls_error(tls))
		fprintf(stderr, "tls: %s\n", sennit_tls_error(tls));
	sennit_tls_destroy(tls);
	if (fd >= 0)
		sennit_close(fd);
	sennit_tls_context_destroy(context);
	return err;
}

/* Until the server has had enough. */
static int say_nothing(char **argv)
{
	int       fd = connect_to(atoi(argv[2]));
	char      byte;
	ptrdiff_t n;

	if (fd < 0)
		return fd;
	n = sennit_recv(fd, &byte, 1, 0, sennit_after(PATIENCE));
	sennit_close(fd);
	return (int)n;
}

static int run(int argc, char **argv)
{
	if (argc >= 5 && !strcmp(argv[1], "serve"))
		return serve_some(argv);
	if (argc >= 4 && !strcmp(argv[1], "ask"))
		return ask_one(argv);
	if (argc == 3 && !strcmp(argv[1], "silent"))
		return say_nothing(argv);
	fputs("tls serve CERTIFICATE KEY COUNT [PROTOCOLS]\n"
	      "tls ask PORT TRUSTED [ROUNDS]\n"
	      "tls silent PORT\n",
	      stderr);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	sigset_t          hangup;
	int               err;

	only_hangup(&hangup); /* threads inherit it */
	pthread_sigmask(SIG_BLOCK, &hangup, NULL);
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run(argc, argv);
	if (err)
		fprintf(stderr, "tls: %s\n", sennit_strerror(err));
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}
