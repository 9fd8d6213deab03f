/* SPDX-License-Identifier: Apache-2.0 */
/* served.c - a server and clients that do what they may: keep connections open,
 * send several requests at once, wait for "100 Continue", leave, or say
 * nothing. */
#include "peers.h"

#define H     "Host: x\r\n"
#define HELLO "GET /hello HTTP/1.1\r\n" H "\r\n"

static struct text t;

static const char *tell(const char *bytes)
{
	return talk(NULL, bytes, strlen(bytes), 0, &t);
}

static void say_text(int fd, const char *text)
{
	say(fd, text, strlen(text), 0);
}

/* --- connections that stay ------------------------------------------------ */

static void keep_open(void *argument)
{
	struct served s;

	(void)argument;
	begin_serving(&s, NULL);
	for (int i = 0; i < 3; i++) {
		say_text(s.fds[1], HELLO);
		EXPECT(hear_until(s.fds[1], &t, "\r\n\r\nhello\n"));
		EXPECT(strstr(t.bytes, "HTTP/1.1 200 OK\r\nDate: "));
		EXPECT(strstr(t.bytes, "\r\nContent-Length: 6\r\n"));
		EXPECT(!strstr(t.bytes, "Connection:"));
	}
	say_text(s.fds[1], "GET /last HTTP/1.1\r\n" H "\r\n");
	EXPECT(hear_until(s.fds[1], &t, "\r\nConnection: close\r\n\r\nbye\n"));
	hear_all(s.fds[1], &t);
	EXPECT(t.size == 0);
	end_serving(&s);
	EXPECT(s.result == 0);
}

TEST_WITH_WORKERS(a_connection_is_used_again_until_one_side_ends_it)
{
	(void)w;
	in_a_task(keep_open, NULL);
}

static void close_by_field(void *argument)
{
	(void)argument;
	EXPECT(!strcmp(tell("GET /hello HTTP/1.1\r\n" H "Connection: x, Close\r"
			    "\n\r\n" HELLO),
		       "200"));
	EXPECT(!strcmp(tell("GET /hello HTTP/1.0\r\n\r\n" HELLO), "200"));
	EXPECT(strstr(t.bytes, "Connection: close\r\n"));
	EXPECT(!strcmp(tell("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n"
			    "\r\n" HELLO),
		       "200 200"));
	EXPECT(strstr(t.bytes, "Connection: keep-alive\r\n"));
	EXPECT(!strcmp(tell("GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n"
			    "\r\n" HELLO),
		       "200"));
	EXPECT(!strstr(t.bytes, "Transfer-Encoding"));
	EXPECT(!strcmp(t.bytes + t.size - 6, "x last"));
}

TEST_WITH_ONE(a_client_may_ask_for_the_end)
{
	(void)w;
	in_a_task(close_by_field, NULL);
}

#define LONG_BODY (TEXT - 1000)

struct last {
	int fds[2];
	int result; /* of the handler; 0: a field says that it is the end */
};

/* The peer has sent another request when the server ends the connection, and
 * has not received the answer yet: it is not lost by a reset. */
static int answer_last(sennit_http *h, const sennit_http_head *request,
		       void *last)
{
	static char        body[LONG_BODY];
	const struct last *l = last;
	int                err;

	(void)request;
	EXPECT(sennit_poll(l->fds[0], POLLIN, LONG_ENOUGH) > 0);
	if (!l->result)
		EXPECT(!sennit_http_add_field(h, "Connection", "close"));
	err = sennit_http_answer(h, 200, body, sizeof(body), LONG_ENOUGH);
	return err ? err : l->result;
}

static int serve_last(void *last)
{
	struct last *l = last;

	EXPECT(sennit_http_serve(l->fds[0], NULL, answer_last, l) == l->result);
	return 0;
}

