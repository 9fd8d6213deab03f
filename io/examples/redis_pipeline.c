/* SPDX-License-Identifier: Apache-2.0 */
#include "redis_pipeline.h"

#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define QUEUED    256         /* requests that wait for the writer */
#define IN_FLIGHT 1024        /* and for their replies */
#define BATCH     (64 * 1024) /* bytes that one call sends, at most */

/* A server that answers nothing for so long is lost. */
#define PATIENCE (30 * SENNIT_SECOND)

/* The reply comes even when the caller has given up. So the caller and the
 * connection have a reference each. */
struct request {
	sennit_future answered; /* with a redisReply */
	atomic_int    references;
	bool          taken;   /* the caller has the reply */
	char         *command; /* of hiredis's memory */
	size_t        size;
};

/* --- requests ----------------------------------------------------------- */

static struct request *make_request(const char *format, va_list arguments)
{
	struct request *r = calloc(1, sizeof(*r));
	int             n;

	if (!r)
		return NULL;
	n = redisvFormatCommand(&r->command, format, arguments);
	if (n < 0) {
		free(r);
		return NULL;
	}
	r->size = (size_t)n;
	atomic_init(&r->references, 2);
	return r;
}

static void release(struct request *r)
{
	void *late;

	if (atomic_fetch_sub(&r->references, 1) > 1)
		return;
	if (!r->taken && !sennit_future_get_until(&r->answered, &late, 0))
		freeReplyObject(late);
	redisFreeCommand(r->command);
	free(r);
}

int redis_ask(struct connection *c, redisReply **reply, sennit_time deadline,
	      const char *format, ...)
{
	struct request *r;
	va_list         arguments;
	void           *value;
	int             err;

	va_start(arguments, format);
	r = make_request(format, arguments);
	va_end(arguments);
	if (!r)
		return -ENOMEM;
	err = sennit_channel_send_until(&c->queued, &r, deadline);
	if (err) {
		atomic_store(&r->references, 1); /* the connection has none */
		sennit_future_set_error(&r->answered, err);
	} else {
		err = sennit_future_get_until(&r->answered, &value, deadline);
	}
	r->taken = !err;
	release(r);
	if (err)
		return err;
	*reply = value;
	return 0;
}

/* --- the writer --------------------------------------------------------- */

struct batch {
	struct connection *c;
	size_t             used;
	bool               broken; /* nothing can be sent any more */
	char               bytes[BATCH];
};

/* A failure is the reader's to report: it sees the end of the connection. */
static void flush(struct batch *b)
{
	size_t done = 0;

	while (done < b->used && !b->broken) {
		ptrdiff_t n = sennit_send(b->c->fd, b->bytes + done,
					  b->used - done, 0,
					  sennit_after(PATIENCE));

		atomic_fetch_add(&b->c->sends, 1);
		b->broken = n < 0;
		done += n > 0 ? (size_t)n : 0;
	}
	if (b->broken)
		sennit_shutdown(b->c->fd, SHUT_RDWR);
	b->used = 0;
}

static void put(struct batch *b, const char *bytes, size_t size)
{
	while (size) {
		size_t room = BATCH - b->used;
		size_t n = size < room ? size : room;

		memcpy(b->bytes + b->used, bytes, n);
		b->used += n;
		bytes += n;
		size -= n;
		if (b->used == BATCH)
			flush(b);
	}
}

/* The next request. When there is none, fibers that can run may ask before the
 * batch goes: then it costs one call for all of them. */
static int next_request(struct batch *b, struct request **r)
{
	sennit_channel *queued = &b->c->queued;
	int             err = sennit_channel_receive_until(queued, r, 0);

	if (err != -ETIMEDOUT)
		return err;
	sennit_yield();
	err = sennit_channel_receive_until(queued, r, 0);
	if (err != -ETIMEDOUT)
		return err;
	flush(b);
	return sennit_channel_receive(queued, r);
}

/* Ends when `queued` is closed and empty. Each request goes to the reader, also
 * when it could not be sent; from then on it may be freed at any time. */
static int write_requests(void *argument)
{
	struct connection *c = argument;
	struct batch      *b = malloc(sizeof(*b));
	struct request    *r;

	if (!b) {
		sennit_channel_close(&c->queued);
		sennit_channel_close(&c->in_flight);
		return -ENOMEM;
	}
	b->c = c;
	b->used = 0;
	b->broken = false;
	while (!next_request(b, &r)) {
		put(b, r->command, r->size);
		if (!sennit_channel_send_until(&c->in_flight, &r, 0))
			continue;
		flush(b); /* it is full: only replies make room */
		(void)!sennit_channel_send(&c->in_flight, &r);
	}
	flush(b);
	sennit_channel_close(&c->in_flight);
	free(b);
	return 0;
}

/* --- the reader --------------------------------------------------------- */

static int next_reply(struct connection *c, redisReader *reader, void **reply)
{
	char bytes[8192];

	*reply = NULL;
	for (;;) {
		ptrdiff_t n;

		if (redisReaderGetReply(reader, reply)) {
			fprintf(stderr, "redis: %s\n", reader->errstr);
			return -EPROTO;
		}
		if (*reply)
			return 0;
		n = sennit_recv(c->fd, bytes, sizeof(bytes), 0,
				sennit_after(PATIENCE));
		if (n <= 0)
			return n ? (int)n : -ECONNRESET;
		if (redisReaderFeed(reader, bytes, (size_t)n))
			return -ENOMEM;
	}
}

/* Gives each request its reply, or the error that ended the connection. Ends
 * when `in_flight` is closed and empty. */
static int read_replies(void *argument)
{
	struct connection *c = argument;
	redisReader       *reader = redisReaderCreate();
	struct request    *r;
	void              *reply;
	int                err = reader ? 0 : -ENOMEM;

	while (!sennit_channel_receive(&c->in_flight, &r)) {
		err = err ? err : next_reply(c, reader, &reply);
		if (!err) {
			sennit_future_set(&r->answered, reply);
		} else {
			sennit_channel_close(&c->queued); /* -EPIPE */
			sennit_shutdown(c->fd, SHUT_RDWR);
			sennit_future_set_error(&r->answered, err);
		}
		release(r);
	}
	if (reader)
		redisReaderFree(reader);
	return err;
}

/* --- the connection ----------------------------------------------------- */

static int open_socket(const char *path, sennit_time deadline)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int                fd, err;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = sennit_connect(fd, (struct sockaddr *)&to, sizeof(to), deadline);
	if (err)
		sennit_close(fd);
	return err ? err : fd;
}

int redis_connect(struct connection *c, const char *path, sennit_time deadline)
{
	const uint32_t size = sizeof(struct request *);
	int            err;

	*c = (struct connection){ .fd = open_socket(path, deadline) };
	if (c->fd < 0)
		return c->fd;
	err = sennit_channel_init(&c->queued, QUEUED, size, NULL);
	if (!err)
		err = sennit_channel_init(&c->in_flight, IN_FLIGHT, size, NULL);
	sennit_group_init(&c->fibers, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	if (!err)
		err = sennit_group_spawn(&c->fibers, write_requests, c);
	if (!err)
		err = sennit_group_spawn(&c->fibers, read_replies, c);
	if (err)
		redis_disconnect(c);
	return err;
}

int redis_disconnect(struct connection *c)
{
	int err;

	sennit_channel_close(&c->queued);
	err = sennit_group_wait(&c->fibers);
	sennit_channel_destroy(&c->queued);
	sennit_channel_destroy(&c->in_flight);
	sennit_close(c->fd);
	return err;
}
