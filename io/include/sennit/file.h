/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - opening, naming, querying and syncing files. The calls suspend the
 * fiber and never block its worker. io.h has the calls that read and write.
 *
 * In libsennit-io. Each call does what the system call of the same name does.
 * It returns the system call's result, or a negative errno value. On error,
 * outputs are unchanged.
 *
 * If the worker waits by io_uring, the kernel carries out all operations except
 * ftruncate. Otherwise they are blocking calls (blocking.h). The deadline or a
 * cancelled group ends a call that has not begun: the call returns -ETIMEDOUT
 * or -ECANCELED, and nothing is done. Once an operation has begun, the call
 * waits until it ends. Operations that a signal would interrupt, such as
 * opening a FIFO, are an exception: io_uring cancels them. Paths and *out must
 * not change until the call returns. With a deadline of 0 a call is made only
 * if it can begin at once. On an unbound thread the call is made in place and
 * ignores the deadline. A call that a signal interrupts is repeated.
 */
#ifndef SENNIT_FILE_H
#define SENNIT_FILE_H

#include "sennit/io.h"

#include <fcntl.h>
#include <sys/stat.h>

SENNIT_BEGIN

struct statx; /* in <sys/stat.h> with _GNU_SOURCE, or in <linux/stat.h> */

/* Open the file `path`, relative to the directory `dir` (AT_FDCWD: the current
 * directory). Returns its descriptor, which the caller must close, or a
 * negative errno value. flags: those of open(); mode: the mode of a new file.
 * Opening a FIFO waits until its other end is opened, unless flags has
 * O_NONBLOCK. Without io_uring a blocking thread is occupied during this wait.
 * With O_NONBLOCK, O_DIRECTORY or O_PATH, io_uring opens the file without a
 * kernel thread if no disc access is needed.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_openat(int dir, const char *path,
					     int flags, mode_t mode,
					     sennit_time deadline);

/* Open the file `path`, relative to the current directory, as sennit_openat
 * does. Returns its descriptor, which the caller must close, or a negative
 * errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_open(const char *path, int flags,
					   mode_t mode, sennit_time deadline);

/* Wait until all data written to fd is on its disc. sennit_fdatasync omits
 * metadata that is not needed to read the data. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_fsync(int fd, sennit_time deadline);
SENNIT_API SENNIT_MUST_USE int sennit_fdatasync(int fd, sennit_time deadline);

/* Truncate or extend the file to `size` bytes. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_ftruncate(int fd, int64_t size,
						sennit_time deadline);

/* Store the attributes of a file in *out. On Linux only. flags: AT_EMPTY_PATH
 * and the other flags of statx(); mask: STATX_*. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_statx(int dir, const char *path,
					    int flags, unsigned mask,
					    struct statx *out,
					    sennit_time   deadline);

/* Remove a file name, or with AT_REMOVEDIR in flags an empty directory. Returns
 * 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_unlinkat(int dir, const char *path,
					       int flags, sennit_time deadline);

/* Rename a file, as renameat() does. Both paths are relative to the directories
 * before them. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_renameat(int dir, const char *path,
					       int to_dir, const char *to_path,
					       sennit_time deadline);

/* Create a directory. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mkdirat(int dir, const char *path,
					      mode_t      mode,
					      sennit_time deadline);

SENNIT_END

#endif
