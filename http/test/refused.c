/* SPDX-License-Identifier: Apache-2.0 */
/* refused.c - requests that no client should send: what can be read in two ways
 * is refused, and a refusal ends the connection. */
#include "peers.h"

#define H       "Host: x\r\n"
#define HELLO   "GET /hello HTTP/1.1\r\n" H "\r\n"
#define POST    "POST /echo HTTP/1.1\r\n" H
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define GET(f)  "GET /hello HTTP/1.1\r\n" f "\r\n\r\n"

static const struct {
	const char *what, *bytes, *statuses;
} table[] = {
	/* How long is the body? HELLO behind it must not be answered. */
	{ "a length and chunks",
	  POST "Content-Length: 5\r\n" CHUNKED "\r\n0\r\n\r\n" HELLO, "400" },
	{ "chunks and a length",
	  POST CHUNKED "Content-Length: 5\r\n\r\n0\r\n\r\n" HELLO, "400" },
	{ "two lengths",
	  POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello" HELLO,
	  "400" },
	{ "the same length twice",
	  POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" HELLO,
	  "400" },
	{ "a list of lengths", POST "Content-Length: 5, 5\r\n\r\nhello" HELLO,
	  "400" },
	{ "a sign", POST "Content-Length: +5\r\n\r\nhello" HELLO, "400" },
	{ "a negative length", POST "Content-Length: -1\r\n\r\n" HELLO, "400" },
	{ "an empty length", POST "Content-Length:\r\n\r\n" HELLO, "400" },
	{ "a length that wraps",
	  POST "Content-Length: 18446744073709551617\r\n\r\n" HELLO, "400" },
	{ "a length of all ones",
	  POST "Content-Length: 18446744073709551615\r\n\r\n" HELLO, "400" },
	{ "a length beyond the limit",
	  POST "Content-Length: 1048577\r\n\r\n" HELLO, "413" },
	{ "an unknown coding",
	  POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" HELLO,
	  "501" },
	{ "chunked is not the last",
	  POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" HELLO,
	  "400" },
	{ "another coding", POST "Transfer-Encoding: xchunked\r\n\r\n" HELLO,
	  "400" },
	{ "chunked twice", POST CHUNKED CHUNKED "\r\n0\r\n\r\n" HELLO, "400" },
	{ "chunks of HTTP/1.0",
	  "POST /echo HTTP/1.0\r\n" CHUNKED "\r\n0\r\n\r\n" HELLO, "400" },
	{ "a blank before the colon",
	  POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" HELLO, "400" },
	{ "a folded field",
	  POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" HELLO, "400" },
	{ "a first field that is folded", "GET / HTTP/1.1\r\n " H "\r\n",
	  "400" },
	/* Where do lines end? */
	{ "LF alone", "GET /hello HTTP/1.1\nHost: x\n\n" HELLO, "400" },
	{ "LF alone behind a field",
	  "GET /hello HTTP/1.1\r\nHost: x\nX: y\r\n\r\n" HELLO, "400" },
	{ "LF alone at the end", "GET /hello HTTP/1.1\r\n" H "\n" HELLO,
	  "400" },
	{ "CR alone", GET("Host: x\rX: y"), "400" },
	{ "CR CR LF", GET("Host: x\r"), "400" },
	{ "a control in a value", GET("Host: x\r\nX: a\x01") "", "400" },
	{ "bytes beyond ASCII in a value", GET("Host: x\r\nX: \xe9"), "200" },
	{ "no name", GET("Host: x\r\n: a"), "400" },
	{ "no colon", GET("Host: x\r\nnonsense"), "400" },
	{ "an empty line first", "\r\n" HELLO, "200" },
	{ "an empty line between", HELLO "\r\n" HELLO, "200 200" },
	{ "two empty lines first", "\r\n\r\n" HELLO, "400" },
	/* Chunks. */
	{ "an extension", POST CHUNKED "\r\n5;a=b\r\nhello\r\n0\r\n\r\n" HELLO,
	  "200 200" },
	{ "a trailer", POST CHUNKED "\r\n0\r\nX: y\r\n\r\n" HELLO, "200 200" },
	{ "no size", POST CHUNKED "\r\n\r\nhello\r\n0\r\n\r\n" HELLO, "400" },
	{ "0x", POST CHUNKED "\r\n0x5\r\nhello\r\n0\r\n\r\n" HELLO, "400" },
	{ "a size with a blank",
	  POST CHUNKED "\r\n5 \r\nhello\r\n0\r\n\r\n" HELLO, "400" },
	{ "a size that wraps",
	  POST CHUNKED "\r\n100000000000000005\r\nhello\r\n0\r\n\r\n" HELLO,
	  "413" },
	{ "LF behind a size", POST CHUNKED "\r\n5\nhello\r\n0\r\n\r\n" HELLO,
	  "400" },
	{ "LF in an extension",
	  POST CHUNKED "\r\n5;\nxx\r\nhello\r\n0\r\n\r\n" HELLO, "400" },
	{ "a longer chunk", POST CHUNKED "\r\n5\r\nhelloXX0\r\n\r\n" HELLO,
	  "400" },
	{ "a chunk that ends by LF",
	  POST CHUNKED "\r\n5\r\nhello\n0\r\n\r\n" HELLO, "400" },
	{ "a folded trailer", POST CHUNKED "\r\n0\r\n X: y\r\n\r\n" HELLO,
	  "400" },
	{ "half a body", POST "Content-Length: 10\r\n\r\nhello", "400" },
	/* The first line. */
	{ "two blanks", "GET  /hello HTTP/1.1\r\n" H "\r\n", "400" },
	{ "two blanks behind", "GET /hello  HTTP/1.1\r\n" H "\r\n", "400" },
	{ "a tab", "GET\t/hello HTTP/1.1\r\n" H "\r\n", "400" },
	{ "a tab in the target", "GET /he\tllo HTTP/1.1\r\n" H "\r\n", "400" },
	{ "no version", "GET /hello\r\n\r\n", "400" },
	{ "HTTP/2.0", "GET /hello HTTP/2.0\r\n" H "\r\n", "505" },
	{ "HTTP/1.2", "GET /hello HTTP/1.2\r\n" H "\r\n" HELLO, "200 200" },
	{ "HTTP/1.10", "GET /hello HTTP/1.10\r\n" H "\r\n", "400" },
	{ "lower case", "get /hello HTTP/1.1\r\n" H "\r\n", "400" },
	{ "a target without a slash", "GET hello HTTP/1.1\r\n" H "\r\n",
	  "400" },
	{ "an asterisk", "OPTIONS * HTTP/1.1\r\n" H "\r\n", "404" },
	{ "TLS", "\x16\x03\x01\x02\x01\x01\x01\x01\xfc\n", "400" },
	/* The host. */
	{ "no host", "GET /hello HTTP/1.1\r\n\r\n", "400" },
	{ "no host in 1.0", "GET /hello HTTP/1.0\r\n\r\n", "200" },
	{ "two hosts", GET("Host: x\r\nHost: y"), "400" },
	{ "a path in a host", GET("Host: a/b"), "400" },
	{ "a user in a host", GET("Host: a@b"), "400" },
	{ "an address", GET("Host: [fe80::1]:80"), "200" },
	{ "a target with an empty host", "GET http:///x HTTP/1.1\r\n" H "\r\n",
	  "400" },
	/* What cannot be done. */
	{ "an expectation", GET("Host: x\r\nExpect: magic"), "417" },
	{ "an upgrade",
	  GET("Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket"), "200" },
};

static void send_each(void *argument)
{
	static struct text t;

	(void)argument;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		static const size_t pieces[] = { 0, 1, 7 };

		for (size_t p = 0; p < 3; p++) {
			const char *got = talk(NULL, table[i].bytes,
					       strlen(table[i].bytes),
					       pieces[p], &t);

			if (strcmp(got, table[i].statuses) != 0)
				fprintf(stderr, "%s, in %zu: %s\n",
					table[i].what, pieces[p], got);
			EXPECT(!strcmp(got, table[i].statuses));
			EXPECT(got[0] == '2' || !strcmp(got, "404") ||
			       strstr(t.bytes, "Connection: close\r\n"));
		}
	}
}

TEST_WITH_ONE(what_may_be_read_in_two_ways_is_refused)
{
	(void)w;
	in_a_task(send_each, NULL);
}

/* --- zeroes --------------------------------------------------------------- */

static void send_zeroes(void *argument)
{
	static const char  all[] = "GET /hello HTTP/1.1\r\nHost: x\r\nX: y\r\n"
				   "\r\n";
	static struct text t;
	char               bytes[sizeof(all)];

	(void)argument;
	for (size_t i = 0; i < sizeof(all) - 3; i++) {
		memcpy(bytes, all, sizeof(all));
		bytes[i] = '\0';
		(void)talk(NULL, bytes, sizeof(all) - 1, 0, &t);
		EXPECT(t.size < 12 || memcmp(t.bytes + 9, "200", 3) != 0);
	}
}

TEST_WITH_ONE(a_zero_is_accepted_nowhere)
{
	(void)w;
	in_a_task(send_zeroes, NULL);
}

/* --- limits --------------------------------------------------------------- */

/* A head of `size` bytes. */
static size_t make_head(char *to, size_t size)
{
	const size_t begin =
		(size_t)sprintf(to, "GET /hello HTTP/1.1\r\nHost: x\r\nX: ");

	memset(to + begin, 'a', size - begin - 4);
	memcpy(to + size - 4, "\r\n\r\n", 4);
	return size;
}

static void send_long_heads(void *argument)
{
	static struct text t;
	static char        bytes[200000];
	size_t             size;

	(void)argument;
	size = make_head(bytes, 8192);
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "200"));
	size = make_head(bytes, 8193);
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "431"));
	size = make_head(bytes, sizeof(bytes));
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "431"));
	memset(bytes, 'A', sizeof(bytes));
	EXPECT(!strcmp(talk(NULL, bytes, sizeof(bytes), 0, &t), "414"));
	size = make_head(bytes, 400);
	EXPECT(!strcmp(
		talk(SENNIT_HTTP_CONFIG(.head = 399), bytes, size, 0, &t),
		"431"));
	EXPECT(!strcmp(
		talk(SENNIT_HTTP_CONFIG(.fields = 1), bytes, size, 0, &t),
		"431"));
	EXPECT(!strcmp(
		talk(SENNIT_HTTP_CONFIG(.fields = 2), bytes, size, 0, &t),
		"200"));
}

