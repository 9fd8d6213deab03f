/* SPDX-License-Identifier: Apache-2.0 */
/* sennit.c - the server of server.h with a fiber per connection. Two more
 * modes:
 *
 *	yielder    http, and a fiber that yields every 10 us
 *	deadlines  http, each call with a deadline
 *
 * SENNIT_IO chooses the backend, as ever.
 */
#include "server.h"

#include "sennit.h"
#include "sennit/io.h"
#include "sennit/net.h"

#include <errno.h>
#include <fcntl.h>

#define TURN  10000 /* ns that the yielder keeps its worker */
#define LIMIT (10 * SENNIT_SECOND)

struct listener {
	sennit_task_fn *serve;
	uint16_t        port;
	bool            limited; /* each call has a deadline */
};

static struct listener listener;
static uint16_t        upstream_port;

static sennit_time limit(void)
{
	return listener.limited ? sennit_after(LIMIT) : SENNIT_NEVER;
}

static bool answer(int fd)
{
	return sennit_send(fd, ANSWER, ANSWER_SIZE, 0, limit()) ==
	       (ptrdiff_t)ANSWER_SIZE;
}

static void serve(void *argument)
{
	int       fd = (int)(intptr_t)argument;
	char      bytes[REQUEST];
	size_t    have = 0;
	size_t    used;
	ptrdiff_t n;

	while ((n = sennit_recv(fd, bytes + have, sizeof(bytes) - have, 0,
				limit())) > 0) {
		have += (size_t)n;
		while ((used = server_request(bytes, have)) > 0) {
			have -= used;
			memmove(bytes, bytes + used, have);
			if (!answer(fd))
				break;
		}
	}
	(void)!sennit_close(fd);
}

static void accept_all(void *unused)
{
	uint16_t port = 0;
	int      fd = server_listen(&port);

	(void)unused;
	server_print_port(port);
	for (;;) {
		int c = sennit_accept(fd, NULL, NULL, SOCK_CLOEXEC,
				      SENNIT_NEVER);

		if (c < 0)
			continue;
		server_no_delay(c);
		if (sennit_schedule(listener.serve, (void *)(intptr_t)c))
			abort();
	}
}

/* --- fan-out ------------------------------------------------------------ */

struct fan {
	int               fds[FAN_OUT];
	sennit_wait_group left;
};

struct call {
	struct fan *fan;
	int         fd;
};

static void ask(void *argument)
{
	struct call *c = argument;
	char         bytes[REQUEST];
	size_t       have = 0;
	ptrdiff_t    n;

	if (sennit_send(c->fd, ASK, ASK_SIZE, 0, SENNIT_NEVER) < 0)
		abort();
	while (have < ANSWER_SIZE) {
		n = sennit_recv(c->fd, bytes + have, sizeof(bytes) - have, 0,
				SENNIT_NEVER);
		server_check(n > 0, "upstream");
		have += (size_t)n;
	}
	sennit_wait_group_done(&c->fan->left);
}

static void ask_all(struct fan *f)
{
	struct call calls[FAN_OUT];

	sennit_wait_group_init(&f->left, FAN_OUT);
	for (unsigned i = 0; i < FAN_OUT; i++) {
		calls[i] = (struct call){ f, f->fds[i] };
		if (sennit_schedule(ask, &calls[i]))
			abort();
	}
	sennit_wait_group_wait(&f->left);
}

static void serve_by_asking(void *argument)
{
	int        fd = (int)(intptr_t)argument;
	char       bytes[REQUEST];
	struct fan f;

	for (unsigned i = 0; i < FAN_OUT; i++)
		f.fds[i] = server_connect(upstream_port);
	while (sennit_recv(fd, bytes, sizeof(bytes), 0, SENNIT_NEVER) > 0) {
		ask_all(&f);
		if (!answer(fd))
			break;
	}
	for (unsigned i = 0; i < FAN_OUT; i++)
		(void)!sennit_close(f.fds[i]);
	(void)!sennit_close(fd);
}

/* --- a fiber that yields -------------------------------------------------- */

static void yield_for_ever(void *unused)
{
	(void)unused;
	for (;;) {
		sennit_time end = sennit_now() + TURN;

		while (sennit_now() < end)
			continue;
		sennit_yield();
	}
}

/* --- files ---------------------------------------------------------------- */

struct readers {
	int               fd;
	unsigned          next, end;
	sennit_wait_group left;
};

static void read_blocks(void *argument)
{
	struct readers *r = argument;
	void           *block;

	server_check(!posix_memalign(&block, BLOCK, BLOCK), "no memory");
	while (r->next < r->end)
		server_check(sennit_pread(r->fd, block, BLOCK,
					  server_block(r->next++),
					  SENNIT_NEVER) == BLOCK,
			     "pread");
	free(block);
	sennit_wait_group_done(&r->left);
}

static void read_by(struct readers *r, unsigned readers, unsigned reads)
{
	double begin = server_cpu();

	r->next = 0;
	r->end = reads;
	sennit_wait_group_init(&r->left, readers);
	for (unsigned i = 0; i < readers; i++)
		if (sennit_schedule(read_blocks, r))
			abort();
	sennit_wait_group_wait(&r->left);
	printf("%.0f\n", (server_cpu() - begin) / reads);
	fflush(stdout);
}

/* One reader of cached blocks, then READERS of blocks from the disc. */
static void read_all(void *file)
{
	struct readers r = { .fd = open(file, O_RDONLY | O_CLOEXEC) };

	server_check(r.fd >= 0, "open");
	read_by(&r, 1, READS);
	close(r.fd);
	r.fd = open(file, O_RDONLY | O_CLOEXEC | O_DIRECT);
	if (r.fd < 0)
		puts("nan");
	else
		read_by(&r, READERS, READS / 10);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char       *mode = argc > 1 ? argv[1] : "http";
	unsigned          workers = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	sennit_scheduler *s;
	sennit_task       first = { .run = accept_all };
	sennit_task       yielder = { .run = yield_for_ever };

	server_begin();
	listener.serve = serve;
	if (!strcmp(mode, "fan-out")) {
		listener.serve = serve_by_asking;
		upstream_port = (uint16_t)atoi(argv[3]);
	}
	listener.limited = !strcmp(mode, "deadlines");
	if (!strcmp(mode, "read")) {
		first.run = read_all;
		first.argument = argv[3];
	}
	server_check(
		!sennit_scheduler_create(
			&s,
			SENNIT_CONFIG(.workers = workers,
				      .placement = SENNIT_PLACEMENT_SPREAD)) &&
			!sennit_schedule_task_on(s, &first),
		"sennit");
	if (!strcmp(mode, "yielder"))
		server_check(!sennit_schedule_task_on(s, &yielder), "sennit");
	if (first.run == accept_all)
		pause();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
