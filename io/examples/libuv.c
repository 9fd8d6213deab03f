/* SPDX-License-Identifier: Apache-2.0 */
/* libuv.c - a libuv loop inside a scheduler: one fiber runs it whenever its
 * descriptor is ready or its next timer is due, and no thread is set aside.
 *
 *	libuv [clients [rounds]]
 *
 * The loop has a TCP server that echoes, a timer, and an async handle. Fibers
 * on any worker are its clients, wait for its timer by a semaphore, and ask it
 * something by uv_async_send, the one call of libuv for other threads. The rest
 * of libuv's calls are made in the loop's fiber alone: its callbacks run there.
 *
 * A callback must not wait. One that has to, schedules a task.
 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define PATIENCE (60 * SENNIT_SECOND)
#define TICK_MS  5
#define TICKS    20 /* that a fiber waits for */

static int clients = 64;
static int rounds = 20;

/* --- the loop in a fiber ------------------------------------------------ */

/* How often the fiber went round, which shows a busy loop. */
static long turns;

/* Memory of a handle that `data` points to is its own. */
static void free_handle(uv_handle_t *h)
{
	free(h->data);
}

static void close_handle(uv_handle_t *h, void *unused)
{
	(void)unused;
	if (!uv_is_closing(h))
		uv_close(h, free_handle);
}

/* What uv_run(loop, UV_RUN_DEFAULT) does, except that the fiber waits and not
 * the thread. The timeout is 0 as long as the loop has something to do at once,
 * also while callbacks have begun to watch descriptors that the kernel does not
 * know yet. So no event is missed. When the fiber's group is cancelled, it
 * closes all handles and lets their callbacks run. Ends when nothing is active
 * in the loop any more. */
static int run_loop(void *argument)
{
	uv_loop_t  *loop = argument;
	sennit_time never = SENNIT_NEVER;
	int         err = 0;

	while (uv_run(loop, UV_RUN_NOWAIT)) {
		int      ms = uv_backend_timeout(loop);
		uint64_t ns = ms > 0 ? (uint64_t)ms * SENNIT_MILLISECOND : 0;
		int      n;

		turns++;
		if (!ms) {
			sennit_yield(); /* idle handles keep it at 0 */
			continue;
		}
		n = sennit_poll(uv_backend_fd(loop), POLLIN,
				ms < 0 ? never : sennit_after(ns));
		if (n < 0 && n != -ETIMEDOUT && !err) {
			err = n;
			never = SENNIT_UNCANCELLED;
			uv_walk(loop, close_handle, NULL);
		}
	}
	return err;
}

/* --- a server in libuv -------------------------------------------------- */

static long echoed; /* bytes; of the loop's fiber */

struct reply {
	uv_write_t request; /* first */
	uv_buf_t   bytes;
};

static void allocate(uv_handle_t *h, size_t size, uv_buf_t *buffer)
{
	(void)h;
	*buffer = uv_buf_init(malloc(size), (unsigned)size);
}

static void has_written(uv_write_t *request, int status)
{
	struct reply *r = (struct reply *)request;

	if (status)
		close_handle((uv_handle_t *)request->handle, NULL);
	free(r->bytes.base);
	free(r);
}

static void has_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buffer)
{
	struct reply *r = n > 0 ? malloc(sizeof(*r)) : NULL;

	if (r) {
		r->bytes = uv_buf_init(buffer->base, (unsigned)n);
		echoed += n;
		if (!uv_write(&r->request, s, &r->bytes, 1, has_written))
			return;
		free(r);
	}
	free(buffer->base);
	if (n) /* the end, an error, or no memory; 0: nothing to read yet */
		close_handle((uv_handle_t *)s, NULL);
}

static void has_connection(uv_stream_t *listener, int status)
{
	uv_tcp_t *c = status ? NULL : malloc(sizeof(*c));

	if (!c)
		return;
	uv_tcp_init(listener->loop, c);
	c->data = c;
	if (uv_accept(listener, (uv_stream_t *)c) ||
	    uv_read_start((uv_stream_t *)c, allocate, has_read))
		close_handle((uv_handle_t *)c, NULL);
}

static struct sockaddr_in address;

static int start_server(uv_loop_t *loop, uv_tcp_t *listener)
{
	int size = sizeof(address);
	int err;

	uv_ip4_addr("127.0.0.1", 0, &address);
	err = uv_tcp_init(loop, listener);
	listener->data = NULL;
	if (!err)
		err = uv_tcp_bind(listener, (struct sockaddr *)&address, 0);
	if (!err)
		err = uv_listen((uv_stream_t *)listener, 1024, has_connection);
	if (!err)
		err = uv_tcp_getsockname(listener, (struct sockaddr *)&address,
					 &size);
	return err;
}

/* --- a timer ------------------------------------------------------------ */

static sennit_semaphore ticks;
static long             ticked; /* of the loop's fiber */

static void tick(uv_timer_t *unused)
{
	(void)unused;
	ticked++;
	sennit_semaphore_release(&ticks,
				 1); /* never waits: fit for callbacks */
}

/* --- questions to the loop ---------------------------------------------- */