static void ask_once_more(struct last *l)
{
	int          listener, *fds = l->fds;
	char         address[SENNIT_ADDRESS_TEXT];
	sennit_group g;

	listener = sennit_listen_at("127.0.0.1:0", 0, LONG_ENOUGH);
	EXPECT(!sennit_local_address(listener, address, sizeof(address)));
	fds[1] = sennit_connect_to(address, LONG_ENOUGH);
	fds[0] = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC, LONG_ENOUGH);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	say_text(fds[1], HELLO);
	EXPECT(!sennit_group_spawn(&g, serve_last, l));
	sennit_sleep(5 * SENNIT_MILLISECOND);
	say_text(fds[1], HELLO);
	sennit_sleep(100 * SENNIT_MILLISECOND);
	hear_all(fds[1], &t);
	EXPECT(t.size > LONG_BODY);
	sennit_close(fds[1]);
	EXPECT(!sennit_group_wait(&g));
	sennit_close(listener);
}

static void ask_for_the_last(void *unused)
{
	struct last said = { .result = 0 }, failed = { .result = -ENOLINK };

	(void)unused;
	ask_once_more(&said);
	ask_once_more(&failed);
}

TEST_WITH_ONE(a_last_answer_is_not_lost_by_a_reset)
{
	(void)w;
	in_a_task(ask_for_the_last, NULL);
}

/* --- several requests at once --------------------------------------------- */

#define MANY 300

static void send_many(void *argument)
{
	static const char part[] = HELLO
		"POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"
		"GET /nothing HTTP/1.1\r\n" H "\r\n"
		"POST /echo HTTP/1.1\r\n" H
		"Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n";
	static char bytes[MANY * sizeof(part)];
	char       *at = bytes;

	(void)argument;
	for (int i = 0; i < MANY; i++)
		at = stpcpy(at, part);
	(void)tell(bytes);
	EXPECT(count_of(&t, "HTTP/1.1 200 OK\r\n") == 3 * MANY);
	EXPECT(count_of(&t, "HTTP/1.1 404 Not Found\r\n") == MANY);
	EXPECT(count_of(&t, "\r\n\r\nhello\nHTTP") == MANY);
	EXPECT(count_of(&t, "\r\n\r\nabcHTTP") == MANY);
	EXPECT(count_of(&t, "\r\n\r\ndeHTTP") == MANY - 1); /* but the last */
}

TEST_WITH_WORKERS(pipelined_requests_are_answered_in_order)
{
	(void)w;
	in_a_task(send_many, NULL);
}

/* --- HEAD ----------------------------------------------------------------- */

static void ask_for_heads(void *argument)
{
	(void)argument;
	EXPECT(!strcmp(tell("HEAD /hello HTTP/1.1\r\n" H "\r\n" HELLO),
		       "200 200"));
	EXPECT(count_of(&t, "Content-Length: 6\r\n") == 2);
	EXPECT(count_of(&t, "hello\n") == 1);
	EXPECT(!strcmp(tell("HEAD /chunks HTTP/1.1\r\n" H "\r\n"
			    "HEAD /parts HTTP/1.1\r\n" H "\r\n"),
		       "200 200"));
	EXPECT(count_of(&t, "Transfer-Encoding: chunked\r\n") == 1);
	EXPECT(count_of(&t, "Content-Length: 9011\r\n") == 1);
	EXPECT(!strstr(t.bytes, "xxx"));
	EXPECT(!strcmp(tell("HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n"), "400"));
	EXPECT(!strcmp(t.bytes + t.size - 4, "\r\n\r\n"));
	EXPECT(!strcmp(tell("HEAD / HTTP/3.1\r\nbad"), ""));
}

TEST_WITH_ONE(an_answer_to_head_has_no_body)
{
	(void)w;
	in_a_task(ask_for_heads, NULL);
}

/* --- bodies --------------------------------------------------------------- */

