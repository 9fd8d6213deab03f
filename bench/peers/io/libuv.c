/* SPDX-License-Identifier: Apache-2.0 */
/* libuv.c - the server of io/bench/server.h on libuv: a loop in a thread per
 * worker, each with a listener of its own. Answers go by uv_try_write(), which
 * sends at once and needs no memory.
 */
#include "server.h"

#include <pthread.h>
#include <uv.h>

struct connection {
	uv_tcp_t tcp; /* first */
	size_t   have;
	char    *bytes; /* REQUEST of them; NULL: none */
};

static _Thread_local char shared[REQUEST];

static void give_buffer(uv_handle_t *h, size_t wanted, uv_buf_t *out)
{
	struct connection *c = (struct connection *)h;

	(void)wanted;
	if (c->have)
		memcpy(shared, c->bytes, c->have);
	*out = uv_buf_init(shared + c->have,
			   (unsigned)(sizeof(shared) - c->have));
}

static void release(uv_handle_t *h)
{
	struct connection *c = (struct connection *)h;

	free(c->bytes);
	free(c);
}

static void serve(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct connection *c = (struct connection *)s;
	uv_buf_t answer = uv_buf_init((char *)(uintptr_t)ANSWER, ANSWER_SIZE);
	size_t   at = 0;
	size_t   used, size;

	(void)b;
	if (!n)
		return;
	if (n < 0 || c->have + (size_t)n == REQUEST) {
		uv_close((uv_handle_t *)s, release);
		return;
	}
	size = c->have + (size_t)n;
	while ((used = server_request(shared + at, size - at)) > 0) {
		at += used;
		uv_try_write(s, &answer, 1);
	}
	c->have = size - at;
	if (c->have && !c->bytes)
		c->bytes = malloc(REQUEST);
	if (c->have)
		memcpy(c->bytes, shared + at, c->have);
}

static void accepted(uv_stream_t *listener, int status)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (status < 0 || uv_tcp_init(listener->loop, &c->tcp)) {
		free(c);
		return;
	}
	uv_accept(listener, (uv_stream_t *)&c->tcp);
	uv_tcp_nodelay(&c->tcp, 1);
	uv_read_start((uv_stream_t *)&c->tcp, give_buffer, serve);
}

static void *run(void *argument)
{
	uv_loop_t loop;
	uv_tcp_t  listener;

	uv_loop_init(&loop);
	uv_tcp_init(&loop, &listener);
	uv_tcp_open(&listener, (int)(intptr_t)argument);
	uv_listen((uv_stream_t *)&listener, SERVER_BACKLOG, accepted);
	uv_run(&loop, UV_RUN_DEFAULT);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned  workers = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	uint16_t  port = 0;
	pthread_t thread;

	server_begin();
	for (unsigned i = 0; i < workers; i++) {
		int fd = server_listen(&port);

		server_check(!pthread_create(&thread, NULL, run,
					     (void *)(intptr_t)fd),
			     "thread");
	}
	server_print_port(port);
	pause();
	return 0;
}
