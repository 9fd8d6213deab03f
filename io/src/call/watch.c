/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - the calls of sennit/watch.h, on inotify. */
#include "base/own_fd.h"
#include "base/sized.h"
#include "engine/perform.h"
#include "sennit/io.h"
#include "sennit/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

struct sennit_watch {
	int      fd;              /* fixed */
	bool     waiting, closed; /* by the worker that both are on */
	uint32_t at, end;         /* unread part of events, in bytes */
	uint64_t events[512];     /* aligned */
};

_Static_assert(sizeof(((struct sennit_watch *)0)->events) >=
		       sizeof(struct inotify_event) + SENNIT_WATCH_NAME_MAX + 1,
	       "room for at least one event");

/* The size of the first release's event. */
#define EVENT_FIRST SIZE_THROUGH(sennit_watch_event, name)
ENDS_WITH(sennit_watch_event, name);

int sennit_watch_open(sennit_watch **out)
{
	sennit_watch *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (sennit_watch){ .fd = sn_own_fd(
				     inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) };
	if (w->fd < 0) {
		int err = -errno;

		free(w);
		return err;
	}
	*out = w;
	return 0;
}

int sennit_watch_add(sennit_watch *w, const char *path, uint32_t mask)
{
	int watched = inotify_add_watch(w->fd, path, mask);

	return watched < 0 ? -errno : watched;
}

int sennit_watch_remove(sennit_watch *w, int watched)
{
	return inotify_rm_watch(w->fd, watched) ? -errno : 0;
}

static ptrdiff_t attempt_watch_read(const struct io_request *r)
{
	ptrdiff_t n = read(r->fd, r->bytes, r->size);

	return n < 0 ? -errno : n;
}

/* The later of the close and the wait that it ends frees the watch. */
static int read_watch_events(sennit_watch *w, sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_watch_read,
				      .fd = w->fd,
				      .events = POLLIN,
				      .bytes = w->events,
				      .size = sizeof(w->events) };
	ptrdiff_t               n;

	w->waiting = true;
	n = sn_io_do(&r, deadline);
	w->waiting = false;
	if (w->closed) {
		free(w);
		return -ECANCELED;
	}
	if (n < 0)
		return (int)n;
	w->at = 0;
	w->end = (uint32_t)n;
	return 0;
}

/* Take the next event of those that were read. */
static int take_watch_event(sennit_watch *w, sennit_watch_event *event)
{
	const char          *at = (const char *)w->events + w->at;
	struct inotify_event e;

	memcpy(&e, at, sizeof(e));
	w->at += (uint32_t)sizeof(e) + e.len;
	if (e.mask & IN_Q_OVERFLOW)
		return -EOVERFLOW;
	*event = (sennit_watch_event){ .size = sizeof(*event),
				       .watched = e.wd,
				       .mask = e.mask,
				       .cookie = e.cookie };
	if (e.len) /* e.len includes the padding zeroes */
		strcpy(event->name, at + sizeof(e));
	return 0;
}

int sennit_watch_next(sennit_watch *w, sennit_watch_event *event,
		      sennit_time deadline)
{
	sennit_watch_event found;
	int                err = event->size < EVENT_FIRST ? -EINVAL : 0;

	if (!err && w->at == w->end)
		err = read_watch_events(w, deadline);
	if (!err)
		err = take_watch_event(w, &found);
	if (!err)
		(void)sn_sized_write(event, &found, sizeof(found), EVENT_FIRST);
	return err;
}

void sennit_watch_close(sennit_watch *w)
{
	if (!w)
		return;
	w->closed = true;
	(void)sennit_close(w->fd);
	if (!w->waiting)
		free(w);
}
