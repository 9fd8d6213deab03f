/* SPDX-License-Identifier: Apache-2.0 */
/* sendfile_calls.c - how often sennit_sendfile() calls fstat() for its
 * descriptors. fstat() is replaced, and counts.
 */
#include "operations.h"

#include <sys/stat.h>

static atomic_uint asked;

int fstat(int fd, struct stat *s)
{
	atomic_fetch_add(&asked, 1);
	return fstatat(fd, "", s, AT_EMPTY_PATH);
}

/* A connection that the library has accepted or connected. */
static int open_known(int fds[2])
{
	int accepted;

	open_listener(fds);
	connect_to_listener(fds);
	accepted = sennit_accept(fds[0], NULL, NULL, SOCK_CLOEXEC,
				 SENNIT_NEVER);
	must(accepted >= 0, "sennit_accept");
	return accepted;
}

enum { SIZE = 100 };

static int open_cached_file(void)
{
	static const char bytes[SIZE];
	int               fd = memfd_create("file", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, bytes, SIZE) == SIZE, "memfd_create");
	return fd;
}

static void send_twice(void *unused)
{
	int      fds[2];
	int      to = open_known(fds);
	int      file = open_cached_file();
	unsigned before;
	int64_t  at = 0;

	(void)unused;
	EXPECT(sennit_sendfile(to, file, &at, SIZE, SENNIT_NEVER) == SIZE);
	at = 0;
	before = atomic_load(&asked);
	EXPECT(sennit_sendfile(to, file, &at, SIZE, SENNIT_NEVER) == SIZE);
	EXPECT(at == SIZE);
	EXPECT(atomic_load(&asked) == before + 1); /* for the file */
	close(file);
	EXPECT(sennit_close(to) == 0);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_WORKERS(a_known_socket_is_not_asked_what_it_is)
{
	send_twice(NULL);
	in_a_task(send_twice, NULL);
	in_a_thread(send_twice, NULL);
}

USES_BACKEND;
