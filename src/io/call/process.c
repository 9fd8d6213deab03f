/* SPDX-License-Identifier: Apache-2.0 */
#include "io/call/child.h"
#include "sennit/blocking.h"
#include "sennit/fiber.h"
#include "sennit/io.h"
#include "sennit/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of older headers. */
#define PIDFD ((idtype_t)3)

/* --- starting ----------------------------------------------------------- */

struct start {
	const sennit_process_command *command;
	posix_spawn_file_actions_t    actions;
	posix_spawnattr_t             attr;
	int                           copies[3]; /* to be closed; -1: none */
	pid_t                         child;
	int                           err;
};

/* The caller's own descriptor of that number: one with FD_CLOEXEC, as pipe2()
 * may return it, would be closed. To make it itself clears that. */
static int keep(struct start *s, int number)
{
	int flags = fcntl(number, F_GETFD);

	return flags >= 0 && flags & FD_CLOEXEC
		       ? -posix_spawn_file_actions_adddup2(&s->actions, number,
							   number)
		       : 0;
}

/* fd becomes the child's `number`. A standard descriptor that gets another
 * number is copied first, as it may have been replaced when its turn comes. */
static int redirect(struct start *s, int fd, int number)
{
	if (fd == 0 || fd == number)
		return keep(s, number);
	if (fd == SENNIT_PROCESS_NULL)
		return -posix_spawn_file_actions_addopen(
			&s->actions, number, "/dev/null",
			number ? O_WRONLY : O_RDONLY, 0);
	if (fd <= STDERR_FILENO) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (fd < 0)
			return -errno;
		s->copies[number] = fd;
	}
	return -posix_spawn_file_actions_adddup2(&s->actions, fd, number);
}

static int prepare_files(struct start *s)
{
	const sennit_process_command *c = s->command;
	int                           err = redirect(s, c->in, STDIN_FILENO);

	if (!err)
		err = redirect(s, c->out, STDOUT_FILENO);
	if (!err)
		err = redirect(s, c->err, STDERR_FILENO);
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
	(void)posix_spawnattr_setflags(&s->attr, POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETSIGDEF);
}

/* On a helper thread, as it blocks until the child runs the file. */
static void *spawn(void *argument)
{
	struct start                 *s = argument;
	const sennit_process_command *c = s->command;

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
	prepare_signals(s);
	(void)sennit_blocking_call(spawn, s);
	return s->err;
}

int sennit_process_spawn(const sennit_process_command *command, pid_t *child)
{
	struct start s = { .command = command, .copies = { -1, -1, -1 } };
	int          err;

	if (!command->argv || !command->argv[0] || command->reserved_)
		return -EINVAL;
	err = -posix_spawn_file_actions_init(&s.actions);
	if (err)
		return err;
	err = -posix_spawnattr_init(&s.attr);
	if (!err) {
		err = prepare_and_spawn(&s);
		(void)posix_spawnattr_destroy(&s.attr);
	}
	(void)posix_spawn_file_actions_destroy(&s.actions);
	for (int i = 0; i < 3; i++)
		if (s.copies[i] >= 0)
			close(s.copies[i]);
	if (!err)
		*child = s.child;
	return err;
}

/* --- waiting ------------------------------------------------------------ */

/* Without pidfds: between two looks, from the first to the last. */
#define FIRST_LOOK (SENNIT_MILLISECOND / 4)

/* What waitpid() would have said. POSIX has macros that take it apart, and none
 * that make it. */
static int status_of(const siginfo_t *end)
{
	enum { EXITED = 8, DUMPED = 0x80 }; /* a shift, a flag */

	if (end->si_code == CLD_EXITED)
		return (end->si_status & 0xff) << EXITED;
	return end->si_status | (end->si_code == CLD_DUMPED ? DUMPED : 0);
}

/* -EAGAIN: the child runs. */
static int reap(idtype_t by, id_t id, int *status, int flags)
{
	siginfo_t got = { .si_pid = 0 };

	if (waitid(by, id, &got, WEXITED | WNOHANG | flags))
		return -errno;
	if (!got.si_pid)
		return -EAGAIN;
	if (status)
		*status = status_of(&got);
	return 0;
}

int sn_child_look(pid_t child)
{
	return reap(P_PID, (id_t)child, NULL, WNOWAIT);
}

int sn_child_reap(pid_t child, int *status)
{
	return reap(P_PID, (id_t)child, status, 0);
}

int sn_child_open(pid_t child)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);

	return fd < 0 ? -errno : fd;
}

static int look_now_and_then(pid_t child, int *status, sennit_time deadline)
{
	uint64_t pause = FIRST_LOOK;
	int      err;

	while ((err = sn_child_reap(child, status)) == -EAGAIN) {
		sennit_time look = sennit_after(pause);

		if (sennit_now() >= deadline)
			return -ETIMEDOUT;
		err = sennit_sleep_until(look < deadline ? look : deadline);
		if (err)
			return err;
		pause = 2 * pause < CHILD_LAST_LOOK ? 2 * pause
						    : CHILD_LAST_LOOK;
	}
	return err;
}

/* -EINVAL: the kernel has pidfds (5.3) and cannot wait by them (5.4). */
static int wait_by(int pidfd, int *status, sennit_time deadline)
{
	int err;

	do {
		err = sennit_poll(pidfd, POLLIN, deadline);
		if (err > 0)
			err = reap(PIDFD, (id_t)pidfd, status, 0);
	} while (err == -EAGAIN);
	return err;
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
		err = wait_by(pidfd, status, deadline);
		close(pidfd);
	}
	return err == -EINVAL ? look_now_and_then(child, status, deadline)
			      : err;
}
