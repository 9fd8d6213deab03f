/* SPDX-License-Identifier: Apache-2.0 */
/* asked.c - a client, with the own server and with servers that send any bytes.
 */
#include "peers.h"

/* --- servers -------------------------------------------------------------- */

/* One that serves as the library does, on a port of its own. */
struct host {
	int          listener;
	char         url[SENNIT_ADDRESS_TEXT + 16];
	sennit_group acceptors, connections;
	atomic_uint  accepted;
};

static void serve_one(void *host, int fd)
{
	struct host *h = host;

	atomic_fetch_add(&h->accepted, 1);
	(void)sennit_http_serve(fd, NULL, answer_by_target, h);
}

static void listen_at_any(struct host *h)
{
	char address[SENNIT_ADDRESS_TEXT];

	*h = (struct host){ .listener = sennit_listen_at("127.0.0.1:0", 0,
							 LONG_ENOUGH) };
	must(h->listener >= 0, "listen");
	EXPECT(!sennit_local_address(h->listener, address, sizeof(address)));
	snprintf(h->url, sizeof(h->url), "http://%s/ignored", address);
	sennit_group_init(&h->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&h->connections, SENNIT_NEVER, 0);
}

static void open_host(struct host *h)
{
	listen_at_any(h);
	EXPECT(!sennit_listen_each(h->listener, &h->acceptors, &h->connections,
				   serve_one, h));
}

static void close_host(struct host *h)
{
	sennit_group_cancel(&h->acceptors);
	(void)!sennit_group_wait(&h->acceptors);
	sennit_group_cancel(&h->connections);
	(void)!sennit_group_wait(&h->connections);
	sennit_close(h->listener);
}

/* --- asking --------------------------------------------------------------- */

/* Read the whole body. Returns its size or an error. */
static ptrdiff_t take_body(sennit_http *h, struct text *t)
{
	sennit_http_text part;
	ptrdiff_t        n;

	for (t->size = 0; (n = sennit_http_read(h, &part, LONG_ENOUGH)) > 0;) {
		memcpy(t->bytes + t->size, part.at, part.size);
		t->size += part.size;
	}
	t->bytes[t->size] = '\0';
	return n ? n : (ptrdiff_t)t->size;
}

static uint32_t get(sennit_http *h, const char *method, const char *target,
		    const char *body, struct text *t)
{
	const sennit_http_head *answer;

	EXPECT(!sennit_http_ask(h, method, target, body,
				body ? strlen(body) : 0, LONG_ENOUGH));
	if (sennit_http_next(h, &answer, LONG_ENOUGH) != 1)
		return 0;
	EXPECT(take_body(h, t) >= 0);
	return answer->status;
}

