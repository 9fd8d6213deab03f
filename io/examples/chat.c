/* SPDX-License-Identifier: Apache-2.0 */
/* chat.c - a chat server: chat ADDRESS. A client's first line is its name; each
 * further one goes to all. A client that does not read delays no other, and is
 * disconnected when it is KEPT lines behind. At SIGTERM the server sends what
 * it has to all clients, and ends. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/buffer.h>
#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/reader.h>
#include <sennit/serve.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#define PATIENCE (10 * SENNIT_SECOND)
enum { KEPT = 512, NAME = 24, TEXT = 256 };

static sennit_mutex   lock = SENNIT_MUTEX_INIT;
static sennit_cond    more = SENNIT_COND_INIT;
static sennit_buffer *lines[KEPT]; /* under the lock: the last ones */
static uint64_t       said;        /* under the lock: how many there were */
static bool           stopping;    /* under the lock */
static sigset_t       ends;        /* SIGTERM */

static void say(const char *name, const char *text)
{
	char           line[NAME + TEXT];
	sennit_buffer *b;
	int            n = snprintf(line, sizeof(line), "%s: %s\n", name, text);

	if (sennit_buffer_create(&b, line, (size_t)n))
		return;
	sennit_mutex_lock(&lock);
	sennit_buffer_release(lines[said % KEPT]);
	lines[said++ % KEPT] = b;
	sennit_mutex_unlock(&lock);
	sennit_cond_notify_all(&more);
	sennit_yield(); /* to the fibers that send it */
}

/* A client's second fiber: sends it what is said from now on. It holds the lock
 * except while it sends or waits. */
static int tell(void *argument)
{
	sennit_buffer *line;
	uint64_t       at;
	int            fd = *(int *)argument;
	int            err = sennit_buffer_create(&line, "hello\n", 6);

	sennit_mutex_lock(&lock);
	for (at = said; !err; at++) {
		sennit_mutex_unlock(&lock);
		err = sennit_send_all(fd, sennit_buffer_data(line),
				      sennit_buffer_size(line), 0, NULL,
				      sennit_after(PATIENCE));
		sennit_buffer_release(line);
		sennit_mutex_lock(&lock);
		while (!err && at == said)
			err = stopping ? -ENODATA
				       : sennit_cond_wait(&more, &lock);
		if (!err && said - at > KEPT)
			err = -EOVERFLOW;
		if (!err)
			line = sennit_buffer_retain(lines[at % KEPT]);
	}
	sennit_mutex_unlock(&lock);
	return sennit_shutdown(fd, SHUT_RDWR);
}

static void serve(void *unused, int fd)
{
	char          room[TEXT - 3], name[NAME], *line;
	sennit_reader r;
	sennit_group  g;

	(void)unused;
	sennit_reader_init(&r, fd, room, sizeof(room));
	sennit_group_init(&g, SENNIT_NEVER, 0);
	if (!sennit_group_spawn(&g, tell, &fd) &&
	    sennit_reader_read_line(&r, &line, sennit_after(PATIENCE)) > 0) {
		snprintf(name, sizeof(name), "%s", line);
		while (sennit_reader_read_line(&r, &line, SENNIT_NEVER) >= 0)
			say(name, line);
	}
	sennit_group_cancel(&g);
	sennit_group_wait(&g);
	sennit_close(fd);
}

static void stop(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&lock);
	stopping = true;
	sennit_mutex_unlock(&lock);
	sennit_cond_notify_all(&more);
}

static int program(void *address)
{
	return sennit_serve(
		sennit_listen_at(address, 0, SENNIT_NEVER), serve, NULL,
		SENNIT_SERVE_OPTIONS(.signals = &ends, .stopping = stop,
				     .patience = 3 * PATIENCE));
}

int main(int argc, char **argv)
{
	int result;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL); /* before there are threads */
	return sennit_run(program, argc > 1 ? argv[1] : ":7000", NULL,
			  &result) ||
	       result;
}
