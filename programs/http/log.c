/* SPDX-License-Identifier: Apache-2.0 */
#include "http/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER   65536
#define MANY     (BUFFER / 4)     /* bytes that are written without delay */
#define LINE     2048             /* longer lines are cut */
#define DELAY    (200 * 1000000L) /* ns between writes */
#define PATIENCE 1                /* s, at the end, if nothing can be written */

/* The buffers of one thread and its fibers. */
struct log {
	struct log     *next;
	pthread_mutex_t lock;
	char           *filling; /* under lock, of BUFFER bytes; as `used` */
	size_t          used;
	char           *writing; /* owned by the writer */
	time_t          second;  /* the second that `date` contains */
	char            date[40];
};

static int                       log_fd = -1;
static atomic_ullong             dropped;
static _Thread_local struct log *mine;

/* The writer is a separate thread, so that a stopped terminal or a file system
 * that does not answer blocks nothing else. */
static pthread_t       writer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the rest */
static pthread_cond_t  changed;
static struct log     *logs;
static bool            filled; /* a line was added */
static bool            urgent; /* MANY bytes were added */
static bool            closing, closed;

/* --- writing ------------------------------------------------------------ */

static uint64_t count_lines(const char *bytes, size_t size)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += bytes[i] == '\n';
	return lines;
}

static void write_all(const char *bytes, size_t size)
{
	while (size) {
		struct pollfd room = { log_fd, POLLOUT, 0 };
		ssize_t       n = write(log_fd, bytes, size);

		if (n < 0 && errno == EAGAIN && poll(&room, 1, -1) > 0)
			continue;
		if (n <= 0) {
			atomic_fetch_add(&dropped, count_lines(bytes, size));
			return;
		}
		bytes += n;
		size -= (size_t)n;
	}
}

static void write_out(struct log *l)
{
	char  *full;
	size_t size;

	pthread_mutex_lock(&l->lock);
	full = l->filling;
	size = l->used;
	l->filling = l->writing;
	l->writing = full;
	l->used = 0;
	pthread_mutex_unlock(&l->lock);
	write_all(full, size);
}

