/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - a server in a fiber, and peers of it that send any bytes. */
#ifndef SN_TEST_PEERS_H
#define SN_TEST_PEERS_H

#include "../../io/test/operations.h"

#include "sennit/address.h"
#include "sennit/http.h"
#include "sennit/listen.h"

#define LONG_ENOUGH in_ms(200000)

/* How much of what a peer gets is kept. */
#define TEXT 300000

struct text {
	size_t size;
	char   bytes[TEXT];
};

/* --- the server ----------------------------------------------------------- */

static inline bool asks_for(const sennit_http_head *request, const char *target)
{
	return sennit_http_text_is(request->target, target);
}

/* Answer with the body of the request. */
static inline int answer_echo(sennit_http *h)
{
	static _Thread_local char whole[8192];
	sennit_http_text          part;
	size_t                    size = 0;
	ptrdiff_t                 n;

	while ((n = sennit_http_read(h, &part, LONG_ENOUGH)) > 0) {
		if (part.size > sizeof(whole) - size)
			return sennit_http_answer(h, 413, NULL, 0, LONG_ENOUGH);
		memcpy(whole + size, part.at, part.size);
		size += part.size;
	}
	if (n < 0)
		return (int)n;
	return sennit_http_answer(h, 200, size ? whole : NULL, size,
				  LONG_ENOUGH);
}

/* Answer in parts, of which one is long. */
static inline int answer_in_parts(sennit_http *h, uint64_t length)
{
	static char long_part[9000];
	int         err;

	memset(long_part, 'x', sizeof(long_part));
	err = sennit_http_answer(h, 200, NULL, length, LONG_ENOUGH);
	if (!err)
		err = sennit_http_write(h, "first ", 6, LONG_ENOUGH);
	if (!err)
		err = sennit_http_write(h, long_part, sizeof(long_part),
					LONG_ENOUGH);
	if (!err)
		err = sennit_http_write(h, " last", 5, LONG_ENOUGH);
	return err ? err : sennit_http_end(h, LONG_ENOUGH);
}

#define PARTS_SIZE 9011

static inline int answer_by_target(sennit_http            *h,
				   const sennit_http_head *request,
				   void                   *argument)
{
	(void)argument;
	if (asks_for(request, "/hello"))
		return sennit_http_answer(h, 200, "hello\n", 6, LONG_ENOUGH);
	if (asks_for(request, "/echo"))
		return answer_echo(h);
	if (asks_for(request, "/chunks"))
		return answer_in_parts(h, SENNIT_HTTP_UNKNOWN);
	if (asks_for(request, "/parts"))
		return answer_in_parts(h, PARTS_SIZE);
	if (asks_for(request, "/cut"))
		return sennit_http_answer(h, 200, NULL, SENNIT_HTTP_UNKNOWN,
					  LONG_ENOUGH);
	if (asks_for(request, "/last")) {
		EXPECT(!sennit_http_add_field(h, "Connection", "close"));
		return sennit_http_answer(h, 200, "bye\n", 4, LONG_ENOUGH);
	}
	if (asks_for(request, "/none"))
		return 0;
	return sennit_http_answer(h, 404, NULL, 0, LONG_ENOUGH);
}

struct served {
	int                       fds[2]; /* the server's end, the peer's */
	const sennit_http_config *config;
	sennit_group              group;
	int                       result;
};

static inline int serve_end(void *served)
{
	struct served *s = served;

	s->result = sennit_http_serve(s->fds[0], s->config, answer_by_target,
				      s);
	return 0;
}

static inline void begin_serving(struct served            *s,
				 const sennit_http_config *config)
{
	*s = (struct served){ .config = config, .result = 1 };
	open_sockets(s->fds);
	sennit_group_init(&s->group, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&s->group, serve_end, s));
}

static inline void end_serving(struct served *s)
{
	EXPECT(!sennit_group_wait(&s->group));
	sennit_close(s->fds[1]);
}

/* --- the peer ------------------------------------------------------------- */

/* Send in pieces of so many bytes; 0: at once. The server may have refused
 * already. */
static inline void say(int fd, const char *bytes, size_t size, size_t piece)
{
	while (size) {
		const size_t n = piece && piece < size ? piece : size;

		if (sennit_send_all(fd, bytes, n, 0, NULL, LONG_ENOUGH))
			return;
		bytes += n;
		size -= n;
		sennit_yield();
	}
}

/* Receive up to the end. A reset counts as one. */
static inline void hear_all(int fd, struct text *t)
{
	ptrdiff_t n;

	t->size = 0;
	do {
		n = sennit_recv(fd, t->bytes + t->size, TEXT - 1 - t->size, 0,
				LONG_ENOUGH);
		t->size += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	EXPECT(n != -ETIMEDOUT);
	t->bytes[t->size] = '\0';
}

/* Receive until the text has this at its end. */
static inline bool hear_until(int fd, struct text *t, const char *end)
{
	const size_t size = strlen(end);

	for (t->size = 0;;) {
		ptrdiff_t n = sennit_recv(fd, t->bytes + t->size, 1, 0,
					  LONG_ENOUGH);

		if (n <= 0)
			return false;
		t->bytes[++t->size] = '\0';
		if (t->size >= size && !strcmp(t->bytes + t->size - size, end))
			return true;
	}
}

/* The statuses of all answers, as in "200 404". */
static inline const char *statuses(const struct text *t)
{
	static _Thread_local char out[1000];
	size_t                    n = 0;

	out[0] = '\0';
	for (const char *at = t->bytes; (at = strstr(at, "HTTP/1.1 ")); at++)
		if (n + 5 < sizeof(out))
			n += (size_t)snprintf(out + n, sizeof(out) - n,
					      "%s%.3s", n ? " " : "", at + 9);
	return out;
}

/* Send the bytes to a new server, and the end; receive all. Returns the
 * statuses. */
static inline const char *talk(const sennit_http_config *config,
			       const char *bytes, size_t size, size_t piece,
			       struct text *t)
{
	struct served s;

	begin_serving(&s, config);
	say(s.fds[1], bytes, size, piece);
	(void)sennit_shutdown(s.fds[1], SHUT_WR);
	hear_all(s.fds[1], t);
	end_serving(&s);
	return statuses(t);
}

static inline unsigned count_of(const struct text *t, const char *what)
{
	unsigned count = 0;

	for (const char *at = t->bytes; (at = strstr(at, what)); at++)
		count++;
	return count;
}

#endif
