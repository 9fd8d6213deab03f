/* SPDX-License-Identifier: Apache-2.0 */
#include "io/engine/perform.h"
#include "sennit/io.h"
#include "sennit/signals.h"
#include "sennit/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

_Static_assert(sizeof(((sennit_watch *)0)->events_) >=
		       sizeof(struct inotify_event) + SENNIT_WATCH_NAME_MAX + 1,
	       "room for at least one event");

int sennit_watch_open(sennit_watch *w)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -errno;
	w->fd_ = fd;
	w->at_ = w->end_ = 0;
	return 0;
}

int sennit_watch_add(sennit_watch *w, const char *path, uint32_t mask)
{
	int watched = inotify_add_watch(w->fd_, path, mask);

	return watched < 0 ? -errno : watched;
}

int sennit_watch_remove(sennit_watch *w, int watched)
{
	return inotify_rm_watch(w->fd_, watched) ? -errno : 0;
}

static ptrdiff_t attempt_read(const struct io_request *r)
{
	ptrdiff_t n = read(r->fd, r->bytes, r->size);

	return n < 0 ? -errno : n;
}

static int read_more(sennit_watch *w, sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_read,
				      .fd = w->fd_,
				      .events = POLLIN,
				      .bytes = w->events_,
				      .size = sizeof(w->events_) };
	ptrdiff_t               n = sn_io_do(&r, deadline);

	if (n < 0)
		return (int)n;
	w->at_ = 0;
	w->end_ = (uint32_t)n;
	return 0;
}

int sennit_watch_next(sennit_watch *w, sennit_watch_event *event,
		      sennit_time deadline)
{
	struct inotify_event e;
	const char          *at;

	if (w->at_ == w->end_) {
		int err = read_more(w, deadline);

		if (err)
			return err;
	}
	at = (const char *)w->events_ + w->at_;
	memcpy(&e, at, sizeof(e));
	w->at_ += (uint32_t)sizeof(e) + e.len;
	if (e.mask & IN_Q_OVERFLOW)
		return -EOVERFLOW;
	event->watched = e.wd;
	event->mask = e.mask;
	event->cookie = e.cookie;
	event->name[0] = '\0';
	if (e.len) /* which counts zeroes behind the name */
		strcpy(event->name, at + sizeof(e));
	return 0;
}

void sennit_watch_close(sennit_watch *w)
{
	(void)sennit_close(w->fd_);
	w->fd_ = -1;
}

/* --- signals -------------------------------------------------------------- */

/* Whether the calling thread blocks all of them; so do the threads that it has
 * made since. */
static bool are_blocked(const sigset_t *which)
{
	sigset_t now;

	if (pthread_sigmask(SIG_BLOCK, NULL, &now))
		return false;
	for (int i = 1; i < NSIG; i++)
		if (sigismember(which, i) == 1 && sigismember(&now, i) != 1)
			return false;
	return true;
}

int sennit_signals_open(sennit_signals *s, const sigset_t *which)
{
	int fd;

	if (!are_blocked(which))
		return -EINVAL;
	fd = signalfd(-1, which, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	s->fd_ = fd;
	return 0;
}

int sennit_signals_wait(sennit_signals *s, struct signalfd_siginfo *info,
			sennit_time deadline)
{
	struct signalfd_siginfo got;
	const struct io_request r = { .attempt = attempt_read,
				      .fd = s->fd_,
				      .events = POLLIN,
				      .bytes = &got,
				      .size = sizeof(got) };
	ptrdiff_t               n = sn_io_do(&r, deadline);

	if (n < 0)
		return (int)n;
	if (info)
		*info = got;
	return (int)got.ssi_signo;
}

void sennit_signals_close(sennit_signals *s)
{
	(void)sennit_close(s->fd_);
	s->fd_ = -1;
}
