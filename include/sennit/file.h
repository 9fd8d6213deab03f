/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - opening, naming, asking about and syncing files: calls that hold up
 * a fiber, never its worker. Reading and writing is in io.h.
 *
 * In libsennit-io. Each call does what the system call of its name does, and
 * returns what that returns, or a negative errno value. On error outputs are as
 * they were.
 *
 * Where the worker waits by io_uring, the kernel does all but ftruncate; else
 * they are blocking calls (blocking.h). The deadline and a cancelled group end
 * a call that has not begun, with -ETIMEDOUT or -ECANCELED: nothing was done,
 * and nothing will be. What has begun is waited for, except that io_uring gives
 * up what waits in a way that signals would interrupt, such as an open of a
 * FIFO. In each case paths and *out must stay as they are only until the call
 * returns. With a deadline of 0 a call is made if it can begin at once. On an
 * unbound thread the call is made in place, and the deadline means nothing.
 * Calls that a signal interrupts begin again.
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
 * mode: that of a new file. To open a FIFO waits for its other end, which holds
 * a blocking thread where there is no io_uring, unless flags has O_NONBLOCK.
 * With O_NONBLOCK, O_DIRECTORY or O_PATH io_uring opens in place what needs no
 * disc, without a thread.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_openat(int dir, const char *path,
					     int flags, mode_t mode,
					     sennit_time deadline);

/* The same relative to the current directory. Returns the descriptor, which is
 * the caller's, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_open(const char *path, int flags,
					   mode_t mode, sennit_time deadline);

/* Wait until what was written to fd is on its disc; sennit_fdatasync without
 * what is not needed to read it again. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_fsync(int fd, sennit_time deadline);
SENNIT_API SENNIT_MUST_USE int sennit_fdatasync(int fd, sennit_time deadline);

/* Make the file `size` bytes long. Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_ftruncate(int fd, off_t size,
						sennit_time deadline);

/* Store what is known of a file in *out. flags: AT_EMPTY_PATH and the others of
 * statx(); mask: STATX_*. Returns 0 or a negative errno.
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

/* Give a file another name, which it then has alone. Returns 0 or a negative
 * errno.
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
