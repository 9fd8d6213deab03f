/* SPDX-License-Identifier: Apache-2.0 */
#include "io/engine/linux_calls.h"
#include "io/engine/perform.h"
#include "io/engine/request.h"
#include "io/simulated/network.h"
#include "sennit/file.h"
#include "sennit/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* No disc has smaller blocks, in bytes. */
#define LEAST_BLOCK 512u

/* --- files, pipes, anything --------------------------------------------- */

static bool reads(const struct io_request *r)
{
	return r->events == POLLIN;
}

/* What the kernel will not do with RWF_NOWAIT it may do for a socket, or for a
 * descriptor with O_NONBLOCK. */
static ptrdiff_t attempt_otherwise(const struct io_request *r)
{
	struct msghdr message = { .msg_iov = (void *)(uintptr_t)r->vector,
				  .msg_iovlen = (size_t)r->count };
	ptrdiff_t     result = -1;
	int           flags;

	if (r->at == IO_POSITION) {
		result = reads(r) ? recvmsg(r->fd, &message, MSG_DONTWAIT)
				  : sendmsg(r->fd, &message, MSG_DONTWAIT);
		if (result >= 0 || errno != ENOTSOCK)
			return sn_io_or_error(result);
	}
	flags = fcntl(r->fd, F_GETFL);
	if (flags < 0 || !(flags & O_NONBLOCK))
		return flags < 0 ? -errno : -EOPNOTSUPP;
	return r->block(r);
}

/* Whether r goes past the page cache: then RWF_NOWAIT waits for the disc all
 * the same. Memory, size and place must be multiples of the disc's blocks. */
static bool is_direct(const struct io_request *r)
{
	uintptr_t   place = r->at == IO_POSITION ? 0 : (uintptr_t)r->at;
	struct stat s;
	int         flags;

	if (r->count < 1 ||
	    (place | (uintptr_t)r->vector->iov_base | r->vector->iov_len) %
		    LEAST_BLOCK)
		return false;
	flags = fcntl(r->fd, F_GETFL);
	return flags >= 0 && flags & O_DIRECT && !fstat(r->fd, &s) &&
	       (S_ISREG(s.st_mode) || S_ISBLK(s.st_mode));
}

static ptrdiff_t attempt_vector(const struct io_request *r)
{
	ptrdiff_t result;

	if (is_direct(r))
		return -EOPNOTSUPP;
	result = reads(r) ? preadv2(r->fd, r->vector, r->count, r->at,
				    CALL_NO_WAIT)
			  : pwritev2(r->fd, r->vector, r->count, r->at,
				     CALL_NO_WAIT);
	if (result < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
		return attempt_otherwise(r);
	return sn_io_or_error(result);
}

static ptrdiff_t block_vector(const struct io_request *r)
{
	if (r->at == IO_POSITION)
		return sn_io_or_error(
			reads(r) ? readv(r->fd, r->vector, r->count)
				 : writev(r->fd, r->vector, r->count));
	return sn_io_or_error(
		reads(r) ? preadv(r->fd, r->vector, r->count, r->at)
			 : pwritev(r->fd, r->vector, r->count, r->at));
}

static ptrdiff_t transfer(enum io_kind kind, int fd, const struct iovec *v,
			  int count, off_t at, sennit_time deadline)
{
	const bool        is_read = kind == IO_READV;
	struct io_request r = {
		.attempt = attempt_vector,
		.block = block_vector,
		.kind = kind,
		.fd = fd,
		.events = is_read ? POLLIN : POLLOUT,
		.try_first = !is_read || at != IO_POSITION,
		.vector = v,
		.count = count,
		.at = at,
	};

	return sn_io_do(&r, deadline);
}

ptrdiff_t sennit_readv(int fd, const struct iovec *to, int count,
		       sennit_time deadline)
{
	return transfer(IO_READV, fd, to, count, IO_POSITION, deadline);
}

ptrdiff_t sennit_writev(int fd, const struct iovec *from, int count,
			sennit_time deadline)
{
	return transfer(IO_WRITEV, fd, from, count, IO_POSITION, deadline);
}

ptrdiff_t sennit_read(int fd, void *to, size_t size, sennit_time deadline)
{
	const struct iovec v = { to, size };

	return transfer(IO_READV, fd, &v, 1, IO_POSITION, deadline);
}

ptrdiff_t sennit_write(int fd, const void *from, size_t size,
		       sennit_time deadline)
{
	const struct iovec v = { (void *)(uintptr_t)from, size };

	return transfer(IO_WRITEV, fd, &v, 1, IO_POSITION, deadline);
}

ptrdiff_t sennit_pread(int fd, void *to, size_t size, off_t at,
		       sennit_time deadline)
{
	const struct iovec v = { to, size };

	if (at < 0)
		return -EINVAL;
	return transfer(IO_READV, fd, &v, 1, at, deadline);
}

ptrdiff_t sennit_pwrite(int fd, const void *from, size_t size, off_t at,
			sennit_time deadline)
{
	const struct iovec v = { (void *)(uintptr_t)from, size };

	if (at < 0)
		return -EINVAL;
	return transfer(IO_WRITEV, fd, &v, 1, at, deadline);
}

/* --- descriptors -------------------------------------------------------- */

int sennit_close(int fd)
{
	struct io_backend *b = sn_io_backend_made();

	if (IO_SIMULATED)
		return sn_simulated_close(fd);
	if (b) {
		b->ops->forget(b, fd);
		sn_io_several_forget(b, fd);
	}
	sn_io_known_end(fd);
	return sn_io_closing_close(b ? &b->closing : NULL, fd);
}

const char *sennit_io_backend(void)
{
	struct io_backend *b;

	if (sn_io_backend_here(&b))
		return NULL;
	return b ? b->ops->name : IO_SIMULATED ? "simulated" : "poll";
}

/* --- file ----------------------------------------------------------------- */

/* Requests that may always wait: see docs/design/io.md, Files. */

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
