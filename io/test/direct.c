/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c - files that are opened with O_DIRECT: reads and writes wait for the
 * disc, but never on a worker's thread.
 *
 * preadv2() and pwritev2() of libc are replaced. The library calls them with
 * RWF_NOWAIT on a worker's thread. With O_DIRECT they would wait there
 * nevertheless.
 */
#include "operations.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { BLOCK = 4096 };

static atomic_int on_direct; /* calls that would wait */

static void note(int fd)
{
	if (fcntl(fd, F_GETFL) & O_DIRECT)
		atomic_fetch_add(&on_direct, 1);
}

/* Not every libc declares them. */
ssize_t preadv2(int fd, const struct iovec *v, int count, off_t at, int flags);
ssize_t pwritev2(int fd, const struct iovec *v, int count, off_t at, int flags);

ssize_t preadv2(int fd, const struct iovec *v, int count, off_t at, int flags)
{
	note(fd);
	return plain_preadv2(fd, v, count, at, flags);
}

ssize_t pwritev2(int fd, const struct iovec *v, int count, off_t at, int flags)
{
	note(fd);
	return plain_pwritev2(fd, v, count, at, flags);
}

/* In the build folder, because /tmp may be a memory file system. */
static int open_file(int flags)
{
	char name[] = "direct-XXXXXX";
	int  fd = mkstemp(name);
	int  direct;

	must(fd >= 0, "mkstemp");
	direct = open(name, O_RDWR | O_CLOEXEC | flags);
	close(fd);
	unlink(name);
	return direct;
}

static void write_and_read(int fd)
{
	_Alignas(BLOCK) static char to[2 * BLOCK], from[2 * BLOCK];

	memset(from, 'x', sizeof(from));
	EXPECT(sennit_pwrite(fd, from, sizeof(from), 0, SENNIT_NEVER) ==
	       sizeof(from));
	EXPECT(sennit_pread(fd, to, BLOCK, BLOCK, SENNIT_NEVER) == BLOCK);
	EXPECT(!memcmp(to, from, BLOCK));
	EXPECT(sennit_write(fd, from, BLOCK, SENNIT_NEVER) == BLOCK);
	EXPECT(sennit_read(fd, to, sizeof(to), SENNIT_NEVER) == BLOCK);
}

static void use_direct(void *unused)
{
	int fd = open_file(O_DIRECT);

	(void)unused;
	if (fd < 0)
		return; /* the file system does not support O_DIRECT */
	atomic_store(&on_direct, 0);
	write_and_read(fd);
	EXPECT(atomic_load(&on_direct) == 0);
	close(fd);
}

TEST_WITH_WORKERS(no_worker_waits_for_the_disc)
{
	in_a_task(use_direct, NULL);
}

/* Direct I/O cannot read this size: the file system returns an error, or uses
 * the page cache. */
static void read_a_part(void *unused)
{
	_Alignas(BLOCK) static char to[BLOCK];
	int                         fd = open_file(O_DIRECT);
	ptrdiff_t                   n;

	(void)unused;
	if (fd < 0)
		return;
	must(!ftruncate(fd, BLOCK), "ftruncate");
	n = sennit_pread(fd, to + 1, 100, 1, SENNIT_NEVER);
	EXPECT(n == 100 || n == -EINVAL);
	close(fd);
}

TEST_WITH_WORKERS(what_is_not_aligned_is_refused_or_read)
{
	in_a_task(read_a_part, NULL);
}

/* On a pipe O_DIRECT means packet mode. */
static void use_packets(void *unused)
{
	_Alignas(BLOCK) static char to[BLOCK], from[BLOCK];
	int                         fds[2];

	(void)unused;
	must(!pipe2(fds, O_CLOEXEC | O_DIRECT), "pipe2");
	EXPECT(sennit_write(fds[1], from, 512, SENNIT_NEVER) == 512);
	EXPECT(sennit_write(fds[1], from, 512, SENNIT_NEVER) == 512);
	EXPECT(sennit_read(fds[0], to, sizeof(to), SENNIT_NEVER) == 512);
	EXPECT(sennit_read(fds[0], to, sizeof(to), SENNIT_NEVER) == 512);
	EXPECT(sennit_read(fds[0], to, sizeof(to), 0) == -ETIMEDOUT);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_WORKERS(packets_of_a_pipe_come_one_by_one)
{
	in_a_task(use_packets, NULL);
}

USES_BACKEND;
