/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/live/live.h"

#include "sennit/live.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* The least time between two looks, and how much longer than the CPU time of a
 * look: 2 %. */
#define LOOK_GAP  (50 * SENNIT_MILLISECOND)
#define LOOK_REST 50

/* The thread goes on at most once in this time, whatever clients do, and then
 * accepts at most ACCEPTS. */
#define TURN_MS 10
#define ACCEPTS 4

/* How often clients that take too long are looked for. */
#define CHECK_MS 1000

struct sennit_live {
	struct live_socket   socket;
	pid_t                process;
	pthread_t            thread;
	int                  stop; /* an eventfd: the thread should end */
	sennit_time          next_look;
	bool                 shown; /* `text` is the last look */
	struct live_text     text;
	struct live_client   clients[SENNIT_LIVE_CLIENTS];
	struct live_snapshot snapshot;
};

/* --- clients ------------------------------------------------------------- */

static struct live_client *free_place(struct sennit_live *l)
{
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		if (l->clients[i].fd < 0)
			return &l->clients[i];
	return NULL;
}

static void accept_clients(struct sennit_live *l, sennit_time now)
{
	for (uint32_t i = 0; i < ACCEPTS; i++) {
		struct live_client *c = free_place(l);
		bool                foreign = false;
		int fd = sn_live_socket_accept(&l->socket, &foreign);

		if (fd < 0)
			return;
		if (foreign)
			sn_live_client_refuse(fd, "for the owner only");
		else if (!c)
			sn_live_client_refuse(fd, "too many clients");
		else
			sn_live_client_open(c, fd, now);
	}
}

static bool is_wanted(const struct sennit_live *l)
{
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		if (sn_live_client_wants(&l->clients[i]))
			return true;
	return false;
}

/* --- looking ------------------------------------------------------------- */

static sennit_time cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

/* A look at a million fibers takes a while, and the next one is put off. */
static void look(struct sennit_live *l, sennit_time now)
{
	sennit_time begin, rest;

	if (now < l->next_look)
		return;
	begin = cpu_time();
	sn_live_snapshot_update(&l->snapshot);
	rest = (cpu_time() - begin) * LOOK_REST;
	l->next_look = sennit_now() + (rest > LOOK_GAP ? rest : LOOK_GAP);
	l->shown = false;
}

/* The text of the last look, made when it is first needed. */
static const struct live_text *show(struct sennit_live *l)
{
	static const char too_long[] = "{\"sennit_live\":1,\"type\":\"error\","
				       "\"error\":\"too long\"}\n";

	if (l->shown)
		return &l->text;
	l->text.used = 0;
	l->text.cut = false;
	sn_live_snapshot_write(&l->snapshot, &l->text);
	if (l->text.cut) {
		memcpy(l->text.at, too_long, sizeof(too_long) - 1);
		l->text.used = sizeof(too_long) - 1;
	}
	l->shown = true;
	return &l->text;
}

static void give(struct sennit_live *l)
{
	sennit_time now = sennit_now();

	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++) {
		struct live_client *c = &l->clients[i];

		if (sn_live_client_is_due(c, now)) {
			const struct live_text *t = show(l);

			sn_live_client_give(c, t->at, t->used, now);
		}
	}
}

/* --- the thread ---------------------------------------------------------- */

static int timeout(const struct sennit_live *l, sennit_time now)
{
	sennit_time left;

	if (!is_wanted(l)) {
		for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
			if (l->clients[i].fd >= 0)
				return CHECK_MS;
		return -1;
	}
	left = l->next_look > now ? l->next_look - now : 0;
	return left < CHECK_MS * SENNIT_MILLISECOND
		       ? (int)(left / SENNIT_MILLISECOND) + 1
		       : CHECK_MS;
}

enum { STOP, LISTEN, CLIENTS, POLLED = CLIENTS + SENNIT_LIVE_CLIENTS };