static void get_parts(void *argument)
{
	const char *body;

	(void)argument;
	EXPECT(!strcmp(tell("GET /parts HTTP/1.1\r\n" H "\r\n" HELLO),
		       "200 200"));
	body = strstr(t.bytes, "\r\n\r\n") + 4;
	EXPECT(!memcmp(body, "first xxx", 9));
	EXPECT(!memcmp(body + PARTS_SIZE - 6, "x last", 6));
	EXPECT(!memcmp(body + PARTS_SIZE, "HTTP/1.1 ", 9));
	EXPECT(!strcmp(tell("GET /chunks HTTP/1.1\r\n" H "\r\n" HELLO),
		       "200 200"));
	EXPECT(strstr(t.bytes, "\r\n\r\n6\r\nfirst \r\n2328\r\nxxx"));
	EXPECT(strstr(t.bytes, "xxx\r\n5\r\n last\r\n0\r\n\r\nHTTP"));
}

TEST_WITH_WORKERS(bodies_are_sent_in_parts_and_in_chunks)
{
	(void)w;
	in_a_task(get_parts, NULL);
}

static void wait_for_continue(void *argument)
{
	struct served s;

	(void)argument;
	begin_serving(&s, NULL);
	for (int i = 0; i < 2; i++) {
		say_text(s.fds[1],
			 "POST /echo HTTP/1.1\r\n" H "Expect: 100-continue\r\n"
			 "Content-Length: 5\r\n\r\n");
		EXPECT(hear_until(s.fds[1], &t,
				  "HTTP/1.1 100 Continue\r\n\r\n"));
		say_text(s.fds[1], "world");
		EXPECT(hear_until(s.fds[1], &t, "\r\n\r\nworld"));
	}
	/* Refused without the body, which may not come. */
	say_text(s.fds[1],
		 "POST /nothing HTTP/1.1\r\n" H "Expect: 100-continue\r\n"
		 "Content-Length: 5\r\n\r\n");
	hear_all(s.fds[1], &t);
	EXPECT(!strcmp(statuses(&t), "404"));
	EXPECT(strstr(t.bytes, "Connection: close\r\n"));
	end_serving(&s);
}

TEST_WITH_ONE(a_client_that_waits_for_100_continue_gets_it)
{
	(void)w;
	in_a_task(wait_for_continue, NULL);
}

static void leave_bodies(void *argument)
{
	(void)argument;
	/* All of it is here. */
	EXPECT(!strcmp(tell("POST /nothing HTTP/1.1\r\n" H
			    "Content-Length: 5\r\n\r\nhello" HELLO),
		       "404 200"));
	/* What comes later is not taken for a request. */
	EXPECT(!strcmp(tell("POST /nothing HTTP/1.1\r\n" H
			    "Content-Length: 500\r\n\r\nhello" HELLO),
		       "404"));
	EXPECT(strstr(t.bytes, "Connection: close\r\n"));
}

TEST_WITH_ONE(a_body_that_is_not_read_is_no_request)
{
	(void)w;
	in_a_task(leave_bodies, NULL);
}

/* --- the program's mistakes ----------------------------------------------- */

static void forget_answers(void *argument)
{
	(void)argument;
	EXPECT(!strcmp(tell("GET /none HTTP/1.1\r\n" H "\r\n" HELLO), "500"));
	EXPECT(!strcmp(tell("GET /cut HTTP/1.1\r\n" H "\r\n" HELLO), ""));
}

TEST_WITH_ONE(a_program_that_does_not_answer_answers_500)
{
	(void)w;
	in_a_task(forget_answers, NULL);
}

