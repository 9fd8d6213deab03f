/* SPDX-License-Identifier: Apache-2.0 */
/* redis.c - two hundred fibers that ask Redis over one connection; see
 * redis_pipeline.h.
 *
 *	redis SOCKET [fibers [requests of each]]
 */
#include "redis_pipeline.h"

#include <sennit/io.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE (30 * SENNIT_SECOND)

static struct connection shared;
static int               fibers = 200;
static int               rounds = 50;

static int ask_integer(long long *value, const char *command)
{
	redisReply *reply;
	int err = redis_ask(&shared, &reply, sennit_after(PATIENCE), command);

	if (err)
		return err;
	if (reply->type != REDIS_REPLY_INTEGER) {
		fprintf(stderr, "redis: %s: %s\n", command,
			reply->str ? reply->str : "no integer");
		err = -EBADMSG;
	}
	*value = reply->integer;
	freeReplyObject(reply);
	return err;
}

/* Expects the value that it sent, so that a reply to another request is
 * noticed. */
static int echo(int number, sennit_time deadline)
{
	redisReply *reply;
	int err = redis_ask(&shared, &reply, deadline, "ECHO %d", number);

	if (err)
		return err;
	if (reply->type != REDIS_REPLY_STRING || atoi(reply->str) != number)
		err = -EBADMSG;
	freeReplyObject(reply);
	return err;
}

static int count(void *argument)
{
	int       number = (int)(intptr_t)argument;
	long long total;
	int       err = 0;

	for (int i = 0; i < rounds && !err; i++) {
		err = ask_integer(&total, "INCR total");
		err = err ? err
			  : echo(number * rounds + i, sennit_after(PATIENCE));
	}
	return err;
}

static int in_all_fibers(sennit_member_fn *run)
{
	sennit_group g;
	int          err = 0, ended;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	for (int i = 0; i < fibers && !err; i++)
		err = sennit_group_spawn(&g, run, (void *)(intptr_t)i);
	ended = sennit_group_wait(&g);
	return err ? err : ended;
}

static int share_connection(void)
{
	long long before, after;
	long      requests = 2L * fibers * rounds;
	int       err = ask_integer(&before, "INCR total");

	err = err ? err : in_all_fibers(count);
	err = err ? err : ask_integer(&after, "INCR total");
	if (err)
		return err;
	printf("%ld requests, %ld sends\n", requests,
	       atomic_load(&shared.sends));
	return after - before - 1 == (long long)fibers * rounds ? 0 : -EBADMSG;
}

/* A late reply is dropped, and the next request gets its own. */
static int time_out(const char *path)
{
	struct connection other;
	redisReply       *reply;
	sennit_time       soon = sennit_after(20 * SENNIT_MILLISECOND);
	int               err, pushed;

	err = redis_ask(&shared, &reply, soon, "BLPOP gate 0");
	printf("a request after 20 ms: %s\n", sennit_strerror(err));
	if (err != -ETIMEDOUT)
		return -EBADMSG;
	err = redis_connect(&other, path, sennit_after(PATIENCE));
	if (err)
		return err;
	pushed = redis_ask(&other, &reply, sennit_after(PATIENCE),
			   "RPUSH gate late");
	if (!pushed)
		freeReplyObject(reply);
	err = redis_disconnect(&other);
	err = err ? err : pushed;
	return err ? err : echo(2, sennit_after(PATIENCE));
}

/* When the connection is lost, all pending requests fail. */
static int lose(void *argument)
{
	redisReply *reply;
	int         number = (int)(intptr_t)argument;
	int         err = 0;

	while (!err) {
		err = redis_ask(&shared, &reply, sennit_after(PATIENCE),
				number ? "PING"
				       : "CLIENT KILL TYPE normal SKIPME no");
		if (!err)
			freeReplyObject(reply);
	}
	return err == -ECONNRESET || err == -EPIPE ? 0 : err;
}

static int run(const char *path)
{
	int err = redis_connect(&shared, path, sennit_after(PATIENCE));
	int end;

	if (err)
		return err;
	err = share_connection();
	err = err ? err : time_out(path);
	err = err ? err : in_all_fibers(lose);
	end = redis_disconnect(&shared);
	printf("after the connection is lost: %s\n", sennit_strerror(end));
	return err;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	if (argc < 2) {
		fputs("redis SOCKET [fibers [requests of each]]\n", stderr);
		return 2;
	}
	fibers = argc > 2 ? atoi(argv[2]) : fibers;
	rounds = argc > 3 ? atoi(argv[3]) : rounds;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run(argv[1]);
	if (err)
		fprintf(stderr, "%s: %s\n", argv[1], sennit_strerror(err));
	printf("by %s\n", sennit_io_backend());
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}
