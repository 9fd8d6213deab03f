/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live.h"

#include "base/atomic.h"
#include "base/masked_thread.h"
#include "sennit/live.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The minimum time between two looks, and how many times its CPU time passes
 * after a look: at most 2 % of a CPU. */
#define LOOK_GAP  (50 * SENNIT_MILLISECOND)
#define LOOK_REST 50

/* The thread runs at most once in this time, whatever clients do, and then
 * accepts at most ACCEPTS clients. */
#define TURN_MS 10
#define ACCEPTS 4

/* The interval at which clients that take too long are disconnected. */
#define CHECK_MS 1000

struct sennit_live {
	struct live_socket   socket;
	pid_t                process;
	pthread_t            thread;
	a_u32                stop; /* any: 1: the thread must end */
	sennit_time          next_look;
	bool                 shown; /* `text` contains the last look */
	struct live_text     text;
	struct live_client   clients[SENNIT_LIVE_CLIENTS];
	struct live_snapshot snapshot;
};

/* --- clients ------------------------------------------------------------- */

static struct live_client *free_place(struct sennit_live *l)
{
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		if (l->clients[i].file.fd < 0)
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

static bool has_live_reader(const struct sennit_live *l)
{
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		if (sn_live_client_wants(&l->clients[i]))
			return true;
	return false;
}

/* --- looking ------------------------------------------------------------- */

static sennit_time live_cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

/* A look at a million fibers takes long; the next one is then delayed. */
static void take_live_sample(struct sennit_live *l, sennit_time now)
{
	sennit_time begin, rest;

	if (now < l->next_look)
		return;
	begin = live_cpu_time();
	sn_live_snapshot_update(&l->snapshot);
	rest = (live_cpu_time() - begin) * LOOK_REST;
	l->next_look = sennit_now() + (rest > LOOK_GAP ? rest : LOOK_GAP);
	l->shown = false;
}

/* Return the text of the last look. It is made when it is first needed. */
static const struct live_text *show_sample(struct sennit_live *l)
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
			const struct live_text *t = show_sample(l);

			sn_live_client_give(c, t->at, t->used, now);
		}
	}
}

/* --- the thread ---------------------------------------------------------- */

static int timeout(const struct sennit_live *l, sennit_time now)
{
	sennit_time left;

	if (!has_live_reader(l))
		return CHECK_MS;
	left = l->next_look > now ? l->next_look - now : 0;
	return left < CHECK_MS * SENNIT_MILLISECOND
		       ? (int)(left / SENNIT_MILLISECOND) + 1
		       : CHECK_MS;
}

enum { LISTEN, CLIENTS, POLLED = CLIENTS + SENNIT_LIVE_CLIENTS };

/* Wait until there is something to do. May return early. */
static void await(struct sennit_live *l, struct pollfd polled[POLLED])
{
	polled[LISTEN] = (struct pollfd){ l->socket.file.fd, POLLIN, 0 };
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		polled[CLIENTS + i] = (struct pollfd){
			l->clients[i].file.fd,
			sn_live_client_events(&l->clients[i]),
			0,
		};
	if (poll(polled, POLLED, timeout(l, sennit_now())) < 0)
		for (uint32_t i = 0; i < POLLED; i++)
			polled[i].revents = 0;
}

/* Drop the clients whose descriptors the program has closed. Returns false if
 * it has closed that of the socket. */
static bool has_its_files(struct sennit_live *l)
{
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		if (!sn_own_file_is_there(&l->clients[i].file))
			sn_live_client_close(&l->clients[i]);
	return sn_own_file_is_there(&l->socket.file);
}

static void take_turn(struct sennit_live *l, const struct pollfd polled[POLLED])
{
	sennit_time now = sennit_now();

	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		sn_live_client_serve(&l->clients[i],
				     polled[CLIENTS + i].revents, now);
	if (polled[LISTEN].revents)
		accept_clients(l, now);
	if (!has_live_reader(l)) {
		sn_live_snapshot_reset(&l->snapshot);
		l->next_look = 0;
		return;
	}
	take_live_sample(l, now);
	if (sn_live_snapshot_is_warm(&l->snapshot))
		give(l);
}

/* Limit how often the thread runs. */
static void rest(void)
{
	(void)poll(NULL, 0, TURN_MS);
}

static void *serve(void *live)
{
	struct sennit_live *l = live;
	struct pollfd       polled[POLLED];

	for (;;) {
		await(l, polled);
		if (a_load_rlx(&l->stop)) /* relaxed: no other data is
					   * published */
			break;
		if (!has_its_files(l)) {
			fprintf(stderr, "sennit: the live view ends: the "
					"program has closed its socket\n");
			break;
		}
		take_turn(l, polled);
		rest();
	}
	for (uint32_t i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		sn_live_client_close(&l->clients[i]);
	return NULL;
}

/* Start the thread, which blocks the program's signals. sennit-top finds the
 * socket by the thread's name, which contains the number of the descriptor. The
 * thread has that name before sennit_live_start returns. */
static int start_live_thread(struct sennit_live *l)
{
	char name[16];
	int  err;

	snprintf(name, sizeof(name), "sn-live/%d", l->socket.file.fd);
	err = sn_masked_thread_start(&l->thread, NULL, serve, l);
	if (!err)
		pthread_setname_np(l->thread, name);
	return err;
}

/* --- public -------------------------------------------------------------- */

static void free_live(struct sennit_live *l)
{
	if (l->snapshot.only)
		sennit_weak_scheduler_release(l->snapshot.only);
	free(l->text.at);
	free(l);
}

static struct sennit_live *make_live(sennit_scheduler *s)
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
	int err = sn_live_socket_open(&l->socket, path);

	if (err)
		return err;
	err = start_live_thread(l);
	if (err)
		sn_live_socket_close(&l->socket, true);
	return err;
}

int sennit_live_start(sennit_live **out, sennit_scheduler *s, const char *path)
{
	struct sennit_live *l;
	int                 err;

	if (!out || !path || !*path)
		return -EINVAL;
	l = make_live(s);
	if (!l)
		return -ENOMEM;
	err = open_and_start(l, path);
	if (err)
		free_live(l);
	else
		*out = l;
	return err;
}

static void end_live_thread(struct sennit_live *l)
{
	if (pthread_equal(l->thread, pthread_self())) {
		fprintf(stderr, "sennit: sennit_live_stop: called on the "
				"view's own thread\n");
		abort();
	}
	a_store_rlx(&l->stop, 1);
	/* The thread wakes now, or at its next check of clients. */
	if (sn_own_file_is_there(&l->socket.file))
		shutdown(l->socket.file.fd, SHUT_RDWR);
	pthread_join(l->thread, NULL);
}

void sennit_live_stop(sennit_live *live)
{
	bool ours;

	if (!live)
		return;
	ours = live->process == getpid();
	if (ours)
		end_live_thread(live);
	sn_live_socket_close(&live->socket, ours);
	if (!ours)
		live->snapshot.only = NULL; /* the parent's */
	free_live(live);
}
