/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - child processes: start one, and wait for its end.
 *
 * In libsennit-io. Pipes to and from a child are pipe2() with O_CLOEXEC, read
 * and written by io.h. No handler of SIGCHLD is needed or installed.
 */
#ifndef SENNIT_PROCESS_H
#define SENNIT_PROCESS_H

#include "sennit/base.h"
#include "sennit/select.h"

#include <sys/types.h>

SENNIT_BEGIN

/* For the descriptors of a command: the child gets /dev/null. */
#define SENNIT_PROCESS_NULL (-1)

/* What to start. A zeroed field is the default. */
typedef struct sennit_process_command {
	const char  *file;      /* looked for in PATH unless it contains a
				  * slash; NULL: argv[0] */
	char *const *argv;      /* ends with NULL */
	char *const *env;       /* ends with NULL; NULL: the caller's */
	int          in;        /* the descriptors that become the child's 0, */
	int          out;       /* 1 */
	int          err;       /* and 2; 0: the caller's own of that number */
	const char  *directory; /* the child's; NULL: the caller's. A relative
				  * file with a slash counts from here */
	uint32_t     reserved_; /* must be 0 */
} sennit_process_command;

/* Start a child process. It gets the three descriptors of *command, with or
 * without FD_CLOEXEC, and the caller's other descriptors that lack FD_CLOEXEC.
 * Descriptor 0, which pipe2() may return if it was closed, can only become the
 * child's 0. No signal is blocked in the child, and SIGPIPE has its default
 * action. The caller keeps its descriptors: close the ends that only the child
 * needs, or readers never see the end. *child becomes its process ID. The
 * caller must wait for it by sennit_process_wait, once.
 * Returns 0, or a negative errno, as posix_spawn() does: -ENOENT if there is no
 * such file, -EACCES, -EINVAL without an argv[0].
 *
 * From: fiber, thread.  Blocks: until the child runs the file.  */
SENNIT_API SENNIT_MUST_USE int sennit_process_spawn(
	const sennit_process_command *command, pid_t *child);

/* Wait until a child of this process has ended, and reap it. Store its status,
 * as of waitpid(), in *status unless status is NULL, for WIFEXITED(),
 * WEXITSTATUS(), WIFSIGNALED() and WTERMSIG() of <sys/wait.h>. One caller at a
 * time may wait for a child.
 * Returns 0, -ETIMEDOUT or -ECANCELED, after which the child can be waited for
 * again, or -ECHILD. Where the system has no pidfd_open(), or refuses it, the
 * end is seen up to 64 ms late.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_process_wait(pid_t child, int *status,
						   sennit_time deadline);

/* Return a case of a select that waits until a child of this process has ended,
 * and reaps it, as sennit_process_wait does; if another case happens, the child
 * is not reaped. If child is 0, or negative, the case never happens. The result
 * of the case is 0 or -ECHILD.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_process(pid_t child, int *status);

SENNIT_END

#endif
