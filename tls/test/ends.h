/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h - the two ends of a connection, a server's and a client's, and their
 * certificates.
 */
#ifndef SN_TEST_ENDS_H
#define SN_TEST_ENDS_H

#include "../../io/test/operations.h"
#include "certificates.h"

#include "sennit/tls.h"
#include "sennit/tls_openssl.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#define LONG_ENOUGH in_ms(200000)

/* An issuer and a server certificate that it has signed; contexts of a server,
 * and of a client that trusts the issuer. */
static struct identity     issuer, own;
static sennit_tls_context *server_context, *client_context;

static inline sennit_tls_context *make_context(const sennit_tls_config *c)
{
	char                text[256] = "";
	sennit_tls_context *made;
	int                 err;

	err = sennit_tls_context_create(&made, c, text, sizeof(text));
	if (err) {
		fprintf(stderr, "context: %d, %s\n", err, text);
		abort();
	}
	return made;
}

static inline int make_contexts(void)
{
	issuer = make_identity((struct wish){ .names = NULL });
	own = make_identity((struct wish){
		.names = "DNS:localhost,IP:127.0.0.1", .issuer = &issuer });
	server_context = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
				  .key_text = own.key));
	client_context = make_context(
		SENNIT_TLS_CONFIG(.trusted_text = issuer.certificate));
	return 0;
}

static inline int drop_contexts(int failures)
{
	sennit_tls_context_destroy(server_context);
	sennit_tls_context_destroy(client_context);
	drop_identity(&issuer);
	drop_identity(&own);
	return failures;
}

#define USES_CONTEXTS              \
	BEFORE_ALL(make_contexts); \
	AFTER_ALL(drop_contexts)

struct ends {
	int         fds[2];
	sennit_tls *server, *client;
	const char *host;
	int         accepted, connected; /* the results */
};

/* With the given contexts; NULL: those of the test. */
static inline void open_ends(struct ends *e, sennit_tls_context *server,
			     sennit_tls_context *client)
{
	*e = (struct ends){ .host = "localhost" };
	open_sockets(e->fds);
	EXPECT(!sennit_tls_create(&e->server, server ? server : server_context,
				  e->fds[0]));
	EXPECT(!sennit_tls_create(&e->client, client ? client : client_context,
				  e->fds[1]));
}

static inline void close_ends(struct ends *e)
{
	sennit_tls_destroy(e->server);
	sennit_tls_destroy(e->client);
	sennit_close(e->fds[0]);
	sennit_close(e->fds[1]);
}

static inline int accept_end(void *ends)
{
	struct ends *e = ends;

	e->accepted = sennit_tls_accept(e->server, LONG_ENOUGH);
	if (e->accepted)
		sennit_shutdown(e->fds[0], SHUT_RDWR);
	return 0;
}

static inline int connect_end(void *ends)
{
	struct ends *e = ends;

	e->connected = sennit_tls_connect(e->client, e->host, LONG_ENOUGH);
	if (e->connected)
		sennit_shutdown(e->fds[1], SHUT_RDWR);
	return 0;
}

static inline void *accept_as_thread(void *ends)
{
	accept_end(ends);
	return NULL;
}

/* For both a fiber and an unbound thread, which has no group. */
static inline void shake_hands(struct ends *e)
{
	sennit_group g;
	pthread_t    t;

	if (sennit_fiber_current()) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		EXPECT(!sennit_group_spawn(&g, accept_end, e));
		EXPECT(!sennit_group_spawn(&g, connect_end, e));
		EXPECT(!sennit_group_wait(&g));
	} else {
		t = must_start_thread(accept_as_thread, e);
		connect_end(e);
		pthread_join(t, NULL);
	}
}

static inline void open_shaken(struct ends *e)
{
	open_ends(e, NULL, NULL);
	shake_hands(e);
	EXPECT(e->accepted == 0);
	EXPECT(e->connected == 0);
}

/* Read exactly `size` bytes. Returns whether they arrived. */
static inline bool read_exactly(sennit_tls *t, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ptrdiff_t n = sennit_tls_read(t, (char *)to + done, size - done,
					      LONG_ENOUGH);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

#endif
