/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the calls of sennit/io.h and file.h on descriptors and files. */
#include "engine/linux_calls.h"
#include "engine/nonblock.h"
#include "engine/perform.h"
#include "engine/request.h"
#include "simulated/network.h"
#include "sennit/file.h"
#include "sennit/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The smallest block size of discs, in bytes. */
#define LEAST_BLOCK 512u

/* --- reading and writing ------------------------------------------------ */

static bool is_read_request(const struct io_request *r)
{
	return r->kind == IO_READV;
}

static ptrdiff_t block_vector(const struct io_request *r)
{
	if (r->at == IO_POSITION)
		return sn_io_or_error(
			is_read_request(r)
				? readv(r->fd, r->vector, r->count)
				: writev(r->fd, r->vector, r->count));
	return sn_io_or_error(
		is_read_request(r)
			? preadv(r->fd, r->vector, r->count, r->at)
			: pwritev(r->fd, r->vector, r->count, r->at));
}

/* Whether readv() and writev() return at once, whatever the file: with 0 if the
 * vector has no bytes, with -EINVAL if it has too many parts or a part is too
 * long. */
static bool is_vector_void(const struct io_request *r)
{
	bool empty = true;

	if (r->count > IOV_MAX)
		return true;
	for (int i = 0; i < r->count; i++) {
		if (r->vector[i].iov_len > PTRDIFF_MAX)
			return true;
		empty &= !r->vector[i].iov_len;
	}
	return empty;
}

/* Some files do not support RWF_NOWAIT. Sockets then accept MSG_DONTWAIT. At an
 * offset there is nothing to wait for: a file without offsets refuses it. */
static ptrdiff_t attempt_without_rwf_nowait(const struct io_request *r)
{
	struct msghdr     message = { .msg_iov = (void *)(uintptr_t)r->vector,
				      .msg_iovlen = (size_t)r->count };
	struct io_request own = *r;
	ptrdiff_t         result;

	if (r->at != IO_POSITION) {
		own.events = 0;
		return sn_io_nonblock_attempt(&own);
	}
	if (is_vector_void(r))
		return block_vector(r);
	result = is_read_request(r) ? recvmsg(r->fd, &message, MSG_DONTWAIT)
				    : sendmsg(r->fd, &message, MSG_DONTWAIT);
	return result < 0 && errno == ENOTSOCK ? sn_io_nonblock_attempt(r)
					       : sn_io_or_error(result);
}

/* Whether r may bypass the page cache. RWF_NOWAIT then still waits for the
 * disc. Direct I/O requires that memory, size and offset are multiples of the
 * disc's block size. */
static bool bypasses_page_cache(const struct io_request *r)
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

	if (bypasses_page_cache(r))
		return -EOPNOTSUPP;
	result = is_read_request(r) ? preadv2(r->fd, r->vector, r->count, r->at,
					      CALL_NO_WAIT)
				    : pwritev2(r->fd, r->vector, r->count,
					       r->at, CALL_NO_WAIT);
	if (result < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
		return attempt_without_rwf_nowait(r);
	return sn_io_or_error(result);
}

static ptrdiff_t transfer_iovec(enum io_kind kind, int fd,
				const struct iovec *v, int count, off_t at,
				sennit_time deadline)
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
	return transfer_iovec(IO_READV, fd, to, count, IO_POSITION, deadline);
}

ptrdiff_t sennit_writev(int fd, const struct iovec *from, int count,
			sennit_time deadline)
{
	return transfer_iovec(IO_WRITEV, fd, from, count, IO_POSITION,
			      deadline);
}

/* Return a vector with one element. The size is limited to the largest possible
 * result, because the system refuses longer vectors, although it would transfer
 * less than this anyway. */
static struct iovec make_iovec(const void *bytes, size_t size)
{
	return (struct iovec){ (void *)(uintptr_t)bytes,
			       size < PTRDIFF_MAX ? size : PTRDIFF_MAX };
}

/* --- no bytes ----------------------------------------------------------- */

/* readv() and writev() of no bytes return at once. read() and write() of none
 * ask the file: they report errors, and write() sends an empty datagram. */

static ptrdiff_t block_empty(const struct io_request *r)
{
	char none;

	if (r->flags == POLLIN)
		return sn_io_or_error(r->at == IO_POSITION
					      ? read(r->fd, &none, 0)
					      : pread(r->fd, &none, 0, r->at));
	return sn_io_or_error(r->at == IO_POSITION
				      ? write(r->fd, "", 0)
				      : pwrite(r->fd, "", 0, r->at));
}