static void ask_own(void *argument)
{
	static struct text t;
	struct host        host;
	sennit_http       *h = NULL;

	(void)argument;
	open_host(&host);
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	for (int i = 0; i < 3; i++) {
		EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
		EXPECT(!strcmp(t.bytes, "hello\n"));
		EXPECT(get(h, "POST", "/echo", "to and fro", &t) == 200);
		EXPECT(!strcmp(t.bytes, "to and fro"));
		EXPECT(get(h, "GET", "/chunks", NULL, &t) == 200);
		EXPECT(t.size == PARTS_SIZE);
		EXPECT(!strcmp(t.bytes + PARTS_SIZE - 6, "x last"));
		EXPECT(get(h, "HEAD", "/parts", NULL, &t) == 200);
		EXPECT(t.size == 0);
		EXPECT(get(h, "DELETE", "/nothing", NULL, &t) == 404);
	}
	EXPECT(atomic_load(&host.accepted) == 1);
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(a_client_asks_again_and_again)
{
	(void)w;
	in_a_task(ask_own, NULL);
}

static void send_in_chunks(void *argument)
{
	static struct text      t;
	struct host             host;
	sennit_http            *h = NULL;
	const sennit_http_head *answer = NULL;
	char                    long_part[5000];

	(void)argument;
	memset(long_part, 'y', sizeof(long_part));
	open_host(&host);
	EXPECT(!sennit_http_connect(
		&h, host.url, SENNIT_HTTP_CONFIG(.name = "test"), LONG_ENOUGH));
	for (int i = 0; i < 2; i++) {
		const uint64_t length = i ? 5003 : SENNIT_HTTP_UNKNOWN;

		EXPECT(!sennit_http_add_field(h, "X", "y"));
		EXPECT(!sennit_http_ask(h, "POST", "/echo", NULL, length,
					LONG_ENOUGH));
		EXPECT(!sennit_http_write(h, "abc", 3, LONG_ENOUGH));
		EXPECT(!sennit_http_write(h, "", 0, LONG_ENOUGH));
		EXPECT(!sennit_http_write(h, long_part, sizeof(long_part),
					  LONG_ENOUGH));
		EXPECT(!sennit_http_end(h, LONG_ENOUGH));
		EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
		EXPECT(answer->status == 200 && answer->length == 5003);
		EXPECT(sennit_http_text_is(
			sennit_http_find(answer, "CONTENT-length"), "5003"));
		EXPECT(!sennit_http_find(answer, "Server").at);
		EXPECT(take_body(h, &t) == 5003);
		EXPECT(!memcmp(t.bytes, "abcyyy", 6));
	}
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(a_request_has_a_body_in_parts)
{
	(void)w;
	in_a_task(send_in_chunks, NULL);
}

/* What is left of an answer is dropped; a server that ended the connection is
 * connected again. */
static void ask_after_the_end(void *argument)
{
	static struct text      t;
	struct host             host;
	sennit_http            *h = NULL;
	const sennit_http_head *answer;

	(void)argument;
	open_host(&host);
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/chunks", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	EXPECT(atomic_load(&host.accepted) == 1);
	EXPECT(get(h, "GET", "/last", NULL, &t) == 200);
	EXPECT(!strcmp(t.bytes, "bye\n"));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 0);
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	EXPECT(atomic_load(&host.accepted) == 2);
	EXPECT(!sennit_http_add_field(h, "Connection", "close"));
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	EXPECT(atomic_load(&host.accepted) == 3);
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(a_client_connects_again_when_the_server_has_ended)
{
	(void)w;
	in_a_task(ask_after_the_end, NULL);
}

/* The server refuses a body, and ends the connection while it is sent. */
static void send_too_much(void *argument)
{
	static struct text      t;
	static char             part[65536];
	struct host             host;
	sennit_http            *h = NULL;
	const sennit_http_head *answer = NULL;
	int                     err = 0;

	(void)argument;
	open_host(&host);
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "POST", "/echo", NULL, SENNIT_HTTP_UNKNOWN,
				LONG_ENOUGH));
	while (!err)
		err = sennit_http_write(h, part, sizeof(part), LONG_ENOUGH);
	EXPECT(err == -EPIPE || err == -ECONNRESET);
	EXPECT(sennit_http_end(h, LONG_ENOUGH) == err);
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
	EXPECT(answer && answer->status == 413);
	EXPECT(take_body(h, &t) == 0);
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == err);
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(an_early_answer_is_received)
{
	(void)w;
	in_a_task(send_too_much, NULL);
}

/* A request without an answer is given up with its connection: its answer is
 * not taken for that of the next one. */
static void ask_twice(void *argument)
{
	static struct text t;
	struct host        host;
	sennit_http       *h = NULL;

	(void)argument;
	open_host(&host);
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/nothing", NULL, 0, LONG_ENOUGH));
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	EXPECT(!strcmp(t.bytes, "hello\n"));
	EXPECT(atomic_load(&host.accepted) == 2);
	close_host(&host);
	EXPECT(sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH) ==
	       -ECONNREFUSED);
	EXPECT(sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH) ==
	       -ECONNREFUSED);
	sennit_http_destroy(h);
}

