/* SPDX-License-Identifier: Apache-2.0 */
/* secure.c - a server and a client with TLS, and peers that break it. */
#include "peers.h"

#ifdef SENNIT_HTTP_TLS

#include "../../tls/test/ends.h"

struct secure {
	int          listener;
	char         url[SENNIT_ADDRESS_TEXT + 16];
	sennit_group acceptors, connections;
};

static sennit_event stop;

static void serve_secure(void *secure, int fd)
{
	(void)sennit_http_serve(
		fd, SENNIT_HTTP_CONFIG(.tls = server_context, .stop = &stop),
		answer_by_target, secure);
}

static void open_secure(struct secure *s)
{
	char address[SENNIT_ADDRESS_TEXT];

	s->listener = sennit_listen_at("127.0.0.1:0", 0, LONG_ENOUGH);
	must(s->listener >= 0, "listen");
	EXPECT(!sennit_local_address(s->listener, address, sizeof(address)));
	snprintf(s->url, sizeof(s->url), "https://%s", address);
	sennit_event_init(&stop, SENNIT_EVENT_MANUAL);
	sennit_group_init(&s->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&s->connections, SENNIT_NEVER, 0);
	EXPECT(!sennit_listen_each(s->listener, &s->acceptors, &s->connections,
				   serve_secure, s));
}

/* It does not wait for clients that keep their connections. */
static void close_secure(struct secure *s)
{
	sennit_event_set(&stop);
	sennit_group_cancel(&s->acceptors);
	(void)!sennit_group_wait(&s->acceptors);
	EXPECT(!sennit_group_wait(&s->connections));
	sennit_close(s->listener);
}

static size_t get_secure(sennit_http *h, const char *target)
{
	const sennit_http_head *answer;
	sennit_http_text        part;
	size_t                  size = 0;
	ptrdiff_t               n;

	EXPECT(!sennit_http_ask(h, "GET", target, NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
	EXPECT(answer->status == 200);
	while ((n = sennit_http_read(h, &part, LONG_ENOUGH)) > 0)
		size += part.size;
	EXPECT(n == 0);
	return size;
}

static void ask_securely(void *argument)
{
	struct secure s;
	sennit_http  *h = NULL;

	(void)argument;
	open_secure(&s);
	/* An issuer that is not trusted, and one that is. */
	EXPECT(sennit_http_connect(&h, s.url, NULL, LONG_ENOUGH) ==
	       -EKEYREJECTED);
	EXPECT(!h);
	EXPECT(!sennit_http_connect(&h, s.url,
				    SENNIT_HTTP_CONFIG(.tls = client_context),
				    LONG_ENOUGH));
	for (int i = 0; i < 3; i++) {
		EXPECT(get_secure(h, "/hello") == 6);
		EXPECT(get_secure(h, "/chunks") == PARTS_SIZE);
	}
	EXPECT(get_secure(h, "/last") == 4);
	EXPECT(get_secure(h, "/hello") == 6);
	close_secure(&s);
	sennit_http_destroy(h);
}

TEST_WITH_THREADS(a_client_asks_by_tls)
{
	(void)w;
	in_a_task(ask_securely, NULL);
}

/* A server that gets no handshake ends within `wait`. */
static void speak_plainly(void *argument)
{
	static struct text t;

	(void)argument;
	(void)talk(SENNIT_HTTP_CONFIG(.tls = server_context),
		   "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27, 0, &t);
	EXPECT(!strstr(t.bytes, "HTTP/1.1 "));
}

static void do_not_speak(void *argument)
{
	static struct text t;
	struct served      s;

	(void)argument;
	begin_serving(&s, SENNIT_HTTP_CONFIG(.tls = server_context,
					     .wait = 20 * SENNIT_MILLISECOND));
	hear_all(s.fds[1], &t);
	end_serving(&s);
	EXPECT(s.result == -ETIMEDOUT);
}

TEST_WITH_ONE(a_client_without_a_handshake_is_disconnected)
{
	(void)w;
	in_a_task(speak_plainly, NULL);
	in_a_task(do_not_speak, NULL);
}

USES_CONTEXTS;
USES_BACKEND;

#else

SKIP_ALL("no libsennit-tls");

#endif
