/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/live_client.h"

#include "diag/live_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WATCH_MAX UINT64_C(60000) /* milliseconds */

void sn_live_client_init(struct live_client *c)
{
	*c = (struct live_client){ .fd = -1 };
}

void sn_live_client_close(struct live_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->out);
	sn_live_client_init(c);
}

/* --- answers ------------------------------------------------------------- */

/* Send what the socket takes now. */
static void flush(struct live_client *c, sennit_time now)
{
	ssize_t n = send(c->fd, c->out + c->out_sent, c->out_used - c->out_sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			sn_live_client_close(c);
		return;
	}
	c->active = now;
	c->out_sent += (size_t)n;
	if (c->out_sent < c->out_used)
		return;
	free(c->out);
	c->out = NULL;
	if (c->leaving)
		sn_live_client_close(c);
}

/* Send a copy of the text. All of the last one must have been sent. */
static void answer(struct live_client *c, const char *text, size_t size,
		   sennit_time now)
{
	c->out = malloc(size);
	if (!c->out) {
		sn_live_client_close(c);
		return;
	}
	memcpy(c->out, text, size);
	c->out_used = size;
	c->out_sent = 0;
	flush(c, now);
}

static size_t write_error(char *text, size_t size, const char *why)
{
	struct live_text t = { .at = text, .size = size };

	sn_live_text_add(&t,
			 "{\"sennit_live\":%d,\"type\":\"error\",\"error\":",
			 LIVE_VERSION);
	sn_live_text_quote(&t, why);
	sn_live_text_add(&t, "}\n");
	return t.used;
}

static void fail(struct live_client *c, const char *why, sennit_time now)
{
	char text[256];

	c->leaving = true;
	answer(c, text, write_error(text, sizeof(text), why), now);
}

void sn_live_client_refuse(int fd, const char *why)
{
	char   text[256];
	size_t size = write_error(text, sizeof(text), why);

	(void)!send(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

void sn_live_client_open(struct live_client *c, int fd, sennit_time now)
{
	char             text[512];
	struct live_text t = { .at = text, .size = sizeof(text) };

	c->fd = fd;
	c->active = now;
	sn_live_text_add(&t,
			 "{\"sennit_live\":%d,\"type\":\"hello\",\"pid\":%d,"
			 "\"library\":\"%d.%d.%d\",\"program\":",
			 LIVE_VERSION, (int)getpid(), SENNIT_VERSION_MAJOR,
			 SENNIT_VERSION_MINOR, SENNIT_VERSION_PATCH);
	sn_live_text_quote(&t, program_invocation_short_name);
	sn_live_text_add(&t, "}\n");
	answer(c, text, t.used, now);
}

void sn_live_client_give(struct live_client *c, const char *text, size_t size,
			 sennit_time now)
{
	sennit_time gap = c->period > LIVE_GAP ? c->period : LIVE_GAP;

	c->asks = false;
	c->leaving = c->ended && !c->period;
	c->due = now + gap;
	answer(c, text, size, now);
}

/* --- requests ------------------------------------------------------------ */

/* "watch MS", which has no sign and no more than digits. */
static bool read_watch(struct live_client *c, const char *line)
{
	uint64_t ms = 0;

	if (strncmp(line, "watch ", 6) || !line[6])
		return false;
	for (const char *digit = line + 6; *digit; digit++) {
		if (*digit < '0' || *digit > '9' || ms > WATCH_MAX)
			return false;
		ms = ms * 10 + (uint64_t)(*digit - '0');
	}
	if (ms > WATCH_MAX)
		return false;
	c->period = ms * SENNIT_MILLISECOND;
	return true;
}

static void obey(struct live_client *c, const char *line, size_t length,
		 sennit_time now)
{
	bool whole = strlen(line) == length; /* no zero byte in it */

	if (whole && !strcmp(line, "get"))
		c->asks = true;
	else if (!whole || !read_watch(c, line))
		fail(c, "requests are: get, watch MS (0..60000)", now);
}

/* Obey the whole lines that have come. */
static void read_lines(struct live_client *c, sennit_time now)
{
	char *end;

	while (c->fd >= 0 && !c->leaving &&
	       (end = memchr(c->in, '\n', c->in_used))) {
		size_t length = (size_t)(end - c->in);

		*end = '\0';
		obey(c, c->in, length, now);
		if (c->fd < 0)
			return;
		c->in_used -= length + 1;
		memmove(c->in, end + 1, c->in_used);
	}
	if (c->fd >= 0 && !c->leaving && c->in_used == LIVE_LINE)
		fail(c, "the request is too long", now);
}

static void receive(struct live_client *c, sennit_time now)
{
	ssize_t n = recv(c->fd, c->in + c->in_used, LIVE_LINE - c->in_used,
			 MSG_DONTWAIT);

	if (n > 0) {
		c->in_used += (size_t)n;
		c->active = now;
		read_lines(c, now);
	} else if (n == 0 && sn_live_client_wants(c) && !c->ended) {
		c->ended = true; /* and may read on: echo get | nc -U PATH */
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		sn_live_client_close(c);
	}
}

/* --- turns --------------------------------------------------------------- */

short sn_live_client_events(const struct live_client *c)
{
	if (c->out)
		return POLLOUT;
	return c->ended ? 0 : POLLIN; /* poll() always tells of a hangup */
}

/* Whether it takes too long. Who watches and reads is heard of by that. */
static bool is_late(const struct live_client *c, sennit_time now)
{
	return (c->out || !sn_live_client_wants(c)) &&
	       now - c->active > LIVE_PATIENCE;
}

void sn_live_client_serve(struct live_client *c, short events, sennit_time now)
{
	if (c->fd >= 0 && c->out && events)
		flush(c, now);
	else if (c->fd >= 0 && events)
		receive(c, now);
	if (c->fd >= 0 && is_late(c, now))
		sn_live_client_close(c);
}

bool sn_live_client_wants(const struct live_client *c)
{
	return c->fd >= 0 && !c->leaving && (c->asks || c->period);
}

bool sn_live_client_is_due(const struct live_client *c, sennit_time now)
{
	return sn_live_client_wants(c) && !c->out && now >= c->due;
}
