/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - the calls of sennit/process.h: start a program, wait for its end.
 * */
#include "base/own_fd.h"
#include "base/sized.h"
#include "call/child.h"
#include "engine/perform.h"
#include "sennit/blocking.h"
#include "sennit/io.h"
#include "sennit/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* P_PIDFD, which older headers lack. */
#define PIDFD ((idtype_t)3)

/* The size of the first release's command. */
#define COMMAND_FIRST SIZE_THROUGH(sennit_process_command, flags)
ENDS_WITH(sennit_process_command, flags);

/* --- starting ----------------------------------------------------------- */

struct start {
	sennit_process_command     command;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t          attr;
	int                       *copies; /* of fds[i].from, to be closed
					    * afterwards; -1: none. NULL: no
					    * fds */
	int                        next;   /* where to look for the next copy's
					    * number: behind the last copy */
	pid_t                      child;
	int                        err;
};

/* The entry of fds that has this number in the child, or NULL. */
static const sennit_process_fd *find_target(const sennit_process_command *c,
					    int                           to)
{
	for (uint32_t i = 0; i < c->fd_count; i++)
		if (c->fds[i].to == to)
			return &c->fds[i];
	return NULL;
}

/* Let the child inherit the caller's descriptor `number`. One with FD_CLOEXEC,
 * as pipe2() may return it, would be closed. A dup2() to the same number in
 * posix_spawn() clears the flag. */
static int inherit_descriptor(struct start *s, int number)
{
	int flags = fcntl(number, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC)
		       ? 0
		       : -posix_spawn_file_actions_adddup2(&s->actions, number,
							   number);
}

/* Whether fds has the number on either side. */
static bool is_named(const sennit_process_command *c, int number)
{
	for (uint32_t i = 0; i < c->fd_count; i++)
		if (c->fds[i].from == number || c->fds[i].to == number)
			return true;
	return false;
}

/* Copy a descriptor to a number that is nobody's target. Nor may it be one that
 * the caller names but does not have: the child would get the copy. */
static int copy_descriptor(struct start *s, int fd, int *copy)
{
	int made;

	while ((made = fcntl(fd, F_DUPFD_CLOEXEC, s->next)) >= 0) {
		s->next = made + 1;
		if (!is_named(&s->command, made))
			break;
		close(made);
	}
	*copy = made;
	if (made < 0) /* -EINVAL: beyond the limit */
		return errno == EINVAL ? -EMFILE : -errno;
	return 0;
}

/* Make a descriptor the child's `to`. If it is the target of another one, it is
 * copied first, because that action may come before. */
static int redirect_descriptor(struct start *s, const sennit_process_fd *f,
			       int *copy)
{
	int from = f->from;

	if (f->to < 0)
		return -EBADF;
	if (find_target(&s->command, f->to) != f)
		return -EINVAL;
	if (from == f->to)
		return inherit_descriptor(s, from);
	if (from == SENNIT_PROCESS_NULL)
		return -posix_spawn_file_actions_addopen(
			&s->actions, f->to, "/dev/null", O_RDWR, 0);
	if (find_target(&s->command, from)) {
		int err = copy_descriptor(s, from, copy);

		if (err)
			return err;
		from = *copy;
	}
	return -posix_spawn_file_actions_adddup2(&s->actions, from, f->to);
}

static int prepare_files(struct start *s)
{
	const sennit_process_command *c = &s->command;
	int                           err = 0;

	for (uint32_t i = 0; i < c->fd_count && !err; i++)
		err = redirect_descriptor(s, &c->fds[i], &s->copies[i]);
	if (!err && c->directory)
		err = -posix_spawn_file_actions_addchdir_np(&s->actions,
							    c->directory);
	return err;
}

static void prepare_signals(struct start *s)
{
	sigset_t none, defaults;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	(void)posix_spawnattr_setsigmask(&s->attr, &none);
	(void)posix_spawnattr_setsigdefault(&s->attr, &defaults);
}

/* The process group is 0 by default: one that the child leads. */
static void prepare_attributes(struct start *s)
{
	int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;

	prepare_signals(s);
	if (s->command.flags & SENNIT_PROCESS_GROUP)
		flags |= POSIX_SPAWN_SETPGROUP;
	if (s->command.flags & SENNIT_PROCESS_SESSION)
		flags |= POSIX_SPAWN_SETSID;
	(void)posix_spawnattr_setflags(&s->attr, (short)flags);
}

/* Runs on a blocking thread: posix_spawnp() blocks until the child runs the
 * file. */
static void *spawn_child(void *argument)
{
	struct start                 *s = argument;
	const sennit_process_command *c = &s->command;

	s->err = -posix_spawnp(&s->child, c->file ? c->file : c->argv[0],
			       &s->actions, &s->attr, c->argv,
			       c->env ? c->env : environ);
	return NULL;
}