static ptrdiff_t attempt_empty_by_flag(const struct io_request *r)
{
	struct io_request own = *r;

	own.events = 0;
	return sn_io_nonblock_attempt(&own);
}

/* pread() and pwrite() wait for files only. */
static ptrdiff_t attempt_empty(const struct io_request *r)
{
	struct stat s;

	if (fstat(r->fd, &s))
		return -errno;
	if (r->at != IO_POSITION)
		return S_ISREG(s.st_mode) || S_ISBLK(s.st_mode)
			       ? -EOPNOTSUPP
			       : block_empty(r);
	if (!S_ISSOCK(s.st_mode))
		return attempt_empty_by_flag(r);
	return sn_io_or_error(
		r->flags == POLLIN ? 0 : send(r->fd, "", 0, MSG_DONTWAIT));
}

static ptrdiff_t transfer_empty(short events, int fd, off_t at,
				sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_empty,
				      .block = block_empty,
				      .fd = fd,
				      .events = events,
				      .flags = events,
				      .at = at };

	return sn_io_do(&r, deadline);
}

/* --- reading and writing in one piece ----------------------------------- */

ptrdiff_t sennit_read(int fd, void *to, size_t size, sennit_time deadline)
{
	const struct iovec v = make_iovec(to, size);

	if (!size && !IO_SIMULATED)
		return transfer_empty(POLLIN, fd, IO_POSITION, deadline);
	return transfer_iovec(IO_READV, fd, &v, 1, IO_POSITION, deadline);
}

ptrdiff_t sennit_write(int fd, const void *from, size_t size,
		       sennit_time deadline)
{
	const struct iovec v = make_iovec(from, size);

	if (!size && !IO_SIMULATED)
		return transfer_empty(POLLOUT, fd, IO_POSITION, deadline);
	return transfer_iovec(IO_WRITEV, fd, &v, 1, IO_POSITION, deadline);
}

ptrdiff_t sennit_pread(int fd, void *to, size_t size, int64_t at,
		       sennit_time deadline)
{
	const struct iovec v = make_iovec(to, size);

	if (at < 0)
		return -EINVAL;
	if (!size && !IO_SIMULATED)
		return transfer_empty(POLLIN, fd, at, deadline);
	return transfer_iovec(IO_READV, fd, &v, 1, at, deadline);
}

ptrdiff_t sennit_pwrite(int fd, const void *from, size_t size, int64_t at,
			sennit_time deadline)
{
	const struct iovec v = make_iovec(from, size);

	if (at < 0)
		return -EINVAL;
	if (!size && !IO_SIMULATED)
		return transfer_empty(POLLOUT, fd, at, deadline);
	return transfer_iovec(IO_WRITEV, fd, &v, 1, at, deadline);
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
		(void)sn_io_guess_take(b, fd);
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

/* --- files ---------------------------------------------------------------- */

/* These requests may always wait: see io/docs/design.md, Files. */

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

/* --- contents ----------------------------------------------------------- */

/* The value of IORING_FSYNC_DATASYNC; also tested by block_fsync(). */
#define DATA_ONLY 1

static ptrdiff_t block_fsync(const struct io_request *r)
{
	return sn_io_or_error(r->flags & DATA_ONLY ? fdatasync(r->fd)
						   : fsync(r->fd));
}

static int sync_descriptor(int fd, int flags, sennit_time deadline)
{
	const struct io_request r = {
		.block = block_fsync, .kind = IO_FSYNC, .fd = fd, .flags = flags
	};

	return (int)sn_io_do_blocking(&r, deadline);
}

int sennit_fsync(int fd, sennit_time deadline)
{
	return sync_descriptor(fd, 0, deadline);
}

int sennit_fdatasync(int fd, sennit_time deadline)
{
	return sync_descriptor(fd, DATA_ONLY, deadline);
}

static ptrdiff_t block_ftruncate(const struct io_request *r)
{
	return sn_io_or_error(ftruncate(r->fd, r->length));
}

/* io_uring has ftruncate since Linux 6.9, with liburing 2.6. It is not used
 * yet. */
int sennit_ftruncate(int fd, int64_t size, sennit_time deadline)
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
