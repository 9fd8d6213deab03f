/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "find.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* How long an answer may take, in ms. */
#define PATIENCE 10000

void fault_set(struct fault *f, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(f->text, sizeof(f->text), format, arguments);
	va_end(arguments);
}

/* --- connecting ---------------------------------------------------------- */

static bool set_address(struct sockaddr_un *to, const char *target,
			struct fault *f)
{
	size_t length = strlen(target);

	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (length && strspn(target, "0123456789") == length)
		return find_socket(target, to->sun_path, sizeof(to->sun_path),
				   f);
	if (!length || length >= sizeof(to->sun_path)) {
		fault_set(f, "%.80s: not the path of a socket", target);
		return false;
	}
	memcpy(to->sun_path, target, length);
	return true;
}

/* A socket of another user is not trusted, because it could send anything. */
static bool check_owner(int fd, struct fault *f)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t    size = sizeof(who);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) &&
	    (who.uid == geteuid() || who.uid == 0))
		return true;
	fault_set(f, "the socket belongs to user %u", (unsigned)who.uid);
	return false;
}

bool link_open(struct link *l, const char *target, struct fault *f)
{
	struct sockaddr_un to;

	*l = (struct link){ .fd = -1 };
	if (!set_address(&to, target, f))
		return false;
	l->text = malloc(LINK_LINE);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!l->text || l->fd < 0 ||
	    connect(l->fd, (const struct sockaddr *)&to, sizeof(to))) {
		fault_set(f, "%s: %s", to.sun_path, strerror(errno));
	} else if (check_owner(l->fd, f)) {
		return true;
	}
	link_close(l);
	return false;
}

void link_close(struct link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->text);
	*l = (struct link){ .fd = -1 };
}

/* --- lines --------------------------------------------------------------- */

/* Send a request. A view that rejects this client may have closed the
 * connection after it sent the reason, so that is not an error. */
bool link_send(struct link *l, const char *request, struct fault *f)
{
	if (send(l->fd, request, strlen(request), MSG_NOSIGNAL) >= 0 ||
	    errno == EPIPE || errno == ECONNRESET)
		return true;
	fault_set(f, "%s", strerror(errno));
	return false;
}

static void drop_taken(struct link *l)
{
	memmove(l->text, l->text + l->line, l->used - l->line);
	l->used -= l->line;
	l->line = 0;
}

bool link_read(struct link *l)
{
	ssize_t n;

	drop_taken(l);
	if (l->used == LINK_LINE)
		return false;
	n = recv(l->fd, l->text + l->used, LINK_LINE - l->used, MSG_DONTWAIT);
	if (n > 0)
		l->used += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

char *link_take(struct link *l)
{
	char *end;

	drop_taken(l);
	end = memchr(l->text, '\n', l->used);
	if (!end)
		return NULL;
	*end = '\0';
	l->line = (size_t)(end - l->text) + 1;
	return l->text;
}

static int ms_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int)((now.tv_sec - begin->tv_sec) * 1000 +
		     (now.tv_nsec - begin->tv_nsec) / 1000000);
}

char *link_wait(struct link *l, struct fault *f)
{
	struct pollfd   in = { l->fd, POLLIN, 0 };
	struct timespec begin;
	char           *line;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (!(line = link_take(l))) {
		int left = PATIENCE - ms_since(&begin);

		if (left <= 0) {
			fault_set(f, "the live view does not answer");
			return NULL;
		}
		if (poll(&in, 1, left) > 0 && !link_read(l)) {
			fault_set(f, "the live view has closed the connection");
			return NULL;
		}
	}
	return line;
}

static bool write_all(int to, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(to, text, size);

		if (n < 0)
			return false;
		text += n;
		size -= (size_t)n;
	}
	return true;
}

/* Report whether the text is a line of the protocol, which gives the reason of
 * a failure. */
static bool is_refusal(const char *text, size_t size)
{
	static const char begin[] = "{\"sennit_live\"";

	return size >= sizeof(begin) - 1 &&
	       !memcmp(text, begin, sizeof(begin) - 1);
}

bool link_copy(struct link *l, int to, struct fault *f)
{
	const struct timeval patience = { .tv_sec = 60 };
	size_t               all = 0;
	ssize_t              n;

	setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	drop_taken(l);
	n = l->used ? (ssize_t)l->used : recv(l->fd, l->text, LINK_LINE, 0);
	if (n > 0 && is_refusal(l->text, (size_t)n)) {
		fault_set(f, "the live view does not support this format");
		return false;
	}
	for (; n > 0; n = recv(l->fd, l->text, LINK_LINE, 0)) {
		if (!write_all(to, l->text, (size_t)n)) {
			fault_set(f, "cannot write: %s", strerror(errno));
			return false;
		}
		all += (size_t)n;
	}
	if (!n && all)
		return true;
	fault_set(f, "the live view has closed the connection");
	return false;
}
