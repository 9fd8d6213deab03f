/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - a server and a client that talk by TLS 1.3. */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/tls.h>
#include <sennit/tls_openssl.h>

#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/socket.h>

struct end {
	sennit_tls_context *context;
	int                 fd; /* a connection: of sennit_accept(), ... */
};

/* Answer each line with what TLS knows of the peer. */
static int answer(sennit_tls *tls)
{
	char        line[100], text[200];
	sennit_time deadline = sennit_after(10 * SENNIT_SECOND);
	int         err = sennit_tls_accept(tls, deadline);
	ptrdiff_t   n = 0;

	while (!err &&
	       (n = sennit_tls_read(tls, line, sizeof(line),
				    sennit_after(60 * SENNIT_SECOND))) > 0) {
		int size = snprintf(text, sizeof(text), "%.*s over %s, %s",
				    (int)n, line,
				    SSL_get_version(sennit_tls_openssl(tls)),
				    sennit_tls_alpn(tls));

		err = sennit_tls_write_all(tls, text, (size_t)size, NULL,
					   sennit_after(60 * SENNIT_SECOND));
	}
	return err ? err : (int)n;
}

static int serve(void *argument)
{
	const struct end *e = argument;
	sennit_tls       *tls;
	int               err = sennit_tls_create(&tls, e->context, e->fd);

	if (err)
		return err;
	err = answer(tls);
	if (!err)
		err = sennit_tls_shutdown(tls, sennit_after(SENNIT_SECOND));
	sennit_tls_destroy(tls);
	return err;
}

/* Ask the server, whose certificate must be for `host`. */
static int ask(const struct end *e, const char *host)
{
	char        text[200];
	sennit_time deadline = sennit_after(60 * SENNIT_SECOND);
	sennit_tls *tls;
	ptrdiff_t   n;
	int         err = sennit_tls_create(&tls, e->context, e->fd);

	if (err)
		return err;
	err = sennit_tls_connect(tls, host, deadline);
	n = err ? err : sennit_tls_write(tls, "hello", 5, deadline);
	if (n > 0)
		n = sennit_tls_read(tls, text, sizeof(text), deadline);
	if (n > 0)
		printf("%.*s\n", (int)n, text);
	else if (sennit_tls_error(tls))
		printf("%s: %s\n", host, sennit_tls_error(tls));
	err = n > 0 ? sennit_tls_shutdown(tls, deadline) : (int)n;
	sennit_tls_destroy(tls);
	return err;
}

/* Both ends, for one conversation. Returns how it went for the client. */
static int converse(sennit_tls_context *server, sennit_tls_context *client,
		    const char *host)
{
	sennit_group g;
	struct end theirs = { .context = server }, ours = { .context = client };
	int        fds[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -1;
	theirs.fd = fds[0];
	ours.fd = fds[1];
	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&g, serve, &theirs);
	if (!err)
		err = ask(&ours, host);
	sennit_close(fds[1]);
	(void)sennit_group_wait(&g);
	sennit_close(fds[0]);
	return err;
}

/* Returns 0 if it went as it should. */
static int run(sennit_tls_context *server, sennit_tls_context *client)
{
	SSL_CTX_set_min_proto_version(sennit_tls_context_openssl(server),
				      TLS1_3_VERSION);
	return converse(server, client, "localhost") ||
	       !converse(server, client, "example.org");
}

int main(void)
{
	char                why[200];
	sennit_tls_context *server = NULL, *client = NULL;
	sennit_scheduler   *s;
	int                 failed;

	if (sennit_tls_context_create(
		    &server,
		    SENNIT_TLS_CONFIG(.certificate = "cert.pem",
				      .key = "key.pem", .protocols = "hello/1"),
		    why, sizeof(why)) ||
	    sennit_tls_context_create(&client,
				      SENNIT_TLS_CONFIG(.trusted = "cert.pem",
							.protocols = "hello/1"),
				      why, sizeof(why))) {
		fprintf(stderr, "tls: %s\n", why);
		return 1;
	}
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	failed = run(server, client);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	sennit_tls_context_destroy(server);
	sennit_tls_context_destroy(client);
	return failed;
}
