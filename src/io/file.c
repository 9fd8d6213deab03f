/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - requests that may always wait: see docs/design/io.md, Files. */
#include "sennit/file.h"

#include "io/linux_calls.h"
#include "io/perform.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* --- opening ------------------------------------------------------------ */

static ptrdiff_t block_open(const struct io_request *r)
{
	return sn_io_or_error(openat(r->fd, r->path, r->flags, r->mode));
}

int sennit_openat(int dir, const char *path, int flags, mode_t mode,
		  sennit_time deadline)
{
	const struct io_request r = { .block = block_open,
				      .kind = IO_OPENAT,
				      .fd = dir,
				      .flags = flags,
				      .path = path,
				      .mode = mode };

	return (int)sn_io_do_blocking(&r, deadline);
}

int sennit_open(const char *path, int flags, mode_t mode, sennit_time deadline)
{
	return sennit_openat(AT_FDCWD, path, flags, mode, deadline);
}

/* --- what is in a file -------------------------------------------------- */

/* A flag of io_uring's for fsync, and of this request. */
#define DATA_ONLY 1

static ptrdiff_t block_fsync(const struct io_request *r)
{
	return sn_io_or_error(r->flags & DATA_ONLY ? fdatasync(r->fd)
						   : fsync(r->fd));
}

static int sync_file(int fd, int flags, sennit_time deadline)
{
	const struct io_request r = {
		.block = block_fsync, .kind = IO_FSYNC, .fd = fd, .flags = flags
	};

	return (int)sn_io_do_blocking(&r, deadline);
}

int sennit_fsync(int fd, sennit_time deadline)
{
	return sync_file(fd, 0, deadline);
}

int sennit_fdatasync(int fd, sennit_time deadline)
{
	return sync_file(fd, DATA_ONLY, deadline);
}

static ptrdiff_t block_ftruncate(const struct io_request *r)
{
	return sn_io_or_error(ftruncate(r->fd, r->length));
}

/* By io_uring from Linux 6.9 on, and liburing 2.6: not yet. */
int sennit_ftruncate(int fd, off_t size, sennit_time deadline)
{
	const struct io_request r = { .block = block_ftruncate,
				      .fd = fd,
				      .length = size };

	return (int)sn_io_do_blocking(&r, deadline);
}

static ptrdiff_t block_statx(const struct io_request *r)
{
	return sn_io_or_error(statx(r->fd, r->path, r->flags, r->mask, r->out));
}

int sennit_statx(int dir, const char *path, int flags, unsigned mask,
		 struct statx *out, sennit_time deadline)
{
	const struct io_request r = { .block = block_statx,
				      .kind = IO_STATX,
				      .fd = dir,
				      .flags = flags,
				      .path = path,
				      .mask = mask,
				      .out = out };

	return (int)sn_io_do_blocking(&r, deadline);
}

/* --- names -------------------------------------------------------------- */

static ptrdiff_t block_unlink(const struct io_request *r)
{
	return sn_io_or_error(unlinkat(r->fd, r->path, r->flags));
}

int sennit_unlinkat(int dir, const char *path, int flags, sennit_time deadline)
{
	const struct io_request r = { .block = block_unlink,
				      .kind = IO_UNLINKAT,
				      .fd = dir,
				      .flags = flags,
				      .path = path };

	return (int)sn_io_do_blocking(&r, deadline);
}

static ptrdiff_t block_rename(const struct io_request *r)
{
	return sn_io_or_error(renameat(r->fd, r->path, r->to_dir, r->to_path));
}

int sennit_renameat(int dir, const char *path, int to_dir, const char *to_path,
		    sennit_time deadline)
{
	const struct io_request r = { .block = block_rename,
				      .kind = IO_RENAMEAT,
				      .fd = dir,
				      .path = path,
				      .to_path = to_path,
				      .to_dir = to_dir };

	return (int)sn_io_do_blocking(&r, deadline);
}

static ptrdiff_t block_mkdir(const struct io_request *r)
{
	return sn_io_or_error(mkdirat(r->fd, r->path, r->mode));
}

int sennit_mkdirat(int dir, const char *path, mode_t mode, sennit_time deadline)
{
	const struct io_request r = { .block = block_mkdir,
				      .kind = IO_MKDIRAT,
				      .fd = dir,
				      .path = path,
				      .mode = mode };

	return (int)sn_io_do_blocking(&r, deadline);
}
