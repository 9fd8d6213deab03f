/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - opening, naming, querying and syncing files. The calls suspend the
 * fiber and never block its worker. io.h reads and writes.
 *
 * In libsennit-io. Each call does what the system call of its name does, and
 * returns what that returns, or a negative errno value. On error outputs are
 * unchanged.
 *
 * If the worker waits by io_uring, the kernel does all operations except
 * ftruncate; otherwise they are blocking calls (blocking.h). The deadline or a
 * cancelled group ends a call that has not begun, with -ETIMEDOUT or
 * -ECANCELED, and nothing is done. Once an operation has begun, the call waits
 * for its end. An exception are operations that a signal would interrupt, such
 * as the open of a FIFO: io_uring cancels these. Paths and *out must not change
 * until the call returns. With a deadline of 0 a call is made only if it can
 * begin at once. On an unbound thread the call is made in place and ignores the
 * deadline. A call that a signal interrupts is repeated.
 */
#ifndef SENNIT_FILE_H
#define SENNIT_FILE_H

#include "sennit/base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

SENNIT_BEGIN

struct statx; /* of <sys/stat.h> with _GNU_SOURCE, or of <linux/stat.h> */

/* Open the file `path`, relative to the directory `dir` (AT_FDCWD: the current
 * one). Returns its descriptor, which is the caller's. flags: those of open();
 * mode: that of a new file. Opening a FIFO waits for its other end, unless
 * flags has O_NONBLOCK; without io_uring it occupies a blocking thread
 * meanwhile. With O_NONBLOCK, O_DIRECTORY or O_PATH io_uring opens without a
 * thread if no disc access is needed.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_openat(int dir, const char *path,
					     int flags, mode_t mode,
					     sennit_time deadline);

/* Open the file `path`, relative to the current directory. Returns the
 * descriptor, which is the caller's, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_open(const char *path, int flags,
					   mode_t mode, sennit_time deadline);

/* Wait until everything written to fd is on its disc. sennit_fdatasync leaves
 * out metadata that is not needed to read the data. Returns 0 or a negative
 * errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_fsync(int fd, sennit_time deadline);
SENNIT_API SENNIT_MUST_USE int sennit_fdatasync(int fd, sennit_time deadline);

/* Make the file `size` bytes long. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_ftruncate(int fd, off_t size,
						sennit_time deadline);

/* Store the attributes of a file in *out. flags: AT_EMPTY_PATH and the others
 * of statx(); mask: STATX_*. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_statx(int dir, const char *path,
					    int flags, unsigned mask,
					    struct statx *out,
					    sennit_time   deadline);

/* Remove a name; with AT_REMOVEDIR in flags an empty directory. Returns 0 or a
 * negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_unlinkat(int dir, const char *path,
					       int flags, sennit_time deadline);

/* Rename a file, as rename() does. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_renameat(int dir, const char *path,
					       int to_dir, const char *to_path,
					       sennit_time deadline);

/* Make a directory. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mkdirat(int dir, const char *path,
					      mode_t      mode,
					      sennit_time deadline);

SENNIT_END

#endif
