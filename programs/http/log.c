/* SPDX-License-Identifier: Apache-2.0 */
#include "http/log.h"

#include <sennit.h>
#include <sennit/io.h>

#include <http_parser.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER   65536
#define LINE     2048 /* longer ones are cut */
#define DELAY    (200 * SENNIT_MILLISECOND)
#define PATIENCE (5 * SENNIT_SECOND) /* with a pipe that nobody reads */

/* Of one thread and its fibers. */
struct log {
	struct log *next;
	char       *filling, *writing; /* of BUFFER bytes each */
	size_t      used;              /* of *filling */
	bool        busy;              /* a fiber writes it out */
	time_t      second;            /* that `date` shows */
	char        date[40];
};

static int                       log_fd = -1;
static atomic_ullong             dropped;
static struct log               *logs; /* under lock */
static pthread_mutex_t           lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct log *mine;

/* --- open and close ----------------------------------------------------- */

int http_log_open(const char *path)
{
	log_fd = strcmp(path, "-") != 0
			 ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
				0644)
			 : dup(STDOUT_FILENO);
	return log_fd < 0 ? -errno : 0;
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
	free(l);
}

void http_log_close(void)
{
	while (logs) {
		struct log *next = logs->next;

		free_log(logs);
		logs = next;
	}
	if (log_fd >= 0)
		close(log_fd);
	log_fd = -1;
}

static struct log *log_here(void)
{
	struct log *l = mine;

	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (l) {
		l->filling = malloc(BUFFER);
		l->writing = malloc(BUFFER);
	}
	if (!l || !l->filling || !l->writing) {
		free_log(l);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	l->next = logs;
	logs = l;
	pthread_mutex_unlock(&lock);
	return mine = l;
}

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
		ptrdiff_t n = sennit_write(log_fd, bytes, size,
					   sennit_after(PATIENCE));

		if (n <= 0) {
			atomic_fetch_add(&dropped, count_lines(bytes, size));
			return;
		}
		bytes += n;
		size -= (size_t)n;
	}
}

/* Lines of a fifth of a second are written by one call. */
static void write_out(void *argument)
{
	struct log *l = argument;

	while (l->used) {
		char  *full;
		size_t size;

		if (l->used < BUFFER / 4)
			sennit_sleep(DELAY);
		full = l->filling;
		size = l->used;
		l->filling = l->writing;
		l->writing = full;
		l->used = 0;
		write_all(full, size);
	}
	l->busy = false;
}

static void start_writing(struct log *l)
{
	const sennit_task task = { .run = write_out,
				   .argument = l,
				   .flags = SENNIT_TASK_SAME_THREAD };

	l->busy = !sennit_schedule_task(&task);
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

/* A client chooses these bytes: none of them may end the line or the quotes. */
static size_t add_quoted(char *to, size_t at, struct http_text text)
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
			const struct http_head *h, int status, uint64_t bytes)
{
	static const struct http_head none;
	size_t                        at = add_peer(to, peer);

	h = h ? h : &none;
	at = add_text(to, at, date_of(l));
	at = add_quoted(to, at, h->line);
	at += (size_t)snprintf(to + at, 40, " %d %llu ", status,
			       (unsigned long long)bytes);
	at = add_quoted(to, at, h->known[HTTP_REFERER]);
	at = add_text(to, at, " ");
	at = add_quoted(to, at, h->known[HTTP_USER_AGENT]);
	return add_text(to, at, "\n");
}

void http_log_add(const struct sockaddr *peer, const struct http_head *h,
		  int status, uint64_t bytes)
{
	struct log *l = log_here();

	if (!l || BUFFER - l->used < LINE + 1) {
		atomic_fetch_add(&dropped, 1);
		return;
	}
	l->used += make_line(l, l->filling + l->used, peer, h, status, bytes);
	if (!l->busy)
		start_writing(l);
}