static int add_wrong_fields(sennit_http *h, const sennit_http_head *request,
			    void *argument)
{
	char large[9000];

	(void)argument;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	if (asks_for(request, "/split")) {
		EXPECT(sennit_http_add_field(h, "X", "a\r\nY: b") == -EINVAL);
		EXPECT(sennit_http_answer(h, 200, "a", 1, LONG_ENOUGH) ==
		       -EINVAL);
	}
	EXPECT(sennit_http_add_field(h, "Content-Length", "5") == -EINVAL);
	EXPECT(sennit_http_add_field(h, "Transfer-Encoding", "x") == -EINVAL);
	EXPECT(sennit_http_add_field(h, "Connection", "upgrade") == -EINVAL);
	EXPECT(sennit_http_add_field(h, "a b", "c") == -EINVAL);
	EXPECT(sennit_http_add_field(h, "", "c") == -EINVAL);
	EXPECT(sennit_http_add_field(h, "X", large) == -ENOSPC);
	EXPECT(sennit_http_answer(h, 200, "a", 1, LONG_ENOUGH) == -EINVAL);
	EXPECT(sennit_http_answer(h, 199, NULL, 0, LONG_ENOUGH) == -EINVAL);
	EXPECT(sennit_http_answer(h, 1000, NULL, 0, LONG_ENOUGH) == -EINVAL);
	EXPECT(sennit_http_answer(h, 204, "a", 1, LONG_ENOUGH) == -EINVAL);
	EXPECT(!sennit_http_add_field(h, "X-Good", "yes\t\xc3\xa9"));
	EXPECT(!sennit_http_add_field(h, "Date", "today"));
	return sennit_http_answer(h, 204, NULL, 0, LONG_ENOUGH);
}

struct wrong {
	int fd;
	int result;
};

static int serve_wrong(void *wrong)
{
	struct wrong *c = wrong;

	c->result = sennit_http_serve(c->fd, SENNIT_HTTP_CONFIG(.name = "test"),
				      add_wrong_fields, NULL);
	return 0;
}

static void check_fields(void *argument)
{
	struct wrong c;
	sennit_group g;
	int          fds[2];

	(void)argument;
	open_sockets(fds);
	c.fd = fds[0];
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, serve_wrong, &c));
	say_text(fds[1], "GET / HTTP/1.1\r\n" H "\r\n"
			 "GET /split HTTP/1.1\r\n" H "\r\n");
	(void)sennit_shutdown(fds[1], SHUT_WR);
	hear_all(fds[1], &t);
	EXPECT(!strcmp(statuses(&t), "204 204"));
	EXPECT(count_of(&t, "\r\nServer: test\r\nX-Good: yes\t\xc3\xa9\r\n"
			    "Date: today\r\n\r\n") == 2);
	EXPECT(!strstr(t.bytes, "Y: b"));
	EXPECT(!sennit_group_wait(&g));
	EXPECT(c.result == 0);
	sennit_close(fds[1]);
}

TEST_WITH_ONE(fields_that_would_split_an_answer_are_not_sent)
{
	(void)w;
	in_a_task(check_fields, NULL);
}

/* --- silence -------------------------------------------------------------- */

static const char *after_silence(const sennit_http_config *config,
				 const char *bytes, int *result)
{
	struct served s;

	begin_serving(&s, config);
	say_text(s.fds[1], bytes);
	hear_all(s.fds[1], &t);
	end_serving(&s);
	*result = s.result;
	return statuses(&t);
}

static void say_nothing(void *argument)
{
	const uint64_t soon = 20 * SENNIT_MILLISECOND;
	int            result;

	(void)argument;
	EXPECT(!strcmp(
		after_silence(SENNIT_HTTP_CONFIG(.idle = soon), "", &result),
		""));
	EXPECT(result == 0);
	EXPECT(!strcmp(
		after_silence(SENNIT_HTTP_CONFIG(.idle = soon), HELLO, &result),
		"200"));
	EXPECT(result == 0);
	EXPECT(!strcmp(after_silence(SENNIT_HTTP_CONFIG(.wait = soon),
				     "GET /hello HTTP/1.1\r\nHo", &result),
		       "408"));
	EXPECT(result == -EPROTO);
	EXPECT(!strcmp(after_silence(SENNIT_HTTP_CONFIG(.step = soon),
				     "POST /echo HTTP/1.1\r\n" H
				     "Content-Length: 5\r\n\r\nabc",
				     &result),
		       "408"));
	EXPECT(result == -EPROTO);
}