TEST_WITH_ONE(heads_up_to_the_limits_and_no_longer)
{
	(void)w;
	in_a_task(send_long_heads, NULL);
}

static size_t repeat(char *to, const char *begin, const char *part, int count,
		     const char *end)
{
	char *at = stpcpy(to, begin);

	for (int i = 0; i < count; i++)
		at = stpcpy(at, part);
	return (size_t)(stpcpy(at, end) - to);
}

static void send_endless_bodies(void *argument)
{
	static const char begin[] = POST CHUNKED "\r\n";
	static struct text               t;
	static char                      bytes[200000];
	size_t                           size;

	(void)argument;
	size = repeat(bytes, begin, "1\r\nx\r\n", 5000, "0\r\n\r\n" HELLO);
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "200 200"));
	size = repeat(bytes, begin, "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n",
		      1000, "0\r\n\r\n" HELLO);
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "431"));
	size = repeat(bytes, POST CHUNKED "\r\n0\r\n", "X: y\r\n", 2000,
		      "\r\n" HELLO);
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "431"));
	size = repeat(bytes, POST CHUNKED "\r\n1;", "x", 5000, "\r\n");
	EXPECT(!strcmp(talk(NULL, bytes, size, 0, &t), "431"));
	size = repeat(bytes, begin, "10\r\n0123456789abcdef\r\n", 100,
		      "0\r\n\r\n" HELLO);
	EXPECT(!strcmp(
		talk(SENNIT_HTTP_CONFIG(.body = 1599), bytes, size, 0, &t),
		"413"));
	EXPECT(!strcmp(
		talk(SENNIT_HTTP_CONFIG(.body = 1600), bytes, size, 0, &t),
		"200 200"));
}

TEST_WITH_ONE(chunks_cannot_cost_more_than_they_carry)
{
	(void)w;
	in_a_task(send_endless_bodies, NULL);
}

USES_BACKEND;