TEST_WITH_THREADS(a_request_without_an_answer_is_given_up)
{
	(void)w;
	in_a_task(ask_twice, NULL);
}

/* --- servers that send any bytes ------------------------------------------ */

struct teller {
	struct host host;
	const char *answer;
	size_t      piece;
};

/* Answer each request with the bytes, and end the connection. */
static int tell_all(void *teller)
{
	static _Thread_local struct text t;
	struct teller                   *c = teller;
	int                              fd;

	while ((fd = sennit_accept(c->host.listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER)) >= 0) {
		(void)hear_until(fd, &t, "\r\n\r\n");
		say(fd, c->answer, strlen(c->answer), c->piece);
		sennit_close(fd);
	}
	return 0;
}

static const struct {
	const char *what, *answer;
	int         result; /* of next */
	uint32_t    refused;
	ptrdiff_t   body; /* its size, or an error */
} answers[] = {
	{ "a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 1, 0,
	  2 },
	{ "up to the end", "HTTP/1.0 200 OK\r\n\r\nto the end", 1, 0, 10 },
	{ "chunks",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "1\r\na\r\n2\r\nbc\r\n0\r\nX: y\r\n\r\n",
	  1, 0, 3 },
	{ "no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 1, 0, 0 },
	{ "no content", "HTTP/1.1 204 None\r\n\r\n", 1, 0, 0 },
	{ "not modified", "HTTP/1.1 304 Same\r\nContent-Length: 100\r\n\r\n", 1,
	  0, 0 },
	{ "interim answers",
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\n"
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	  1, 0, 2 },
	{ "half a body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", 1, 0,
	  -ENODATA },
	{ "half a chunk",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", 1, 0,
	  -ENODATA },
	{ "no last chunk",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", 1,
	  0, -ENODATA },
	{ "a bad chunk",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokX", 1,
	  400, -EPROTO },
	{ "nothing", "", 0, 0, 0 },
	{ "half a head", "HTTP/1.1 200 OK\r\nConte", -ENODATA, 0, 0 },
	{ "an upgrade", "HTTP/1.1 101 Other\r\n\r\n", -EPROTO, 502, 0 },
	{ "two digits", "HTTP/1.1 20 OK\r\n\r\n", -EPROTO, 400, 0 },
	{ "four digits", "HTTP/1.1 2000 OK\r\n\r\n", -EPROTO, 400, 0 },
	{ "another version", "HTTP/2.0 200 OK\r\n\r\n", -EPROTO, 505, 0 },
	{ "two lengths",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
	  -EPROTO, 400, 0 },
	{ "length and chunks",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	  "Transfer-Encoding: chunked\r\n\r\nok",
	  -EPROTO, 400, 0 },
	{ "LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", -EPROTO, 400,
	  0 },
	{ "a folded field",
	  "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n", -EPROTO,
	  400, 0 },
	{ "other protocols", "SSH-2.0-OpenSSH_9.2\r\n", -ENODATA, 0, 0 },
};

static void hear_one(size_t i, const char *url)
{
	static struct text      t;
	sennit_http            *h = NULL;
	const sennit_http_head *answer = NULL;
	int                     result;

	EXPECT(!sennit_http_connect(&h, url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	result = sennit_http_next(h, &answer, LONG_ENOUGH);
	if (result != answers[i].result)
		fprintf(stderr, "%s: %d\n", answers[i].what, result);
	EXPECT(result == answers[i].result);
	if (answer)
		EXPECT(take_body(h, &t) == answers[i].body);
	if (sennit_http_refused(h, NULL) != answers[i].refused)
		fprintf(stderr, "%s: %u\n", answers[i].what,
			sennit_http_refused(h, NULL));
	EXPECT(sennit_http_refused(h, NULL) == answers[i].refused);
	sennit_http_destroy(h);
}

static void hear_answers(void *argument)
{
	struct teller c;

	(void)argument;
	listen_at_any(&c.host);
	EXPECT(!sennit_group_spawn(&c.host.acceptors, tell_all, &c));
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		c.answer = answers[i].answer;
		c.piece = 0;
		hear_one(i, c.host.url);
		c.piece = 1;
		hear_one(i, c.host.url);
	}
	close_host(&c.host);
}

TEST_WITH_ONE(wrong_answers_are_errors)
{
	(void)w;
	in_a_task(hear_answers, NULL);
}

static void hear_too_much(void *argument)
{
	static char             many[40000];
	struct teller           c;
	sennit_http            *h = NULL;
	const sennit_http_head *answer = NULL;
	sennit_http_text        part;
	char                   *at = many;

	(void)argument;
	listen_at_any(&c.host);
	for (int i = 0; i < 33; i++)
		at = stpcpy(at, "HTTP/1.1 100 Continue\r\n\r\n");
	c.answer = many;
	c.piece = 0;
	EXPECT(!sennit_group_spawn(&c.host.acceptors, tell_all, &c));
	EXPECT(!sennit_http_connect(&h, c.host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == -EPROTO);
	sennit_http_destroy(h);

	at = stpcpy(many, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 101; i++)
		at = stpcpy(at, "X: y\r\n");
	stpcpy(at, "\r\n");
	EXPECT(!sennit_http_connect(&h, c.host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == -EMSGSIZE);
	EXPECT(sennit_http_refused(h, NULL) == 431);
	sennit_http_destroy(h);

	c.answer = "HTTP/1.1 200 OK\r\n\r\nto the end";
	EXPECT(!sennit_http_connect(
		&h, c.host.url, SENNIT_HTTP_CONFIG(.body = 9), LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
	EXPECT(sennit_http_read(h, &part, LONG_ENOUGH) == -EMSGSIZE);
	sennit_http_destroy(h);
	close_host(&c.host);
}

TEST_WITH_ONE(an_answer_has_limits)
{
	(void)w;
	in_a_task(hear_too_much, NULL);
}

/* Each answer has its own limit. */
static void hear_interim_again(void *unused)
{
	static char             many[4000];
	struct teller           c;
	sennit_http            *h = NULL;
	const sennit_http_head *answer = NULL;
	char                   *at = many;

	(void)unused;
	listen_at_any(&c.host);
	for (int i = 0; i < 33; i++)
		at = stpcpy(at, "HTTP/1.1 100 Continue\r\n\r\n");
	c.answer = many;
	c.piece = 0;
	EXPECT(!sennit_group_spawn(&c.host.acceptors, tell_all, &c));
	EXPECT(!sennit_http_connect(&h, c.host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == -EPROTO);
	c.answer = "HTTP/1.1 100 Continue\r\n\r\n"
		   "HTTP/1.1 204 None\r\n\r\n";
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
	EXPECT(answer && answer->status == 204);
	sennit_http_destroy(h);
	close_host(&c.host);
}

TEST_WITH_ONE(each_answer_has_its_own_limit_of_interim_ones)
{
	(void)w;
	in_a_task(hear_interim_again, NULL);
}

/* --- over the caller's bytes ---------------------------------------------- */

struct tape {
	const char *bytes;
	size_t      size;
	int         broken; /* not 0: the error of sending */
};

static ptrdiff_t play(void *tape, void *to, size_t size, sennit_time deadline)
{
	struct tape *t = tape;
	const size_t n = t->size < size ? t->size : size;

	(void)deadline;
	memcpy(to, t->bytes, n);
	t->bytes += n;
	t->size -= n;
	return (ptrdiff_t)n;
}

static ptrdiff_t swallow(void *tape, const struct iovec *pieces, int count,
			 int flags, sennit_time deadline)
{
	const struct tape *t = tape;

	(void)count;
	(void)flags;
	(void)deadline;
	return t->broken ? t->broken : (ptrdiff_t)pieces->iov_len;
}

static sennit_http *use_tape(struct tape *t)
{
	const sennit_http_link link = { play, swallow, t };
	sennit_http           *h = NULL;

	must(!sennit_http_create(&h, &link, SENNIT_HTTP_CLIENT, NULL),
	     "sennit_http_create");
	return h;
}

static int ask_over_tape(sennit_http *h, uint64_t length)
{
	EXPECT(!sennit_http_add_field(h, "Host", "x"));
	return sennit_http_ask(h, "POST", "/", NULL, length, SENNIT_NEVER);
}

#define NONE "HTTP/1.1 204 None\r\n\r\n"

/* An answer to no request is not that of the next one. */
TEST_WITH_ONE(an_answer_ahead_is_not_taken_for_the_next_one)
{
	struct tape             t = { NONE, strlen(NONE), 0 };
	sennit_http            *h = use_tape(&t);
	const sennit_http_head *answer;

	(void)w;
	EXPECT(!ask_over_tape(h, 0));
	EXPECT(sennit_http_next(h, &answer, SENNIT_NEVER) == 1);
	t = (struct tape){ NONE NONE, 2 * strlen(NONE), 0 };
	EXPECT(!ask_over_tape(h, 0));
	EXPECT(sennit_http_next(h, &answer, SENNIT_NEVER) == 1);
	EXPECT(ask_over_tape(h, 0) == -ENOTCONN);
	sennit_http_destroy(h);
}

#define TOO_LARGE "HTTP/1.0 413 Too Large\r\n\r\n"

/* A server answers with a long body, and receives no more of the request. */
static void fail_to_send(uint64_t length, bool end)
{
	static char             bytes[40000];
	static struct text      got;
	struct tape             t = { bytes, sizeof(bytes), -EPIPE };
	sennit_http            *h = use_tape(&t);
	const sennit_http_head *answer = NULL;
	const size_t            head = strlen(TOO_LARGE);

	memcpy(bytes, TOO_LARGE, head);
	EXPECT(!ask_over_tape(h, length));
	EXPECT(!sennit_http_write(h, "some", 4, SENNIT_NEVER));
	EXPECT(sennit_http_flush(h, SENNIT_NEVER) == -EPIPE);
	if (end)
		EXPECT(sennit_http_end(h, SENNIT_NEVER) == -EPIPE);
	EXPECT(sennit_http_next(h, &answer, SENNIT_NEVER) == 1);
	EXPECT(answer && answer->status == 413);
	EXPECT(take_body(h, &got) == (ptrdiff_t)(sizeof(bytes) - head));
	EXPECT(ask_over_tape(h, 0) == -ENOTCONN);
	sennit_http_destroy(h);
}

TEST_WITH_ONE(an_early_answer_has_a_long_body)
{
	(void)w;
	fail_to_send(SENNIT_HTTP_UNKNOWN, true);
	fail_to_send(SENNIT_HTTP_UNKNOWN, false);
}

TEST_WITH_ONE(a_body_that_cannot_be_sent_needs_no_end)
{
	(void)w;
	fail_to_send(100, true);
	fail_to_send(100, false);
}

/* --- calls that fail ------------------------------------------------------ */

static void ask_wrongly(void *argument)
{
	static struct text t;
	struct host        host;
	sennit_http       *h = NULL;

	(void)argument;
	EXPECT(sennit_http_connect(&h, "ftp://localhost", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "localhost", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://:80", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://a@b", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://a b", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://127.0.0.1:65537", NULL, 0) ==
	       -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://[::1", NULL, 0) == -EINVAL);
	EXPECT(sennit_http_connect(&h, "http://127.0.0.1:1", NULL,
				   LONG_ENOUGH) == -ECONNREFUSED);
	EXPECT(!h);
	open_host(&host);
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	EXPECT(sennit_http_ask(h, "GET", "/a b", NULL, 0, 0) == -EINVAL);
	EXPECT(sennit_http_ask(h, "GET", "/a\r\nX:", NULL, 0, 0) == -EINVAL);
	EXPECT(sennit_http_ask(h, "GET", "", NULL, 0, 0) == -EINVAL);
	EXPECT(sennit_http_ask(h, "G T", "/", NULL, 0, 0) == -EINVAL);
	EXPECT(sennit_http_ask(h, "CONNECT", "x:80", NULL, 0, 0) == -EINVAL);
	EXPECT(sennit_http_add_field(h, "X", "\n") == -EINVAL);
	EXPECT(sennit_http_ask(h, "GET", "/", NULL, 0, 0) == -EINVAL);
	EXPECT(get(h, "GET", "/hello", NULL, &t) == 200);
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(requests_that_would_split_are_not_sent)
{
	(void)w;
	in_a_task(ask_wrongly, NULL);
}

static int say_nothing(void *host)
{
	int fd = sennit_accept(((struct host *)host)->listener, NULL, NULL,
			       SOCK_CLOEXEC, SENNIT_NEVER);

	(void)!sennit_sleep_until(SENNIT_NEVER);
	sennit_close(fd);
	return 0;
}

static int ask_silent(void *argument)
{
	sennit_http            *h = argument;
	const sennit_http_head *answer;

	return sennit_http_next(h, &answer, SENNIT_NEVER);
}

/* The head of an answer, and no body. */
static int say_half(void *host)
{
	static const char half[] = "HTTP/1.1 200 OK\r\n"
				   "Content-Length: 5\r\n\r\n";
	int fd = sennit_accept(((struct host *)host)->listener, NULL, NULL,
			       SOCK_CLOEXEC, SENNIT_NEVER);

	say(fd, half, sizeof(half) - 1, 0);
	(void)!sennit_sleep_until(SENNIT_NEVER);
	sennit_close(fd);
	return 0;
}

static int read_silent(void *argument)
{
	sennit_http_text part;

	return (int)sennit_http_read(argument, &part, SENNIT_NEVER);
}

/* In a group that ends its waits in a moment. */
static int call_late(sennit_member_fn *call, sennit_http *h)
{
	sennit_group g;

	sennit_group_init(&g, in_ms(2), 0);
	EXPECT(!sennit_group_spawn(&g, call, h));
	return sennit_group_wait(&g);
}

static void give_up_with_group(void *unused)
{
	const sennit_http_head *answer = NULL;
	struct host             host;
	sennit_http            *h = NULL;

	(void)unused;
	listen_at_any(&host);
	EXPECT(!sennit_group_spawn(&host.acceptors, say_nothing, &host));
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(call_late(ask_silent, h) == -ETIMEDOUT);
	EXPECT(call_late(ask_silent, h) == -ETIMEDOUT);
	EXPECT(!sennit_group_spawn(&host.acceptors, say_half, &host));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, LONG_ENOUGH) == 1);
	EXPECT(call_late(read_silent, h) == -ETIMEDOUT);
	EXPECT(call_late(read_silent, h) == -ETIMEDOUT);
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(a_client_gives_up_at_the_deadline_of_its_group)
{
	(void)w;
	in_a_task(give_up_with_group, NULL);
}

static void give_up(void *argument)
{
	const sennit_http_head *answer = NULL;
	struct host             host;
	sennit_http            *h = NULL;
	sennit_group            g;

	listen_at_any(&host);
	EXPECT(!sennit_group_spawn(&host.acceptors, say_nothing, &host));
	EXPECT(!sennit_http_connect(&h, host.url, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_ask(h, "GET", "/", NULL, 0, LONG_ENOUGH));
	EXPECT(sennit_http_next(h, &answer, in_ms(2)) == -ETIMEDOUT);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, ask_silent, h));
	EXPECT_SOON(io_waits(argument) >= 1);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(!answer);
	sennit_http_destroy(h);
	close_host(&host);
}

TEST_WITH_THREADS(a_client_gives_up_at_its_deadline_and_when_it_is_cancelled)
{
	in_a_task(give_up, w->s);
}

USES_BACKEND;