TEST_WITH_ONE(a_silent_client_is_disconnected)
{
	(void)w;
	in_a_task(say_nothing, NULL);
}

/* --- a server that stops -------------------------------------------------- */

static sennit_event stop;

static void begin_stoppable(struct served *s)
{
	static sennit_http_config config;

	config = (sennit_http_config){ .size = sizeof(config),
				       .idle = SENNIT_HTTP_UNKNOWN,
				       .stop = &stop };
	sennit_event_init(&stop, SENNIT_EVENT_MANUAL);
	begin_serving(s, &config);
}

static void end_stopped(struct served *s)
{
	hear_all(s->fds[1], &t);
	end_serving(s);
	EXPECT(s->result == 0);
}

/* A client that keeps its connection, before its first request and after it. */
static void stop_when_idle(void *argument)
{
	struct served s;

	(void)argument;
	for (int asked = 0; asked < 2; asked++) {
		begin_stoppable(&s);
		if (asked) {
			say_text(s.fds[1], HELLO);
			EXPECT(hear_until(s.fds[1], &t, "\r\n\r\nhello\n"));
			EXPECT(!strstr(t.bytes, "Connection:"));
		}
		for (int i = 0; i < 10; i++)
			sennit_yield();
		sennit_event_set(&stop);
		end_stopped(&s);
		EXPECT(t.size == 0);
	}
}

TEST_WITH_WORKERS(a_server_that_stops_ends_idle_connections)
{
	(void)w;
	in_a_task(stop_when_idle, NULL);
}

/* What has begun is answered, and more requests are not. */
static void stop_amid_a_request(void *argument)
{
	struct served s;

	(void)argument;
	begin_stoppable(&s);
	say_text(s.fds[1], HELLO "GET /hello HTTP/1.1\r\n");
	EXPECT(hear_until(s.fds[1], &t, "\r\n\r\nhello\n"));
	sennit_event_set(&stop);
	say_text(s.fds[1], H "\r\n" HELLO);
	end_stopped(&s);
	EXPECT(!strcmp(statuses(&t), "200"));
	EXPECT(strstr(t.bytes, "\r\nConnection: close\r\n\r\nhello\n"));
}

TEST_WITH_WORKERS(a_server_that_stops_answers_what_has_begun)
{
	(void)w;
	in_a_task(stop_amid_a_request, NULL);
}

/* A client that does not read. */
static void read_nothing(void *argument)
{
	static const char ask[] = "GET /chunks HTTP/1.1\r\n" H "\r\n";
	struct served     s;

	(void)argument;
	begin_serving(&s, SENNIT_HTTP_CONFIG(.step = 20 * SENNIT_MILLISECOND));
	while (!sennit_send_all(s.fds[1], ask, sizeof(ask) - 1, 0, NULL,
				LONG_ENOUGH))
		sennit_yield();
	EXPECT(!sennit_group_wait(&s.group));
	EXPECT(s.result == -ETIMEDOUT);
	sennit_close(s.fds[1]);
}

TEST_WITH_ONE(a_client_that_reads_nothing_is_disconnected)
{
	(void)w;
	in_a_task(read_nothing, NULL);
}

/* --- ends ----------------------------------------------------------------- */

static void leave_with_reset(void *argument)
{
	const struct linger      at_once = { .l_onoff = 1 };
	static const char *const begun[] = { "", "GET /he", HELLO,
					     "POST /echo HTTP/1.1\r\n" H
					     "Content-Length: 5\r\n\r\nabc" };

	(void)argument;
	for (size_t i = 0; i < 4; i++) {
		struct served s = { .result = 1 };

		open_tcp_connection(s.fds);
		sennit_group_init(&s.group, SENNIT_NEVER, 0);
		EXPECT(!sennit_group_spawn(&s.group, serve_end, &s));
		say_text(s.fds[1], begun[i]);
		must(!setsockopt(s.fds[1], SOL_SOCKET, SO_LINGER, &at_once,
				 sizeof(at_once)),
		     "SO_LINGER");
		sennit_close(s.fds[1]);
		EXPECT(!sennit_group_wait(&s.group));
		EXPECT(s.result <= 0);
	}
}

