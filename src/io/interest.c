/* SPDX-License-Identifier: Apache-2.0 */
#include "io/interest.h"

#include <errno.h>

/* Have fd watched, for these events, too. What is there already is reported, as
 * if it had come now. 0 or a negative errno. */
static int watch(struct interest *e, int fd, struct watch *w, uint32_t events)
{
	uint32_t           use = sn_io_known_use(fd);
	struct epoll_event event = { .events = EPOLLET | EPOLLRDHUP | EPOLLIN |
					       w->events | events };
	int                known = w->use ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	int                other = w->use ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	event.data.u64 = (uint64_t)use << 32 | (uint32_t)fd;
	w->use = 0;
	if (epoll_ctl(e->epoll, known, fd, &event) &&
	    ((errno != ENOENT && errno != EEXIST) ||
	     epoll_ctl(e->epoll, other, fd, &event)))
		return -errno;
	w->use = use;
	w->events = (uint16_t)event.events; /* without EPOLLET */
	return 0;
}

int sn_interest_arm(struct interest *e, int fd)
{
	struct epoll_event event = { .events = EPOLLONESHOT };

	if (sn_io_watches_find(e->watches, fd))
		return 0;
	event.data.u64 = (uint32_t)fd;
	for (struct ready_wait *n = *sn_ready_waits_on(e->waits, fd); n;
	     n = n->next)
		if (n->fd == fd)
			event.events |= n->events;
	if (!epoll_ctl(e->epoll, EPOLL_CTL_MOD, fd, &event))
		return 0;
	if (errno == ENOENT && !epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &event))
		return 0;
	return -errno;
}

int sn_interest_begin(struct interest *e, struct ready_wait *n, bool tried)
{
	struct watch *w = sn_io_watches_place(e->watches, n->fd);

	if (!w)
		return sn_interest_arm(e, n->fd);
	w->may_hold &= (uint16_t)~n->events;
	if (!tried || !w->use || n->events & ~(uint32_t)w->events)
		return watch(e, n->fd, w, n->events);
	sn_ready_waits_trust(e->waits, n, e->now);
	return 0;
}

/* Make the watch again that n trusts; 0 or a negative errno. */
static int check(struct interest *e, struct ready_wait *n)
{
	struct watch *w = sn_io_watches_place(e->watches, n->fd);

	sn_ready_waits_distrust(e->waits, n);
	return w ? watch(e, n->fd, w, n->events) : sn_interest_arm(e, n->fd);
}

int sn_interest_check(struct interest *e, sennit_time latest)
{
	struct ready_wait *n;

	while ((n = sn_ready_waits_trusting(e->waits, latest)))
		if (check(e, n))
			return n->fd;
	return -1;
}
