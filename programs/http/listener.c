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
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long to wait for the other process. */
#define PATIENCE (10 * SENNIT_SECOND)

static int complain(const char *name, const char *what, int err)
{
	fprintf(stderr, "%s: %s%s\n", name, what, sennit_strerror(err));
	return -1;
}

/* --- a socket of the service manager ------------------------------------ */

/* The first socket, by the protocol of sd_listen_fds(3). */
#define PASSED 3

/* Return the socket; -ENOENT: there is none; -EINVAL: there are several. */
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

/* --- the handover between processes ------------------------------------- */

/* A message of one byte with a socket. */
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

/* Check that the name is free, or that of a socket. */
static int check_name(const char *name)
{
	struct stat is;

	if (lstat(name, &is))
		return errno == ENOENT ? 0 : -errno;
	return S_ISSOCK(is.st_mode) ? 0 : -EEXIST;
}

/* Returns 0, and the socket if there is one. */
static int take_over(struct http_listener *l, const char *path)
{
	int err = check_name(path);

	if (err == -EEXIST) {
		fprintf(stderr, "%s: not a socket\n", path);
		return -1;
	}
	if (!err)
		err = dial(path);

	if (err == -ENOENT || err == -ECONNREFUSED)
		return 0;
	if (err >= 0) {
		l->before = err;
		err = l->fd = receive_socket(l->before);
	}
	return err < 0 ? complain(path, "handover failed: ", err) : 0;
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
		return complain("LISTEN_FDS", "needs one socket: ", l->fd);
	if (path && take_over(l, path)) {
		http_listener_close(l);
		return -1;
	}
	if (l->fd < 0)
		l->fd = make(address, path ? 0 : SENNIT_LISTEN_SHARED);
	return l->fd < 0 ? -1 : 0;
}

/* --- the handover to the next process ----------------------------------- */

/* Remove a socket left by an earlier process that ended here. Returns 0 or an
 * error: another process listens there, or it is not a socket. */
static int clear_name(const char *name)
{
	int err = check_name(name);
	int fd = err ? err : dial(name);

	if (fd >= 0) {
		sennit_close(fd);
		return -EADDRINUSE;
	}
	if (fd == -ECONNREFUSED && unlink(name))
		return -errno;
	return fd == -ENOENT || fd == -ECONNREFUSED ? 0 : fd;
}

/* Listen for the next process under another name, make the previous process
 * end, and take its name. Until then the previous process hands over. */
int http_listener_begin(struct http_listener *l)
{
	char        text[SENNIT_ADDRESS_TEXT] = "unix:";
	char *const name = text + 5;
	int         err = 0;

	if (!l->path)
		return 0;
	(void)snprintf(name, sizeof(text) - 5, "%s~", l->path);
	err = clear_name(name);
	if (err)
		return complain(name, "", err);
	l->next = sennit_listen_at(text, 0, SENNIT_NEVER);
	if (l->next < 0)
		return complain(l->path, "", l->next);
	if (l->before < 0)
		err = check_name(l->path);
	else
		err = sennit_send_all(l->before, "", 1, 0, NULL,
				      sennit_after(PATIENCE));
	if (!err && rename(name, l->path))
		err = -errno;
	return err ? complain(l->path, "handover failed: ", err) : 0;
}

/* The processes that have connected. */
struct takers {
	int          fd;   /* the socket that they get */
	sennit_group all;  /* ends when one of them has taken over */
	atomic_bool  done; /* one of them has taken over */
};

struct taker {
	struct takers *of;
	int            fd;
};

static int hand_to(void *argument)
{
	const struct taker *t = argument;
	char                byte;

	if (send_socket(t->fd, t->of->fd) &&
	    sennit_recv(t->fd, &byte, 1, 0, sennit_after(PATIENCE)) == 1) {
		atomic_store(&t->of->done, true);
		sennit_group_cancel(&t->of->all);
	}
	sennit_close(t->fd);
	return 0;
}

/* A member of `all`, so it ends with that group. */
static int accept_takers(void *argument)
{
	struct http_listener *l = argument;

	while (!sennit_check_cancelled()) {
		struct taker        t = { l->takers, -1 };
		const sennit_member member = {
			.run = hand_to,
			.argument = &t,
			.copy_size = sizeof(t),
			.flags = SENNIT_MEMBER_SAME_THREAD
		};

		t.fd = sennit_accept(l->next, NULL, NULL, SOCK_CLOEXEC,
				     SENNIT_NEVER);
		if (t.fd < 0) /* no descriptor may be free */
			(void)!sennit_sleep(10 * SENNIT_MILLISECOND);
		else if (sennit_group_spawn_task(&t.of->all, &member))
			sennit_close(t.fd);
	}
	return 0;
}

int http_listener_hand_over(struct http_listener *l)
{
	struct takers takers = { .fd = l->fd };
	int           err;

	l->takers = &takers;
	sennit_group_init(&takers.all, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	err = sennit_group_spawn(&takers.all, accept_takers, l);
	sennit_group_wait(&takers.all);
	return err ? err : atomic_load(&takers.done) ? 0 : -ECANCELED;
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