TEST_WITH_WORKERS(a_reset_ends_the_server)
{
	(void)w;
	in_a_task(leave_with_reset, NULL);
}

static void cancel_servers(void *argument)
{
	static const char *const begun[] = { "", "GET /he", HELLO,
					     "POST /echo HTTP/1.1\r\n" H
					     "Content-Length: 5\r\n\r\nabc" };
	sennit_scheduler        *here = argument;

	for (size_t i = 0; i < 4; i++) {
		struct served s;

		begin_serving(&s, NULL);
		say_text(s.fds[1], begun[i]);
		EXPECT_SOON(io_waits(here) == 1);
		if (begun[i] == begun[2])
			EXPECT(hear_until(s.fds[1], &t, "\r\n\r\nhello\n"));
		sennit_group_cancel(&s.group);
		hear_all(s.fds[1], &t);
		EXPECT(t.size == 0);
		(void)!sennit_group_wait(&s.group);
		EXPECT(s.result == -ECANCELED);
		sennit_close(s.fds[1]);
	}
}

TEST_WITH_WORKERS(a_cancelled_server_ends)
{
	in_a_task(cancel_servers, w->s);
}

/* --- calls that end early ------------------------------------------------- */

static ptrdiff_t receive_from(void *fd, void *to, size_t size,
			      sennit_time deadline)
{
	return sennit_recv(*(int *)fd, to, size, 0, deadline);
}

static ptrdiff_t send_to(void *fd, const struct iovec *pieces, int count,
			 int flags, sennit_time deadline)
{
	struct msghdr m = { .msg_iov = (void *)(uintptr_t)pieces,
			    .msg_iovlen = (size_t)count };

	return sennit_sendmsg(*(int *)fd, &m, flags, deadline);
}

/* No byte is lost, however often a call gives up. */
static void repeat_calls(void *argument)
{
	static const char bytes[] = "POST /echo HTTP/1.1\r\n" H
				    "Content-Length: 5\r\n\r\nhello" HELLO;
	const sennit_http_head *head = NULL;
	sennit_http            *h;
	sennit_http_text        part;
	char                    got[6] = "";
	size_t                  size = 0, i = 0;
	int                     fds[2], result = -ETIMEDOUT;
	ptrdiff_t               n = -ETIMEDOUT;

	(void)argument;
	open_sockets(fds);
	EXPECT(!sennit_http_create(
		&h, &(sennit_http_link){ receive_from, send_to, &fds[0] }, 0,
		NULL));
	for (; result == -ETIMEDOUT && i < sizeof(bytes) - 1; i++) {
		EXPECT(sennit_http_next(h, &head, 0) == -ETIMEDOUT);
		must(write(fds[1], bytes + i, 1) == 1, "write");
		result = sennit_http_next(h, &head, 0);
	}
	EXPECT(result == 1);
	EXPECT(head && head->length == 5);
	EXPECT(head && head->flags == SENNIT_HTTP_KEPT);
	while (n && size < 5) {
		EXPECT(sennit_http_read(h, &part, 0) == -ETIMEDOUT);
		must(write(fds[1], bytes + i++, 1) == 1, "write");
		n = sennit_http_read(h, &part, 0);
		EXPECT(n == 1);
		got[size++] = *part.at;
	}
	EXPECT(!strcmp(got, "hello"));
	EXPECT(sennit_http_read(h, &part, 0) == 0);
	EXPECT(!sennit_http_answer(h, 200, "a", 1, 0));
	must(write(fds[1], bytes + i, sizeof(bytes) - 1 - i) > 0, "write");
	EXPECT(sennit_http_next(h, &head, LONG_ENOUGH) == 1);
	EXPECT(head && asks_for(head, "/hello"));
	EXPECT(sennit_http_ahead(h) == 0);
	/* The bytes may be the caller's own. */
	EXPECT(!sennit_http_answer(h, 200, NULL, 4, LONG_ENOUGH));
	EXPECT(!sennit_http_write(h, NULL, 4, LONG_ENOUGH));
	EXPECT(!sennit_send_all(fds[0], "mine", 4, 0, NULL, LONG_ENOUGH));
	EXPECT(!sennit_http_end(h, LONG_ENOUGH));
	EXPECT(!sennit_shutdown(fds[1], SHUT_WR));
	EXPECT(sennit_http_next(h, &head, LONG_ENOUGH) == 0);
	sennit_http_destroy(h);
	sennit_close(fds[0]);
	hear_all(fds[1], &t);
	EXPECT(!strcmp(statuses(&t), "200 200"));
	EXPECT(!strcmp(t.bytes + t.size - 8, "\r\n\r\nmine"));
	sennit_close(fds[1]);
}

