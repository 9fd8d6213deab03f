/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - one operation on a descriptor, as its caller asks for it.
 *
 * A request lies in its caller's frame, as do the buffers that it names. */
#ifndef SN_IO_REQUEST_H
#define SN_IO_REQUEST_H

#include "io/backend.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What io_uring may be asked to do. */
enum io_kind {
	IO_POLLED = 0, /* nothing: tried when ready */
	IO_READV,
	IO_WRITEV,
	IO_RECV,
	IO_SEND,
	IO_RECVMSG,
	IO_SENDMSG,
	IO_ACCEPT,
	IO_CONNECT,
	IO_OPENAT,
	IO_FSYNC,
	IO_STATX,
	IO_UNLINKAT,
	IO_RENAMEAT,
	IO_MKDIRAT
};

/* The offset that means a file's own position. */
#define IO_POSITION ((off_t)-1)

struct statx;

/* What a system call returned, or its negative errno. */
static inline ptrdiff_t sn_io_or_error(ptrdiff_t result)
{
	return result < 0 ? -errno : result;
}

struct io_request {
	/* Try without waiting. Returns what the system call does, or a negative
	 * errno: -EAGAIN if it would wait, -EOPNOTSUPP if it cannot be tried
	 * without waiting. */
	ptrdiff_t (*attempt)(const struct io_request *r);
	/* The same, which may wait. NULL: attempt never says -EOPNOTSUPP, and
	 * fd is no file. */
	ptrdiff_t (*block)(const struct io_request *r);
	enum io_kind kind;
	int          fd;
	short        events;    /* of poll(): what to wait for */
	bool         try_first; /* an attempt mostly succeeds */
	int          flags;

	union {
		struct {
			void  *bytes;
			size_t size;
		};
		struct {
			const struct iovec *vector;
			int                 count;
			off_t               at;
		};
		struct msghdr *message;
		struct {
			struct sockaddr *address;
			socklen_t       *address_size; /* accept */
			socklen_t        size_of;      /* connect */
		};
		struct { /* fd: the directory of path */
			const char   *path;
			const char   *to_path;
			int           to_dir;
			mode_t        mode;
			unsigned      mask;
			struct statx *out;
		};
		off_t length;
	};
};

#endif