static int prepare_and_spawn(struct start *s)
{
	int err = prepare_files(s);

	if (err)
		return err;
	prepare_attributes(s);
	(void)sennit_blocking_call(spawn_child, s);
	return s->err;
}

static int initialise_and_spawn(struct start *s)
{
	int err = -posix_spawn_file_actions_init(&s->actions);

	if (err)
		return err;
	err = -posix_spawnattr_init(&s->attr);
	if (!err) {
		err = prepare_and_spawn(s);
		(void)posix_spawnattr_destroy(&s->attr);
	}
	(void)posix_spawn_file_actions_destroy(&s->actions);
	return err;
}

static int make_copies(struct start *s)
{
	const uint32_t count = s->command.fd_count;

	s->next = OWN_FD_FIRST;
	s->copies = count ? malloc(count * sizeof(*s->copies)) : NULL;
	if (count && !s->copies)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		s->copies[i] = -1;
	return 0;
}

static void close_copies(struct start *s)
{
	for (uint32_t i = 0; i < s->command.fd_count; i++)
		if (s->copies[i] >= 0)
			close(s->copies[i]);
	free(s->copies);
}

int sennit_process_spawn(pid_t *child, const sennit_process_command *command)
{
	struct start s;
	int          err = sn_sized_read(&s.command, sizeof(s.command), command,
					 COMMAND_FIRST);

	if (err)
		return err;
	if (!s.command.argv || !s.command.argv[0] ||
	    s.command.flags > SENNIT_PROCESS_SESSION)
		return -EINVAL;
	err = make_copies(&s);
	if (err)
		return err;
	err = initialise_and_spawn(&s);
	close_copies(&s);
	if (!err)
		*child = s.child;
	return err;
}

/* --- waiting ------------------------------------------------------------ */

/* Return the status that waitpid() would store. POSIX has macros to decode a
 * status, but none to encode one. */
static int wait_status_of(const siginfo_t *end)
{
	enum { EXITED = 8, DUMPED = 0x80 }; /* a shift, a flag */

	if (end->si_code == CLD_EXITED)
		return (end->si_status & 0xff) << EXITED;
	return end->si_status | (end->si_code == CLD_DUMPED ? DUMPED : 0);
}

/* Check whether the child has ended. Returns -EAGAIN if it is running. */
static int check_child(idtype_t by, id_t id, int *status, int flags)
{
	siginfo_t got = { .si_pid = 0 };

	if (waitid(by, id, &got, WEXITED | WNOHANG | flags))
		return -errno;
	if (!got.si_pid)
		return -EAGAIN;
	if (status)
		*status = wait_status_of(&got);
	return 0;
}

int sn_child_look(pid_t child)
{
	return check_child(P_PID, (id_t)child, NULL, WNOWAIT);
}

int sn_child_reap(pid_t child, int *status)
{
	return check_child(P_PID, (id_t)child, status, 0);
}

int sn_child_open(pid_t child)
{
	int fd = sn_own_fd((int)syscall(SYS_pidfd_open, child, 0));

	return fd < 0 ? -errno : fd;
}

static int wait_without_pidfd(pid_t child, int *status, sennit_time deadline)
{
	sennit_time pause = IO_SHORTEST_PAUSE;
	int         err, late;

	while ((err = sn_child_reap(child, status)) == -EAGAIN) {
		late = sn_io_pause(&pause, deadline);
		if (late)
			return late;
	}
	return err;
}

/* Wait by a pidfd. If a debugger traces the child, the pidfd may be readable
 * before the child can be reaped; the call then tries again with pauses.
 * Returns -EINVAL if the kernel has pidfds (5.3) but waitid() does not accept
 * them (5.4). */
static int wait_by_pidfd(int pidfd, int *status, sennit_time deadline)
{
	sennit_time pause = IO_SHORTEST_PAUSE;
	int         err, late = 0;

	do {
		err = sennit_poll(pidfd, POLLIN, deadline);
		if (err > 0)
			err = check_child(PIDFD, (id_t)pidfd, status, 0);
		if (err == -EAGAIN)
			late = sn_io_pause(&pause, deadline);
	} while (err == -EAGAIN && !late);
	return late ? late : err;
}

int sennit_process_wait(pid_t child, int *status, sennit_time deadline)
{
	int err = child > 0 ? sn_child_reap(child, status) : -ECHILD;
	int pidfd;

	if (err != -EAGAIN)
		return err;
	if (!deadline)
		return -ETIMEDOUT;
	pidfd = sn_child_open(child);
	err = -EINVAL;
	if (pidfd >= 0) {
		err = wait_by_pidfd(pidfd, status, deadline);
		close(pidfd);
	}
	return err == -EINVAL ? wait_without_pidfd(child, status, deadline)
			      : err;
}