/* What the loop's fiber knows, at one moment. */
struct counts {
	long echoed, ticked, turns;
};

struct question {
	struct counts counts;
	sennit_future answered;
};

static struct question *asked[64];
static sennit_channel   questions = SENNIT_CHANNEL_INIT_ARRAY(asked);
static uv_async_t       async;

/* Several uv_async_send may have become one callback. */
static void answer(uv_async_t *unused)
{
	struct question *q;

	(void)unused;
	while (!sennit_channel_receive_until(&questions, &q, 0)) {
		q->counts = (struct counts){ echoed, ticked, turns };
		sennit_future_set(&q->answered, NULL); /* q may be gone */
	}
}

/* From any fiber. The question is in its frame, so nothing ends the wait: the
 * loop runs as long as there are questions. */
static struct counts ask_loop(void)
{
	struct question  q = { .answered = SENNIT_FUTURE_INIT };
	struct question *p = &q;

	/* It is never closed. */
	(void)!sennit_channel_send_until(&questions, &p, SENNIT_UNCANCELLED);
	uv_async_send(&async);
	(void)!sennit_future_wait_until(&q.answered, SENNIT_UNCANCELLED);
	return q.counts;
}

/* --- fibers ------------------------------------------------------------- */

static int exchange(int fd, char letter)
{
	char   bytes[100], back[100];
	size_t have = 0;

	memset(bytes, letter, sizeof(bytes));
	if (sennit_send(fd, bytes, sizeof(bytes), 0, sennit_after(PATIENCE)) !=
	    sizeof(bytes))
		return -EIO;
	while (have < sizeof(back)) {
		ptrdiff_t n = sennit_recv(fd, back + have, sizeof(back) - have,
					  0, sennit_after(PATIENCE));

		if (n <= 0)
			return n ? (int)n : -ECONNRESET;
		have += (size_t)n;
	}
	return memcmp(bytes, back, sizeof(bytes)) ? -EBADMSG : 0;
}

static int talk(void *argument)
{
	int  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long wanted = rounds * 100L;
	int  err;

	if (fd < 0)
		return -errno;
	err = sennit_connect(fd, (struct sockaddr *)&address, sizeof(address),
			     sennit_after(PATIENCE));
	for (int i = 0; i < rounds && !err; i++)
		err = exchange(
			fd, (char)('a' + (i + (int)(intptr_t)argument) % 26));
	if (!err && ask_loop().echoed < wanted)
		err = -EBADMSG;
	sennit_close(fd);
	return err;
}

/* Waits for some ticks, in which the loop does nothing else. A loop that goes
 * round without events does so a hundred times per tick. */
static int await_ticks(void)
{
	struct counts before = ask_loop(), after;
	int           err = 0;

	for (int i = 0; i < TICKS && !err; i++) {
		while (!sennit_semaphore_acquire_until(&ticks, 1, 0))
			; /* of before */
		err = sennit_semaphore_acquire_until(&ticks, 1,
						     sennit_after(PATIENCE));
	}
	after = ask_loop();
	after.ticked -= before.ticked;
	after.turns -= before.turns;
	printf("%ld turns of the loop in %ld ticks\n", after.turns,
	       after.ticked);
	if (after.turns > 10 * after.ticked + 2 * clients + 20)
		err = -EBADMSG;
	return err;
}

static int run_clients(void)
{
	sennit_group g;
	int          err = 0, ended;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < clients && !err; i++)
		err = sennit_group_spawn(&g, talk, (void *)(intptr_t)i);
	ended = sennit_group_wait(&g);
	return ended ? ended : err;
}

static int run(uv_loop_t *loop)
{
	uv_tcp_t     listener;
	uv_timer_t   timer = { .data = NULL };
	sennit_group driver;
	int          err = start_server(loop, &listener);

	err = err ? err : uv_async_init(loop, &async, answer);
	err = err ? err : uv_timer_init(loop, &timer);
	err = err ? err : uv_timer_start(&timer, tick, TICK_MS, TICK_MS);
	sennit_group_init(&driver, SENNIT_NEVER, 0);
	err = err ? err : sennit_group_spawn(&driver, run_loop, loop);
	err = err ? err : run_clients();
	err = err ? err : await_ticks();
	sennit_group_cancel(&driver);
	sennit_group_wait(&driver); /* it says that it was cancelled */
	return err;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	uv_loop_t         loop;
	int               err;

	signal(SIGPIPE, SIG_IGN); /* libuv writes to peers that have gone */
	clients = argc > 1 ? atoi(argv[1]) : clients;
	rounds = argc > 2 ? atoi(argv[2]) : rounds;
	if (uv_loop_init(&loop) || sennit_scheduler_create(&s, NULL) ||
	    sennit_thread_bind(s))
		return 1;
	err = run(&loop);
	printf("%ld bytes echoed, by %s\n", echoed, sennit_io_backend());
	if (err)
		fprintf(stderr, "libuv: %s\n", sennit_strerror(err));
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER) || uv_loop_close(&loop))
		return 1;
	return err || echoed != clients * rounds * 100L;
}