static struct timespec after_delay(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += DELAY;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* Wait until there are lines to write. Lines of a fifth of a second are written
 * together. Lock held. */
static void wait_for_lines(void)
{
	struct timespec until;

	while (!filled && !closing)
		pthread_cond_wait(&changed, &lock);
	until = after_delay();
	while (!urgent && !closing &&
	       !pthread_cond_timedwait(&changed, &lock, &until))
		;
	filled = urgent = false;
}

static void *write_lines(void *unused)
{
	bool last;

	pthread_mutex_lock(&lock);
	do {
		struct log *l;

		wait_for_lines();
		last = closing;
		l = logs; /* logs are only added at the head */
		pthread_mutex_unlock(&lock);
		for (; l; l = l->next)
			write_out(l);
		pthread_mutex_lock(&lock);
	} while (!last);
	closed = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void tell_writer(bool many)
{
	pthread_mutex_lock(&lock);
	filled = true;
	urgent = urgent || many;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* --- open and close ----------------------------------------------------- */

/* The thread blocks all signals. */
static int start_writer(void)
{
	pthread_condattr_t monotonic;
	sigset_t           all, before;
	int                err;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&writer, NULL, write_lines, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

int http_log_open(const char *path)
{
	log_fd = strcmp(path, "-") != 0
			 ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
				0644)
			 : dup(STDOUT_FILENO);
	return log_fd < 0 ? -errno : start_writer();
}

bool http_log_on(void)
{
	return log_fd >= 0;
}

uint64_t http_log_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed);
}

static void free_log(struct log *l)
{
	if (!l)
		return;
	free(l->filling);
	free(l->writing);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* Returns false if the writer is blocked in a write; it ends with the
 * process. */
static bool stop_writer(void)
{
	struct timespec until;
	bool            ended;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&lock);
	closing = true;
	pthread_cond_broadcast(&changed);
	while (!closed && !pthread_cond_timedwait(&changed, &lock, &until))
		;
	ended = closed;
	pthread_mutex_unlock(&lock);
	if (ended)
		pthread_join(writer, NULL);
	return ended;
}

void http_log_close(void)
{
	if (log_fd < 0 || !stop_writer())
		return;
	while (logs) {
		struct log *next = logs->next;

		free_log(logs);
		logs = next;
	}
	close(log_fd);
	log_fd = -1;
}

static struct log *log_here(void)
{
	struct log *l = mine;

	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	l->filling = malloc(BUFFER);
	l->writing = malloc(BUFFER);
	if (!l->filling || !l->writing) {
		free_log(l);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	l->next = logs;
	logs = l;
	pthread_mutex_unlock(&lock);
	return mine = l;
}

/* --- lines -------------------------------------------------------------- */

static size_t add_text(char *to, size_t at, const char *text)
{
	size_t size = strlen(text);

	if (size > LINE - at)
		size = LINE - at;
	memcpy(to + at, text, size);
	return at + size;
}

/* A client chooses these bytes, so escape those that would end the line or the
 * quotes. */
static size_t add_quoted(char *to, size_t at, sennit_http_text text)
{
	at = add_text(to, at, "\"");
	for (size_t i = 0; i < text.size && at < LINE - 100; i++) {
		unsigned char c = (unsigned char)text.at[i];

		if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
			to[at++] = (char)c;
		else
			at += (size_t)snprintf(to + at, 5, "\\x%02X", c);
	}
	if (!text.at)
		to[at++] = '-';
	return add_text(to, at, "\"");
}

static const char *date_of(struct log *l)
{
	struct timespec now;
	struct tm       t;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec != l->second) {
		l->second = now.tv_sec;
		localtime_r(&l->second, &t);
		strftime(l->date, sizeof(l->date),
			 " - - [%d/%b/%Y:%H:%M:%S %z] ", &t);
	}
	return l->date;
}

static size_t add_peer(char *to, const struct sockaddr *peer)
{
	char        text[INET6_ADDRSTRLEN] = "-";
	const void *address =
		peer->sa_family == AF_INET
			? (const void *)&(
				  (const struct sockaddr_in *)(const void *)
					  peer)
				  ->sin_addr
			: (const void *)&(
				  (const struct sockaddr_in6 *)(const void *)
					  peer)
				  ->sin6_addr;

	inet_ntop(peer->sa_family, address, text, sizeof(text));
	return add_text(to, 0, text);
}

static size_t make_line(struct log *l, char *to, const struct sockaddr *peer,
			const sennit_http_head *h, int status, uint64_t bytes)
{
	static const sennit_http_head none;
	size_t                        at = add_peer(to, peer);

	h = h ? h : &none;
	at = add_text(to, at, date_of(l));
	at = add_quoted(to, at, h->line);
	at += (size_t)snprintf(to + at, 40, " %d %llu ", status,
			       (unsigned long long)bytes);
	at = add_quoted(to, at, sennit_http_find(h, "referer"));
	at = add_text(to, at, " ");
	at = add_quoted(to, at, sennit_http_find(h, "user-agent"));
	return add_text(to, at, "\n");
}

void http_log_add(const struct sockaddr *peer, const sennit_http_head *h,
		  int status, uint64_t bytes)
{
	struct log *l = log_here();
	size_t      before = BUFFER, size = 0;

	if (l) {
		pthread_mutex_lock(&l->lock);
		before = l->used;
		if (BUFFER - before > LINE)
			size = make_line(l, l->filling + before, peer, h,
					 status, bytes);
		l->used += size;
		pthread_mutex_unlock(&l->lock);
	}
	if (!size)
		atomic_fetch_add(&dropped, 1);
	else if (!before || (before < MANY && before + size >= MANY))
		tell_writer(before);
}
