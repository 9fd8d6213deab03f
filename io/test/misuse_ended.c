/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_ended.c - readers, signals, watches, descriptors and the groups of a
 * listener after they were ended: ending them again, and using them. */
#include "operations.h"

#include "testing/misuse.h"

#include "sennit/listen.h"
#include "sennit/reader.h"
#include "sennit/signals.h"
#include "sennit/watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

/* --- misuse --------------------------------------------------------------- */

MISUSE_TEST(a_reader_that_has_ended_does_not_read, "sennit_reader_destroy")
{
	sennit_reader r;
	char         *line;
	int           fds[2];

	open_sockets(fds);
	sennit_reader_init(&r, fds[0], NULL, 100);
	sennit_reader_destroy(&r);
	sennit_reader_destroy(&r);
	(void)!sennit_reader_read_line(&r, &line, 0);
}

static void serve_nobody(void *unused, int fd)
{
	(void)unused;
	(void)sennit_close(fd);
}

MISUSE_TEST(a_group_that_has_ended_does_not_listen, "sennit_group_spawn")
{
	sennit_group acceptors, connections;
	const int    fd = socket(AF_INET, SOCK_STREAM, 0);

	if (listen(fd, 1))
		_exit(4);
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	sennit_group_wait(&acceptors);
	(void)!sennit_listen_each(fd, &acceptors, &connections, serve_nobody,
				  NULL);
}

/* --- what is allowed ------------------------------------------------------ */

TEST_WITH_WORKERS(closing_nothing_does_nothing)
{
	(void)w;
	sennit_signals_close(NULL);
	sennit_watch_close(NULL);
}

TEST_WITH_WORKERS(a_descriptor_is_closed_once)
{
	int fds[2];

	(void)w;
	open_sockets(fds);
	assert_int_equal(sennit_close(fds[0]), 0);
	assert_int_equal(sennit_close(fds[0]), -EBADF);
	assert_int_equal(sennit_close(fds[1]), 0);
}

USES_BACKEND;