TEST_WITH_WORKERS(calls_that_gave_up_are_repeated)
{
	(void)w;
	in_each_place(repeat_calls, NULL);
}

/* --- configurations ------------------------------------------------------- */

static void check_configs(void *argument)
{
	const sennit_http_link link = { receive_from, send_to, NULL };
	struct {
		sennit_http_config c;
		char               more[8];
	} newer = { .c = { .size = sizeof(newer) } };
	sennit_http *h = NULL;

	(void)argument;
	EXPECT(sennit_http_create(&h, &link, 2, NULL) == -EINVAL);
	EXPECT(sennit_http_create(&h, &link, 0,
				  SENNIT_HTTP_CONFIG(.flags = 1)) == -EINVAL);
	EXPECT(sennit_http_create(&h, &link, 0,
				  SENNIT_HTTP_CONFIG(.name = "a\nb")) ==
	       -EINVAL);
	EXPECT(sennit_http_create(&h, &link, 0,
				  &(const sennit_http_config){ .size = 8 }) ==
	       -EINVAL);
	newer.more[7] = 1;
	EXPECT(sennit_http_create(&h, &link, 0, &newer.c) == -E2BIG);
	EXPECT(!h);
	newer.more[7] = 0;
	EXPECT(!sennit_http_create(&h, &link, 0, &newer.c));
	sennit_http_destroy(h);
	sennit_http_destroy(NULL);
}

TEST_WITH_ONE(a_configuration_may_be_a_newer_one)
{
	(void)w;
	in_a_task(check_configs, NULL);
}

/* --- dates, reasons ------------------------------------------------------- */

static sennit_http_text text_of(const char *text)
{
	return (sennit_http_text){ text, strlen(text) };
}

TEST_WITHOUT(dates_are_written_and_read)
{
	char   date[SENNIT_HTTP_DATE];
	time_t time = 5;

	(void)w;
	sennit_http_write_date(date, 784111777);
	assert_string_equal(date, "Sun, 06 Nov 1994 08:49:37 GMT");
	assert_int_equal(sennit_http_read_date(text_of(date), &time), 0);
	assert_int_equal(time, 784111777);
	assert_int_equal(
		sennit_http_read_date(text_of("Sunday, 06-Nov-94 08:49:37 GMT"),
				      &time),
		-EINVAL);
	assert_int_equal(
		sennit_http_read_date(text_of("Sun, 06 Nov 1994 08:49:37 CET"),
				      &time),
		-EINVAL);
	assert_int_equal(time, 784111777);
	assert_string_equal(sennit_http_reason(404), "Not Found");
	assert_string_equal(sennit_http_reason(599), "Unknown");
}

USES_BACKEND;
