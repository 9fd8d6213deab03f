/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - child processes: start one, and wait for its end.
 *
 * In libsennit-io. For pipes to and from a child use pipe2() with O_CLOEXEC,
 * and the calls of io.h. No SIGCHLD handler is needed or installed.
 */
#ifndef SENNIT_PROCESS_H
#define SENNIT_PROCESS_H

#include "sennit/base.h"
#include "sennit/select.h"

#include <sys/types.h>

SENNIT_BEGIN

/* In place of a descriptor of the caller: the child gets /dev/null. */
#define SENNIT_PROCESS_NULL (-1)

/* A descriptor of the child. */
typedef struct sennit_process_fd {
	int from; /* the caller's descriptor, or SENNIT_PROCESS_NULL */
	int to;   /* its number in the child: 0, 1, 2 or another */
} sennit_process_fd;

/* A flag of a command: the child is the leader of a new process group, in which
 * its own children are, too. A terminal's Ctrl-C does not reach the group, and
 * its members cannot read from the terminal. See sennit_process_wait_or_end. */
#define SENNIT_PROCESS_GROUP UINT32_C(1)

/* A flag of a command: the child is the leader of a new session, and of a new
 * process group in it. It has no terminal. */
#define SENNIT_PROCESS_SESSION UINT32_C(2)

/* What to start. A field that is zero has its default. */
typedef struct sennit_process_command {
	size_t       size;      /* sizeof(sennit_process_command) */
	const char  *file;      /* searched in PATH unless it contains a slash;
				 * NULL: argv[0] */
	char *const *argv;      /* ends with NULL */
	char *const *env;       /* ends with NULL; NULL: the caller's */
	const char  *directory; /* the child's; NULL: the caller's. A relative
				 * `file` with a slash is relative to it */
	const sennit_process_fd *fds;      /* fd_count of them */
	uint32_t                 fd_count; /* 0: none */
	uint32_t                 flags;    /* SENNIT_PROCESS_*, or 0 */
} sennit_process_command;

#define SENNIT_PROCESS_COMMAND(...)              \
	SENNIT_CONSTANT_(sennit_process_command, \
			 .size = sizeof(sennit_process_command), __VA_ARGS__)

/* Start a child process, and store its process ID in *child. The caller must
 * wait for it once by sennit_process_wait. The child gets the descriptors of
 * command->fds, with or without FD_CLOEXEC, each under its number there, and a
 * number is given once. All are copies of what the caller has before the call,
 * so two can be exchanged. Of the caller's other descriptors, 0, 1 and 2
 * included, it inherits those without FD_CLOEXEC. In the child no signal is
 * blocked, and SIGPIPE has its default action. The caller keeps its
 * descriptors: close the pipe ends that only the child needs, or readers never
 * see the end.
 *
 *	const sennit_process_fd fds[] = { { from_child[1], STDOUT_FILENO } };
 *
 *	err = sennit_process_spawn(
 *		&child, SENNIT_PROCESS_COMMAND(.argv = argv, .fds = fds,
 *					       .fd_count = 1));
 *
 * Returns 0, or a negative errno, as posix_spawn() does: -ENOENT if there is no
 * such file, -EACCES, -EBADF for a descriptor that the caller does not have or
 * a negative number, -ENOMEM; -EINVAL without an argv[0], if a number is given
 * twice, if flags are unknown or both are set, or if the size is less than that
 * of the first version; -E2BIG if a newer caller set bytes that this library
 * does not know.
 *
 * From: fiber, thread.  Blocks: until the child runs the file.  */
SENNIT_API SENNIT_MUST_USE int sennit_process_spawn(
	pid_t *child, const sennit_process_command *command);

/* Wait until a child of this process has ended, and reap it. Unless status is
 * NULL, store its waitpid() status in *status, for WIFEXITED(), WEXITSTATUS(),
 * WIFSIGNALED() and WTERMSIG() of <sys/wait.h>. Only one caller at a time may
 * wait for a child.
 * Returns 0; -ETIMEDOUT or -ECANCELED, after which the child can be waited for
 * again; or -ECHILD. If the system has no pidfd_open(), or refuses it, the call
 * notices the end up to 64 ms late.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_process_wait(pid_t child, int *status,
						   sennit_time deadline);

/* Wait until a child of this process has ended, as sennit_process_wait does,
 * and if the wait fails, end the child: for jobs that must not go on when their
 * group is cancelled. A child that leads a process group (SENNIT_PROCESS_GROUP,
 * SENNIT_PROCESS_SESSION) is ended with its whole group, so that its own
 * children do not survive it.
 *
 * The child, or its group, gets SIGTERM, and SIGCONT if it is stopped. Those
 * that have not ended `grace` nanoseconds later get SIGKILL: those that ignore
 * SIGTERM, and a process that was just being started and has missed it. With a
 * grace of 0 they get SIGKILL at once. The child is then reaped. *status,
 * unless status is NULL, is stored in this case, too: it says how the child has
 * ended. What has left the group, as daemons do, is not ended.
 * Returns 0 if the child ended by itself; the error of the wait, such as
 * -ETIMEDOUT or -ECANCELED, when the child has been ended and reaped; -ECHILD;
 * or -EPERM if the child may not be sent signals, which is then not ended.
 *
 * After the deadline or the cancellation the call waits for `grace`, which
 * nothing but the end of the child shortens.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_process_wait_or_end(pid_t       child,
							  int        *status,
							  uint64_t    grace,
							  sennit_time deadline);

/* Return a case of a select that waits until a child of this process has ended,
 * and reaps it, as sennit_process_wait does. If another case happens, the child
 * is not reaped. If child is 0 or negative, the case never happens. The result
 * of the case is 0 or -ECHILD. *status must stay valid until the select
 * returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_process(pid_t child, int *status);

SENNIT_END

#endif