/* Wait until there is something to do. Returns false to end. */
static bool await(struct sennit_live *l, struct pollfd polled[POLLED])
{
	polled[STOP] = (struct pollfd){ l->stop, POLLIN, 0 };
	polled[LISTEN] = (struct pollfd){ l->socket.fd, POLLIN, 0 };
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		polled[CLIENTS + i] = (struct pollfd){
			l->clients[i].fd,
			sn_live_client_events(&l->clients[i]),
			0,
		};
	if (poll(polled, POLLED, timeout(l, sennit_now())) < 0)
		for (uint32_t i = 0; i < POLLED; i++)
			polled[i].revents = 0;
	return !polled[STOP].revents;
}

static void take_turn(struct sennit_live *l, const struct pollfd polled[POLLED])
{
	sennit_time now = sennit_now();

	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		sn_live_client_serve(&l->clients[i],
				     polled[CLIENTS + i].revents, now);
	if (polled[LISTEN].revents)
		accept_clients(l, now);
	if (!is_wanted(l)) {
		sn_live_snapshot_reset(&l->snapshot);
		l->next_look = 0;
		return;
	}
	look(l, now);
	if (sn_live_snapshot_is_warm(&l->snapshot))
		give(l);
}

/* Whether to go on after the rest that makes turns rare. */
static bool rest(const struct sennit_live *l)
{
	struct pollfd stop = { l->stop, POLLIN, 0 };

	return poll(&stop, 1, TURN_MS) <= 0;
}

static void *serve(void *live)
{
	struct sennit_live *l = live;
	struct pollfd       polled[POLLED];

	while (await(l, polled)) {
		take_turn(l, polled);
		if (!rest(l))
			break;
	}
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		sn_live_client_close(&l->clients[i]);
	return NULL;
}

/* The thread takes no signal of the program's. sennit-top finds the socket by
 * the thread's name, which contains the number of the descriptor. It has that
 * name when sennit_live_start returns. */
static int start_thread(struct sennit_live *l)
{
	char     name[16];
	sigset_t all, old;
	int      err;

	snprintf(name, sizeof(name), "sn-live/%d", l->socket.fd);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&l->thread, NULL, serve, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(l->thread, name);
	return -err;
}

/* --- public -------------------------------------------------------------- */

static void free_live(struct sennit_live *l)
{
	if (l->snapshot.only)
		sennit_weak_release(l->snapshot.only);
	free(l->text.at);
	free(l);
}

static struct sennit_live *make(sennit_scheduler *s)
{
	struct sennit_live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->text.size = LIVE_TEXT;
	l->text.at = malloc(LIVE_TEXT);
	if (s)
		l->snapshot.only = sennit_scheduler_weak(s);
	l->process = getpid();
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		sn_live_client_init(&l->clients[i]);
	if (!l->text.at) {
		free_live(l);
		return NULL;
	}
	return l;
}

static int open_and_start(struct sennit_live *l, const char *path)
{
	int err;

	l->stop = eventfd(0, EFD_CLOEXEC);
	if (l->stop < 0)
		return -errno;
	err = sn_live_socket_open(&l->socket, path);
	if (!err) {
		err = start_thread(l);
		if (err)
			sn_live_socket_close(&l->socket, true);
	}
	if (err)
		close(l->stop);
	return err;
}

int sennit_live_start(sennit_live **out, sennit_scheduler *s, const char *path)
{
	struct sennit_live *l;
	int                 err;

	if (!out || !path || !*path)
		return -EINVAL;
	l = make(s);
	if (!l)
		return -ENOMEM;
	err = open_and_start(l, path);
	if (err)
		free_live(l);
	else
		*out = l;
	return err;
}

static void end_thread(const struct sennit_live *l)
{
	if (pthread_equal(l->thread, pthread_self())) {
		fprintf(stderr, "sennit: sennit_live_stop: called on the "
				"view's own thread\n");
		abort();
	}
	(void)!eventfd_write(l->stop, 1);
	pthread_join(l->thread, NULL);
}

void sennit_live_stop(sennit_live *live)
{
	bool ours;

	if (!live)
		return;
	ours = live->process == getpid();
	if (ours)
		end_thread(live);
	sn_live_socket_close(&live->socket, ours);
	close(live->stop);
	if (!ours)
		live->snapshot.only = NULL; /* the parent's */
	free_live(live);
}
