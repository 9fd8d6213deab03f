/* SPDX-License-Identifier: Apache-2.0 */
#include "epoll/registration.h"

#include "engine/closing.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* Watch fd for these events, too. The current events are reported as if they
 * came now. Returns 0 or a negative errno. */
static int watch(struct interest *e, int fd, struct watch *w, uint32_t events)
{
	uint32_t           use = sn_io_known_use(fd);
	struct epoll_event event = { .events = EPOLLET | EPOLLRDHUP | EPOLLIN |
					       w->events | events };
	int                known = w->use ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	int                other = w->use ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	event.data.u64 = (uint64_t)use << 32 | (uint32_t)fd;
	w->use = 0;
	sn_io_closing_register(e->closing, fd);
	if (epoll_ctl(e->epoll, known, fd, &event) &&
	    ((errno != ENOENT && errno != EEXIST) ||
	     epoll_ctl(e->epoll, other, fd, &event)))
		return -errno;
	w->use = use;
	w->events = (uint16_t)event.events; /* 16 bits: without EPOLLET */
	return 0;
}

int sn_interest_arm(struct interest *e, int fd)
{
	struct epoll_event event = { .events = EPOLLONESHOT };

	if (sn_io_watches_find(e->watches, fd))
		return 0;
	event.data.u64 = (uint32_t)fd;
	for (struct by_fd *n = *sn_by_fds_on(&e->waits->by, fd); n; n = n->next)
		if (n->fd == fd)
			event.events |= sn_ready_wait_of(n)->events;
	sn_io_closing_register(e->closing, fd);
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

/* Renew the watch on which n relies. Returns 0 or a negative errno. */
static int renew_watch(struct interest *e, struct ready_wait *n)
{
	struct watch *w = sn_io_watches_place(e->watches, n->fd);

	sn_ready_waits_distrust(e->waits, n);
	return w ? watch(e, n->fd, w, n->events) : sn_interest_arm(e, n->fd);
}

int sn_interest_check(struct interest *e, sennit_time latest)
{
	struct ready_wait *n;

	while ((n = sn_ready_waits_trusting(e->waits, latest)))
		if (renew_watch(e, n))
			return n->fd;
	return -1;
}

/* --- watches -------------------------------------------------------------- */

/* Initial number of entries. It grows with the descriptors. */
#define PLACES TORTURED(4u, 256u)

void sn_io_watches_free(struct watches *w)
{
	if (w->of)
		w->memory->release(w->memory->context, w->of,
				   w->count * sizeof(*w->of));
	w->of = NULL;
	w->count = 0;
}

static bool grow_watches(struct watches *w, uint32_t least)
{
	uint32_t      count = w->count ? w->count : PLACES;
	struct watch *of;

	while (count <= least)
		count *= 2;
	of = w->memory->allocate(w->memory->context, count * sizeof(*of),
				 _Alignof(struct watch));
	if (!of)
		return false;
	if (w->count)
		memcpy(of, w->of, w->count * sizeof(*of));
	memset(of + w->count, 0, (count - w->count) * sizeof(*of));
	sn_io_watches_free(w);
	w->of = of;
	w->count = count;
	return true;
}

struct watch *sn_io_watches_place(struct watches *w, int fd)
{
	uint32_t use = sn_io_known_use(fd);

	if (!use ||
	    ((uint32_t)fd >= w->count && !grow_watches(w, (uint32_t)fd)))
		return NULL;
	if (w->of[fd].use != use)
		w->of[fd] = (struct watch){ .use = 0 };
	return &w->of[fd];
}

/* --- known sockets -------------------------------------------------------- */

a_u32 sn_io_known_uses[KNOWN_SOCKETS_MOST];

/* Only with TCP does a short receive mean that nothing is left. */
static bool is_tcp(int fd)
{
	int       protocol = 0;
	socklen_t size = sizeof(protocol);

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) &&
	       protocol == IPPROTO_TCP;
}

/* The use of fd. NULL: descriptors of this size are not known. */
static a_u32 *use_of(int fd)
{
	return (uint32_t)fd < KNOWN_SOCKETS ? &sn_io_known_uses[fd] : NULL;
}

bool sn_io_known_begin(int fd)
{
	a_u32   *use = use_of(fd);
	uint32_t was, ended;

	if (!use)
		return false;
	was = a_load_rlx(use);
	ended = was + was % 2;
	a_store_rlx(use, is_tcp(fd) ? ended + 1 : ended);
	return was % 2;
}

void sn_io_known_end(int fd)
{
	a_u32 *use = use_of(fd);

	if (use && a_load_rlx(use) % 2)
		a_store_rlx(use, a_load_rlx(use) + 1);
}

/* --- ready waits ---------------------------------------------------------- */

void sn_ready_waits_trust(struct ready_waits *w, struct ready_wait *n,
			  sennit_time now)
{
	n->trusts = true;
	n->since = now;
	sn_link_join(&w->trusting, &n->link);
}

void sn_ready_waits_distrust(struct ready_waits *w, struct ready_wait *n)
{
	if (n->trusts)
		sn_link_leave(&w->trusting, &n->link);
	n->trusts = false;
}

void sn_ready_waits_remove(struct ready_waits *w, struct ready_wait *n)
{
	sn_ready_waits_distrust(w, n);
	sn_by_fds_remove(&w->by, &n->by);
}
