/* SPDX-License-Identifier: Apache-2.0 */
/* uring.c - the server of io/bench/server.h as a loop over io_uring in plain C:
 * a thread per worker with a ring and a listener of its own. An answer and the
 * next receive are submitted together; one call submits and waits.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>

#define ENTRIES 1024

struct connection {
	int    fd;
	size_t have;
	char   bytes[REQUEST];
};

static struct io_uring_sqe *next(struct io_uring *ring)
{
	struct io_uring_sqe *e = io_uring_get_sqe(ring);

	if (e)
		return e;
	io_uring_submit(ring);
	return io_uring_get_sqe(ring);
}

static void receive(struct io_uring *ring, struct connection *c)
{
	struct io_uring_sqe *e = next(ring);

	io_uring_prep_recv(e, c->fd, c->bytes + c->have,
			   sizeof(c->bytes) - c->have, 0);
	e->ioprio |= IORING_RECVSEND_POLL_FIRST;
	io_uring_sqe_set_data(e, c);
}

static void answer(struct io_uring *ring, struct connection *c)
{
	struct io_uring_sqe *e = next(ring);

	io_uring_prep_send(e, c->fd, ANSWER, ANSWER_SIZE, MSG_NOSIGNAL);
	e->flags |= IOSQE_CQE_SKIP_SUCCESS;
	io_uring_sqe_set_data64(e, 0);
}

static void accept_next(struct io_uring *ring, int listener)
{
	struct io_uring_sqe *e = next(ring);

	io_uring_prep_multishot_accept(e, listener, NULL, NULL, SOCK_CLOEXEC);
	io_uring_sqe_set_data64(e, 1);
}

static void accepted(struct io_uring *ring, int fd)
{
	struct connection *c = malloc(sizeof(*c));

	if (fd < 0)
		return;
	server_no_delay(fd);
	c->fd = fd;
	c->have = 0;
	receive(ring, c);
}

static void received(struct io_uring *ring, struct connection *c, int n)
{
	size_t used;

	if (n <= 0) {
		close(c->fd);
		free(c);
		return;
	}
	c->have += (size_t)n;
	while ((used = server_request(c->bytes, c->have)) > 0) {
		c->have -= used;
		memmove(c->bytes, c->bytes + used, c->have);
		answer(ring, c);
	}
	receive(ring, c);
}

static void open_ring(struct io_uring *ring)
{
	struct io_uring_params p;

	memset(&p, 0, sizeof(p));
	p.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
		  IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
	p.cq_entries = 4 * ENTRIES;
	server_check(!io_uring_queue_init_params(ENTRIES, ring, &p), "ring");
}

static void *run(void *argument)
{
	int                  listener = (int)(intptr_t)argument;
	struct io_uring      ring;
	struct io_uring_cqe *c;

	open_ring(&ring);
	accept_next(&ring, listener);
	for (;;) {
		unsigned head;
		unsigned n = 0;

		io_uring_submit_and_wait(&ring, 1);
		io_uring_for_each_cqe(&ring, head, c)
		{
			n++;
			if (c->user_data == 1)
				accepted(&ring, c->res);
			else if (c->user_data)
				received(&ring, io_uring_cqe_get_data(c),
					 c->res);
			if (c->user_data == 1 &&
			    !(c->flags & IORING_CQE_F_MORE))
				accept_next(&ring, listener);
		}
		io_uring_cq_advance(&ring, n);
	}
	return NULL;
}

/* --- files ---------------------------------------------------------------- */

/* Keep `depth` reads in the ring. */
static void read_by(int fd, unsigned depth, unsigned reads)
{
	double               begin = server_cpu();
	struct io_uring      ring;
	struct io_uring_cqe *c;
	unsigned             begun = 0;
	char                *blocks;

	open_ring(&ring);
	server_check(
		!posix_memalign((void **)&blocks, BLOCK, (size_t)BLOCK * depth),
		"no memory");
	for (unsigned done = 0; done < reads; done++) {
		unsigned slot = begun;

		if (done) {
			io_uring_submit_and_wait(&ring, 1);
			server_check(!io_uring_peek_cqe(&ring, &c) &&
					     c->res == BLOCK,
				     "read");
			slot = (unsigned)c->user_data;
			io_uring_cqe_seen(&ring, c);
		}
		for (; begun < reads && begun < done + depth; slot++) {
			struct io_uring_sqe *e = next(&ring);

			io_uring_prep_read(e, fd, blocks + (size_t)slot * BLOCK,
					   BLOCK,
					   (uint64_t)server_block(begun++));
			io_uring_sqe_set_data64(e, slot);
		}
	}
	printf("%.0f\n", (server_cpu() - begin) / reads);
	io_uring_queue_exit(&ring);
	free(blocks);
}

static void read_all(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	read_by(fd, 1, READS);
	close(fd);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_DIRECT);
	if (fd < 0)
		puts("nan");
	else
		read_by(fd, READERS, READS / 10);
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
