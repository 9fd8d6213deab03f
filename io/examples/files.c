/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - make a folder and a file in it, write several pieces, copy it
 * without a buffer, give it another name, and remove all of it.
 */
#include "../calls/calls.h"

#include <fcntl.h>
#include <linux/stat.h> /* struct statx, which musl has not */
#include <sennit/file.h>
#include <sennit/io.h>
#include <sennit/splice.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_pieces(int dir)
{
	const struct iovec pieces[] = { { "hello ", 6 }, { "world\n", 6 } };
	char               first[6], second[6];
	const struct iovec room[] = { { first, 6 }, { second, 6 } };
	int                fd;

	fd = sennit_openat(dir, "new", O_CREAT | O_RDWR | O_CLOEXEC, 0600,
			   SENNIT_NEVER);
	CHECK(fd >= 0);
	CHECK(sennit_writev(fd, pieces, 2, SENNIT_NEVER) == 12);
	CHECK(sennit_pwrite(fd, "H", 1, 0, SENNIT_NEVER) == 1);
	CHECK(sennit_fdatasync(fd, SENNIT_NEVER) == 0);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(sennit_readv(fd, room, 2, SENNIT_NEVER) == 12);
	CHECK(memcmp(first, "Hello ", 6) == 0);
	CHECK(sennit_ftruncate(fd, 5, SENNIT_NEVER) == 0);
	CHECK(sennit_fsync(fd, SENNIT_NEVER) == 0);
	CHECK(sennit_close(fd) == 0);
}

/* The kernel moves the bytes: from a file into a pipe, and from there. */
static void move(int dir)
{
	char    text[16];
	int64_t at = 0;
	int     pipe_fds[2], fd;

	fd = sennit_openat(dir, "new", O_RDONLY | O_CLOEXEC, 0, SENNIT_NEVER);
	CHECK(fd >= 0 && pipe(pipe_fds) == 0);
	CHECK(sennit_splice(fd, &at, pipe_fds[1], NULL, 2, 0, SENNIT_NEVER) ==
	      2);
	CHECK(sennit_sendfile(pipe_fds[1], fd, &at, 100, SENNIT_NEVER) == 3);
	CHECK(sennit_read(pipe_fds[0], text, sizeof(text), SENNIT_NEVER) == 5);
	CHECK(memcmp(text, "Hello", 5) == 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	close(fd);
}

static void show(sennit_scheduler *s)
{
	char         folder[] = "/tmp/sennit-files-XXXXXX";
	struct statx known;
	int          top, dir;

	(void)s;
	CHECK(mkdtemp(folder));
	top = sennit_open(folder, O_DIRECTORY | O_CLOEXEC, 0, SENNIT_NEVER);
	CHECK(top >= 0);
	CHECK(sennit_mkdirat(top, "inside", 0700, SENNIT_NEVER) == 0);
	dir = sennit_openat(top, "inside", O_DIRECTORY | O_CLOEXEC, 0,
			    SENNIT_NEVER);
	CHECK(dir >= 0);
	write_pieces(dir);
	move(dir);
	CHECK(sennit_renameat(dir, "new", dir, "old", SENNIT_NEVER) == 0);
	CHECK(sennit_statx(dir, "old", 0, STATX_SIZE, &known, SENNIT_NEVER) ==
	      0);
	CHECK(known.stx_size == 5);
	CHECK(sennit_unlinkat(dir, "old", 0, SENNIT_NEVER) == 0);
	close(dir);
	CHECK(sennit_unlinkat(top, "inside", AT_REMOVEDIR, SENNIT_NEVER) == 0);
	close(top);
	CHECK(sennit_unlinkat(AT_FDCWD, folder, AT_REMOVEDIR, SENNIT_NEVER) ==
	      0);
}

int main(void)
{
	return run(show);
}
