/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/nonblock.h"

#include "base/own_fd.h"
#include "engine/linux_calls.h"
#include "engine/perform.h"
#include "engine/request.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/* --- pipes -------------------------------------------------------------- */

/* The device of pipes that support RWF_NOWAIT; 0: there are none. Fixed once
 * known. A named pipe has the device of its file system instead. */
static dev_t device_of_pipes;

static void try_pipe(void)
{
	char         byte;
	struct iovec v = { &byte, 1 };
	struct stat  s;
	int          fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return;
	for (int i = 0; i < 2; i++)
		fds[i] = sn_own_fd(fds[i]);
	if (preadv2(fds[0], &v, 1, IO_POSITION, CALL_NO_WAIT) < 0 &&
	    errno == EAGAIN && !fstat(fds[0], &s))
		device_of_pipes = s.st_dev;
	close(fds[0]);
	close(fds[1]);
}

bool sn_io_nonblock_is_needless(const struct stat *s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (S_ISSOCK(s->st_mode))
		return true;
	pthread_once(&once, try_pipe);
	return S_ISFIFO(s->st_mode) && device_of_pipes == s->st_dev;
}

/* --- kind of descriptor ------------------------------------------------- */

struct kind {
	mode_t   mode;
	bool     is_terminal;
	unsigned tty; /* device number; of a master: of its slave */
};

static int look_at(struct kind *k, int fd)
{
	struct stat s;

	if (fstat(fd, &s))
		return -errno;
	k->mode = s.st_mode & S_IFMT;
	k->is_terminal = k->mode == S_IFCHR && !ioctl(fd, TIOCGDEV, &k->tty);
	return 0;
}

static bool is_device(const struct kind *k)
{
	return k->mode == S_IFCHR && !k->is_terminal;
}

static bool is_master(int fd)
{
	int number;

	return !ioctl(fd, TIOCGPTN, &number);
}

/* --- reopening ---------------------------------------------------------- */

/* By its number in the calling thread, which may have its own descriptor table.
 * -1: it may not be opened. */
