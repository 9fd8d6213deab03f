/* SPDX-License-Identifier: Apache-2.0 */
#include "http/listener.h"

#include "http/address.h"

#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The other process is there, or it is not. */
#define PATIENCE (10 * SENNIT_SECOND)

static int complain(const char *name, const char *what, int err)
{
	fprintf(stderr, "%s: %s%s\n", name, what, sennit_strerror(err));
	return -1;
}

/* --- passed ------------------------------------------------------------- */

/* The first of the sockets, by the protocol of sd_listen_fds(3). */
#define PASSED 3

/* Returns it; -ENOENT: there is none; -EINVAL: there are several. */
static int take_passed(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");

	if (!pid || !count || strtol(pid, NULL, 10) != getpid())
		return -ENOENT;
	if (strcmp(count, "1"))
		return -EINVAL;
	if (fcntl(PASSED, F_SETFD, FD_CLOEXEC))
		return -errno;
	return PASSED;
}

/* --- from one process to the next --------------------------------------- */

/* A byte and a socket. */
struct parcel {
	struct msghdr message;
	struct iovec  piece;
	char          byte;
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
};

static void make_parcel(struct parcel *p)
{
	memset(p, 0, sizeof(*p));
	p->piece = (struct iovec){ &p->byte, 1 };
	p->message = (struct msghdr){ .msg_iov = &p->piece,
				      .msg_iovlen = 1,
				      .msg_control = p->room,
				      .msg_controllen = sizeof(p->room) };
}

static bool send_socket(int to, int fd)
{
	struct parcel   p;
	struct cmsghdr *with;

	make_parcel(&p);
	with = CMSG_FIRSTHDR(&p.message);
	with->cmsg_len = CMSG_LEN(sizeof(fd));
	with->cmsg_level = SOL_SOCKET;
	with->cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(with), &fd, sizeof(fd));
	return sennit_sendmsg(to, &p.message, 0, sennit_after(PATIENCE)) > 0;
}

static int receive_socket(int from)
{
	struct parcel   p;
	struct cmsghdr *with;
	ptrdiff_t       n;
	int             fd;

	make_parcel(&p);
	n = sennit_recvmsg(from, &p.message, MSG_CMSG_CLOEXEC,
			   sennit_after(PATIENCE));
	with = CMSG_FIRSTHDR(&p.message);
	if (n <= 0)
		return n ? (int)n : -ECONNRESET;
	if (!with || with->cmsg_len < CMSG_LEN(sizeof(fd)))
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(with), sizeof(fd));
	return fd;
}

static int dial(const char *path)
{
	char text[SENNIT_ADDRESS_TEXT];

	if ((size_t)snprintf(text, sizeof(text), "unix:%s", path) >=
	    sizeof(text))
		return -ENAMETOOLONG;
	return sennit_connect_to(text, sennit_after(PATIENCE));
}

/* Returns 0, and the socket or none. */
static int take_over(struct http_listener *l, const char *path)
{
	int err = dial(path);

	if (err == -ENOENT || err == -ECONNREFUSED)
		return 0;
	if (err >= 0) {
		l->before = err;
		err = l->fd = receive_socket(l->before);
	}
	return err < 0 ? complain(path, "not handed over: ", err) : 0;
}

/* --- opening ------------------------------------------------------------ */

static int make(const char *address, uint32_t flags)
{
	struct sockaddr_storage to;
	int                     size = http_address_resolve(address, true, &to);
	int                     fd;

	if (size < 0)
		return -1;
	fd = sennit_listen((struct sockaddr *)&to, (socklen_t)size, 0, flags);
	return fd < 0 ? complain(address, "", fd) : fd;
}

int http_listener_open(struct http_listener *l, const char *address,
		       const char *path)
{
	*l = (struct http_listener){ .before = -1, .next = -1, .path = path };
	l->fd = take_passed();
	if (l->fd >= 0)
		return 0;
	if (l->fd != -ENOENT)
		return complain("LISTEN_FDS", "not one socket: ", l->fd);
	if (path && take_over(l, path)) {
		http_listener_close(l);
		return -1;
	}
	if (l->fd < 0)
		l->fd = make(address, path ? 0 : SENNIT_LISTEN_SHARED);
	return l->fd < 0 ? -1 : 0;
}

/* --- the next process --------------------------------------------------- */

/* Be there for the next one under another name, let the one before end, and
 * take its name: until then it is the one that hands over. */
int http_listener_begin(struct http_listener *l)
{
	char        text[SENNIT_ADDRESS_TEXT] = "unix:";
	char *const name = text + 5;
	int         err = 0;

	if (!l->path)
		return 0;
	(void)snprintf(name, sizeof(text) - 5, "%s~", l->path);
	(void)unlink(name);
	l->next = sennit_listen_on(text, 0);
	if (l->next < 0)
		return complain(l->path, "", l->next);
	if (l->before >= 0)
		err = sennit_send_all(l->before, "", 1, 0, NULL,
				      sennit_after(PATIENCE));
	if (!err && rename(name, l->path))
		err = -errno;
	return err ? complain(l->path, "not handed over: ", err) : 0;
}

static bool hand_to(int next, int fd)
{
	char byte;

	return send_socket(next, fd) &&
	       sennit_recv(next, &byte, 1, 0, sennit_after(PATIENCE)) == 1;
}

int http_listener_hand_over(struct http_listener *l)
{
	bool done = false;

	while (!done && !sennit_cancelled()) {
		int next = sennit_accept(l->next, NULL, NULL, SOCK_CLOEXEC,
					 SENNIT_NEVER);

		if (next >= 0) {
			done = hand_to(next, l->fd);
			sennit_close(next);
		} else {
			/* No descriptor may be free. */
			(void)!sennit_sleep(10 * SENNIT_MILLISECOND);
		}
	}
	return done ? 0 : -ECANCELED;
}

void http_listener_close(struct http_listener *l)
{
	if (l->fd >= 0)
		sennit_close(l->fd);
	if (l->before >= 0)
		sennit_close(l->before);
	if (l->next >= 0)
		sennit_close(l->next);
}
