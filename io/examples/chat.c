/* SPDX-License-Identifier: Apache-2.0 */
/* chat.c - a chat server: chat ADDRESS. A client's first line is its name; each
 * further one goes to all. A client that does not read delays no other, and is
 * disconnected when it is KEPT lines behind. At SIGTERM the server sends what
 * it has to all clients, and ends. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>
#include <sennit/reader.h>
#include <sennit/signals.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE (10 * SENNIT_SECOND)
enum { KEPT = 64, NAME = 24, TEXT = 256, LINE = NAME + TEXT };

static sennit_mutex lock = SENNIT_MUTEX_INIT;
static sennit_cond  more = SENNIT_COND_INIT;
static char         lines[KEPT][LINE]; /* under the lock: the last ones */
static uint64_t     said;              /* under the lock: how many there were */
static bool         stopping;          /* under the lock */
static sigset_t     ends;              /* SIGTERM */

static void say(const char *name, const char *text)
{
	sennit_mutex_lock(&lock);
	snprintf(lines[said++ % KEPT], LINE, "%s: %s\n", name, text);
	sennit_mutex_unlock(&lock);
	sennit_cond_notify_all(&more);
}

/* Wait for line number *at. A negative errno: this client gets no more. */
static int await_line(uint64_t *at, char *line)
{
	int err = 0;

	sennit_mutex_lock(&lock);
	while (!err && *at == said)
		err = stopping ? -ENODATA : sennit_cond_wait(&more, &lock);
	if (!err && said - *at > KEPT)
		err = -EOVERFLOW;
	if (!err)
		memcpy(line, lines[(*at)++ % KEPT], LINE);
	sennit_mutex_unlock(&lock);
	return err;
}

/* A client's second fiber: sends it what is said from now on. */
static int tell(void *argument)
{
	char     line[LINE] = "hello\n";
	int      fd = *(int *)argument;
	uint64_t at;

	sennit_mutex_lock(&lock);
	at = said;
	sennit_mutex_unlock(&lock);
	while (!sennit_send_all(fd, line, strlen(line), 0, NULL,
				sennit_after(PATIENCE)))
		if (await_line(&at, line))
			break;
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

static int program(void *address)
{
	sennit_group    acceptors, connections;
	sennit_signals *signals;
	int             err, fd = sennit_listen_at(address, 0, SENNIT_NEVER);

	if (fd < 0 || (err = sennit_signals_open(&signals, &ends)))
		return 1;
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	err = sennit_listen_each(fd, &acceptors, &connections, serve, NULL);
	if (!err)
		err = sennit_signals_wait(signals, NULL, SENNIT_NEVER);
	sennit_group_cancel(&acceptors);
	sennit_group_wait(&acceptors);
	sennit_mutex_lock(&lock);
	stopping = true;
	sennit_mutex_unlock(&lock);
	sennit_cond_notify_all(&more);
	sennit_group_wait(&connections);
	sennit_signals_close(signals);
	sennit_close(fd);
	return err != SIGTERM;
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