static int open_again(int fd, int flags)
{
	const int kept = flags & (O_ACCMODE | O_DIRECT);
	char      path[48];

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	return sn_own_fd(open(path, kept | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/* Compare the device: /dev/tty and /dev/tty0 may name another terminal by
 * now. */
static int open_terminal(int fd, int flags, unsigned tty)
{
	int         again = is_master(fd) ? -1 : open_again(fd, flags);
	struct kind k;

	if (again < 0 || (!look_at(&k, again) && k.is_terminal && k.tty == tty))
		return again;
	close(again);
	return -1;
}

/* A descriptor with O_PATH lacks the rights that the file would give. */
static int reopen_if_allowed(int fd, int flags, const struct kind *k)
{
	if (flags & O_PATH)
		return -1;
	if (k->is_terminal)
		return open_terminal(fd, flags, k->tty);
	return k->mode == S_IFIFO ? open_again(fd, flags) : -1;
}

/* --- O_NONBLOCK for one call -------------------------------------------- */

/* Under one of these locks a description has O_NONBLOCK though the program has
 * not set it. A driver that waits in spite of the flag does so under `slow`,
 * for which no worker's thread waits. */
static pthread_mutex_t quick = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;

/* The child of a fork has no other thread. One of those may have held a
 * lock. */
static void reset_nonblock_in_child(void)
{
	pthread_mutex_init(&quick, NULL);
	pthread_mutex_init(&slow, NULL);
}

static void watch_nonblock_forks(void)
{
	(void)pthread_atfork(NULL, NULL, reset_nonblock_in_child);
}

/* Take the lock, unless the program has set the flag. Returns 0 or a negative
 * errno. */
static int lock_and_look(struct io_nonblock *n, const struct kind *k)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_mutex_t      *lock = is_device(k) ? &slow : &quick;

	pthread_once(&once, watch_nonblock_forks);
	pthread_mutex_lock(lock);
	n->flags = fcntl(n->fd, F_GETFL);
	if (n->flags >= 0 && !(n->flags & O_NONBLOCK)) {
		n->lock = lock;
		return 0;
	}
	pthread_mutex_unlock(lock);
	return n->flags < 0 ? -EBADF : 0;
}

static void unlock(struct io_nonblock *n)
{
	pthread_mutex_unlock(n->lock);
	n->lock = NULL;
}

static int set_flag(struct io_nonblock *n, const struct kind *k)
{
	int err = lock_and_look(n, k);

	if (err || !n->lock || !fcntl(n->fd, F_SETFL, n->flags | O_NONBLOCK))
		return err;
	err = -errno;
	unlock(n);
	return err;
}

/* --- begin and end ------------------------------------------------------ */

/* poll() may never report that a device is writable (/dev/random). What has no
 * type, as an eventfd, refuses a wrong size although it is full or empty. */
static bool is_ready(int fd, short events, const struct kind *k)
{
	return !events || !k->mode || (events == POLLOUT && is_device(k)) ||
	       sn_io_poll_now(fd, events);
}

/* Without the right to do it, the call fails at once. */
static bool is_allowed(int flags, short events)
{
	const int mode = flags & O_ACCMODE;

	return mode == O_RDWR ||
	       mode == (events == POLLIN ? O_RDONLY : O_WRONLY);
}

static int begin(struct io_nonblock *n, int fd, short events,
		 const struct kind *k)
{
	int err;

	*n = (struct io_nonblock){ .fd = fd };
	err = lock_and_look(n, k);
	if (err || !n->lock)
		return err;
	unlock(n);
	if (!is_ready(fd, events, k) && is_allowed(n->flags, events))
		return -EAGAIN;
	n->fd = reopen_if_allowed(fd, n->flags, k);
	n->opened = n->fd >= 0;
	if (n->opened)
		return 0;
	n->fd = fd;
	return set_flag(n, k);
}

int sn_io_nonblock_begin(struct io_nonblock *n, int fd, short events)
{
	struct kind k;
	int         err = look_at(&k, fd);

	return err ? err : begin(n, fd, events, &k);
}

void sn_io_nonblock_end(struct io_nonblock *n)
{
	if (n->opened)
		close(n->fd);
	if (!n->lock)
		return;
	(void)fcntl(n->fd, F_SETFL, n->flags);
	unlock(n);
}

static ptrdiff_t do_as(const struct io_request *r, const struct kind *k)
{
	struct io_request  own = *r;
	struct io_nonblock n;
	ptrdiff_t          result = begin(&n, r->fd, r->events, k);

	if (result)
		return result;
	own.fd = n.fd;
	result = own.block(&own);
	sn_io_nonblock_end(&n);
	return result;
}

ptrdiff_t sn_io_nonblock_do(const struct io_request *r)
{
	struct kind k;
	int         err = look_at(&k, r->fd);

	return err ? err : do_as(r, &k);
}

/* Whether the program has set O_NONBLOCK on a device. Also false while a helper
 * thread may have set it. */
static bool is_programs(int fd)
{
	int flags;

	if (pthread_mutex_trylock(&slow))
		return false;
	flags = fcntl(fd, F_GETFL);
	pthread_mutex_unlock(&slow);
	return flags >= 0 && flags & O_NONBLOCK;
}

ptrdiff_t sn_io_nonblock_attempt(const struct io_request *r)
{
	struct kind k;
	int         err = look_at(&k, r->fd);

	if (err)
		return err;
	if (k.mode == S_IFREG || k.mode == S_IFBLK || k.mode == S_IFDIR)
		return -EOPNOTSUPP;
	if (is_device(&k))
		return is_programs(r->fd) ? r->block(r) : -EOPNOTSUPP;
	return do_as(r, &k);
}
