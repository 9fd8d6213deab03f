/* SPDX-License-Identifier: Apache-2.0 */
/* epoll.c - the server of io/bench/server.h as a loop over epoll in plain C: a
 * thread per worker with a listener of its own, level-triggered. A read that
 * does not fill its buffer is not repeated. Bytes of a request that is not
 * whole are copied, so an idle connection has no buffer.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>

struct connection {
	int                fd;
	unsigned           have;  /* of a request that is not whole */
	char              *bytes; /* REQUEST of them; NULL: none */
	struct connection *asker; /* this is an upstream connection of it */
	struct connection *asked; /* FAN_OUT upstream connections */
	unsigned           open;  /* calls without an answer */
};

struct loop {
	int epoll, listener;

	char bytes[4 * REQUEST];
};

static bool     fans_out;
static uint16_t upstream_port;

static void watch(struct loop *l, int fd, struct connection *c)
{
	struct epoll_event e = { .events = EPOLLIN };

	e.data.ptr = c;
	server_check(!epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
}

static void end(struct connection *c)
{
	for (unsigned i = 0; c->asked && i < FAN_OUT; i++)
		close(c->asked[i].fd);
	free(c->asked);
	close(c->fd);
	free(c->bytes);
	free(c);
}

static void open_upstream(struct loop *l, struct connection *c)
{
	c->asked = calloc(FAN_OUT, sizeof(*c->asked));
	for (unsigned i = 0; i < FAN_OUT; i++) {
		c->asked[i].asker = c;
		c->asked[i].fd = server_connect(upstream_port);
		watch(l, c->asked[i].fd, &c->asked[i]);
	}
}

static void accept_some(struct loop *l)
{
	int fd;

	while ((fd = accept4(l->listener, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct connection *c = calloc(1, sizeof(*c));

		c->fd = fd;
		server_no_delay(fd);
		if (fans_out)
			open_upstream(l, c);
		watch(l, fd, c);
	}
}

static void answer(struct connection *c)
{
	if (!fans_out) {
		(void)!send(c->fd, ANSWER, ANSWER_SIZE, MSG_NOSIGNAL);
		return;
	}
	c->open = FAN_OUT;
	for (unsigned i = 0; i < FAN_OUT; i++)
		(void)!send(c->asked[i].fd, ASK, ASK_SIZE, MSG_NOSIGNAL);
}

/* Answer the whole requests. Returns how many bytes are left. */
static size_t answer_all(struct connection *c, const char *bytes, size_t size)
{
	size_t at = 0;
	size_t used;

	while ((used = server_request(bytes + at, size - at)) > 0) {
		at += used;
		answer(c);
	}
	return size - at;
}

static void got_answer(struct connection *c, size_t size)
{
	c->have += (unsigned)size;
	if (c->have < ANSWER_SIZE)
		return;
	c->have = 0;
	if (!--c->asker->open)
		(void)!send(c->asker->fd, ANSWER, ANSWER_SIZE, MSG_NOSIGNAL);
}

static void serve(struct loop *l, struct connection *c)
{
	ptrdiff_t n;
	size_t    size, left;

	if (c->have && c->bytes)
		memcpy(l->bytes, c->bytes, c->have);
	n = recv(c->fd, l->bytes + (c->bytes ? c->have : 0),
		 sizeof(l->bytes) - REQUEST, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (c->asker) {
		server_check(n > 0, "upstream");
		got_answer(c, (size_t)n);
		return;
	}
	if (n <= 0) {
		end(c);
		return;
	}
	size = (size_t)n + c->have;
	left = answer_all(c, l->bytes, size);
	if (left > REQUEST) {
		end(c);
		return;
	}
	if (left && !c->bytes)
		c->bytes = malloc(REQUEST);
	if (left)
		memcpy(c->bytes, l->bytes + size - left, left);
	c->have = (unsigned)left;
}

static void *run(void *argument)
{
	struct loop       *l = argument;
	struct epoll_event e[256];

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	watch(l, l->listener, NULL);
	for (;;) {
		int n = epoll_wait(l->epoll, e, 256, -1);

		for (int i = 0; i < n; i++)
			if (e[i].data.ptr)
				serve(l, e[i].data.ptr);
			else
				accept_some(l);
	}
	return NULL;
}

/* --- files: the reference, a thread that reads ---------------------------- */

static void read_by(int fd, unsigned reads)
{
	double begin = server_cpu();
	void  *block;

	server_check(!posix_memalign(&block, BLOCK, BLOCK), "no memory");
	for (unsigned i = 0; i < reads; i++)
		server_check(pread(fd, block, BLOCK, server_block(i)) == BLOCK,
			     "pread");
	printf("%.0f\n", (server_cpu() - begin) / reads);
	free(block);
}

static void read_all(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	read_by(fd, READS);
	close(fd);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_DIRECT);
	if (fd < 0)
		puts("nan");
	else
		read_by(fd, READS / 10);
}

int main(int argc, char **argv)
{
	unsigned  workers = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	uint16_t  port = 0;
	pthread_t thread;

	server_begin();
	if (argc > 3 && !strcmp(argv[1], "read")) {
		read_all(argv[3]);
		return 0;
	}
	fans_out = argc > 3;
	if (fans_out)
		upstream_port = (uint16_t)atoi(argv[3]);
	for (unsigned i = 0; i < workers; i++) {
		struct loop *l = calloc(1, sizeof(*l));

		l->listener = server_listen(&port);
		fcntl(l->listener, F_SETFL, O_NONBLOCK);
		server_check(!pthread_create(&thread, NULL, run, l), "thread");
	}
	server_print_port(port);
	pause();
	return 0;
}
