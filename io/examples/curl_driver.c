/* SPDX-License-Identifier: Apache-2.0 */
#include "curl_driver.h"

#include <sennit/io.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS 64 /* that one turn handles */

/* In the frame of curl_driver_perform. */
struct transfer {
	CURL         *easy;
	CURLcode      result; /* valid once ended */
	sennit_future ended;
	sennit_future taken_back; /* if that was asked for */
};

enum what { START, TAKE_BACK, STOP };

struct curl_request {
	enum what        what;
	struct transfer *transfer;
};

/* --- what libcurl asks for ---------------------------------------------- */

/* Which events of which socket it wants. It says so before it closes one. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *driver,
		 void *known)
{
	struct curl_driver *d = driver;
	struct epoll_event  event = { .data.fd = fd };

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(d->set, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
		       (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	if (epoll_ctl(d->set, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd,
		      &event))
		return -1;
	curl_multi_assign(d->multi, fd, d); /* `known` from now on */
	return 0;
}

static int set_timer(CURLM *multi, long ms, void *driver)
{
	struct curl_driver *d = driver;

	(void)multi;
	d->due = ms < 0 ? SENNIT_NEVER
			: sennit_after((uint64_t)ms * SENNIT_MILLISECOND);
	return 0;
}

/* --- requests of other fibers ------------------------------------------- */

/* The channel is unbounded: taking a transfer back must not wait. */
static int request(struct curl_driver *d, enum what what, struct transfer *t)
{
	const struct curl_request r = { what, t };
	int                       err = sennit_channel_send(&d->requests, &r);

	return err ? err : eventfd_write(d->wake, 1) ? -errno : 0;
}

static void end(struct transfer *t, CURLcode result)
{
	t->result = result;
	sennit_future_set(&t->ended, NULL);
}

static void begin(struct curl_driver *d, struct transfer *t)
{
	if (curl_multi_add_handle(d->multi, t->easy))
		end(t, CURLE_FAILED_INIT);
}

/* It may have ended in the meantime: then its caller returns the result. */
static void take_back(struct curl_driver *d, struct transfer *t)
{
	if (!sennit_future_is_set(&t->ended))
		curl_multi_remove_handle(d->multi, t->easy);
	sennit_future_set(&t->taken_back, NULL);
}

static void take_requests(struct curl_driver *d)
{
	struct curl_request r;
	eventfd_t           unused;

	(void)!eventfd_read(d->wake, &unused);
	while (!sennit_channel_receive_until(&d->requests, &r, 0)) {
		if (r.what == START)
			begin(d, r.transfer);
		else if (r.what == TAKE_BACK)
			take_back(d, r.transfer);
		else
			d->stopping = true;
	}
}

/* --- the driver --------------------------------------------------------- */

static void take_sockets(struct curl_driver *d)
{
	struct epoll_event events[EVENTS];
	int                n = epoll_wait(d->set, events, EVENTS, 0);
	int                running;

	for (int i = 0; i < n; i++) {
		uint32_t e = events[i].events;
		int      mask = (e & EPOLLIN ? CURL_CSELECT_IN : 0) |
			   (e & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			   (e & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

		if (events[i].data.fd == d->wake)
			take_requests(d);
		else
			curl_multi_socket_action(d->multi, events[i].data.fd,
						 mask, &running);
	}
}

/* Tells those whose transfers have ended. From then on they may free them. */
static void tell_ends(struct curl_driver *d)
{
	CURLMsg *m;
	int      left;

	while ((m = curl_multi_info_read(d->multi, &left))) {
		CURLcode         result = m->data.result;
		struct transfer *t;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
		curl_multi_remove_handle(d->multi, m->easy_handle);
		end(t, result);
	}
}

/* Not a member of a group: cancelling one takes back its transfers, for which
 * there must be a driver. */
static void drive(void *argument)
{
	struct curl_driver *d = argument;
	int                 running;

	while (!d->stopping) {
		if (sennit_poll(d->set, POLLIN, d->due) > 0)
			take_sockets(d);
		if (sennit_now() >= d->due) {
			d->due = SENNIT_NEVER; /* it sets another */
			curl_multi_socket_action(d->multi, CURL_SOCKET_TIMEOUT,
						 0, &running);
		}
		tell_ends(d);
		d->turns++;
	}
	sennit_event_set(&d->ended); /* *d may be gone */
}

int curl_driver_perform(struct curl_driver *d, CURL *easy, CURLcode *result,
			sennit_time deadline)
{
	struct transfer t = { .easy = easy,
			      .ended = SENNIT_FUTURE_INIT,
			      .taken_back = SENNIT_FUTURE_INIT };
	int             err;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, &t);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	err = request(d, START, &t);
	if (err)
		return err;
	err = sennit_future_wait_until(&t.ended, deadline);
	if (err) {
		while (request(d, TAKE_BACK, &t)) /* no memory */
			sennit_sleep(SENNIT_MILLISECOND);
		(void)!sennit_future_wait_until(&t.taken_back,
						SENNIT_UNCANCELLED);
		if (!sennit_future_is_set(&t.ended))
			return err;
	}
	*result = t.result;
	return 0;
}

/* --- start and stop ----------------------------------------------------- */

static void free_driver(struct curl_driver *d)
{
	curl_multi_cleanup(d->multi); /* calls `watch` */
	close(d->wake);
	close(d->set);
	sennit_channel_destroy(&d->requests);
}

int curl_driver_start(struct curl_driver *d, long connections)
{
	struct epoll_event event = { .events = EPOLLIN };
	int                err;

	*d = (struct curl_driver){ .due = SENNIT_NEVER };
	d->multi = curl_multi_init();
	d->set = epoll_create1(EPOLL_CLOEXEC);
	d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	event.data.fd = d->wake;
	err = d->multi ? 0 : -ENOMEM;
	if (!err && epoll_ctl(d->set, EPOLL_CTL_ADD, d->wake, &event))
		err = -errno; /* also when one of the two is not there */
	if (!err)
		err = sennit_channel_init(&d->requests,
					  SENNIT_CHANNEL_UNBOUNDED,
					  sizeof(struct curl_request), NULL);
	if (!err) {
		curl_multi_setopt(d->multi, CURLMOPT_SOCKETFUNCTION, watch);
		curl_multi_setopt(d->multi, CURLMOPT_SOCKETDATA, d);
		curl_multi_setopt(d->multi, CURLMOPT_TIMERFUNCTION, set_timer);
		curl_multi_setopt(d->multi, CURLMOPT_TIMERDATA, d);
		curl_multi_setopt(d->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
				  connections);
		err = sennit_schedule(drive, d);
	}
	if (err)
		free_driver(d);
	return err;
}

void curl_driver_stop(struct curl_driver *d)
{
	while (request(d, STOP, NULL)) /* no memory */
		sennit_sleep(SENNIT_MILLISECOND);
	(void)!sennit_event_wait_until(&d->ended, SENNIT_UNCANCELLED);
	free_driver(d);
}
