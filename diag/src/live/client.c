/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - a client of a live view: its requests and answers; and the socket
 * to which clients connect. */
#include "base/own_fd.h"
#include "live/live.h"
#include "stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define WATCH_MAX UINT64_C(60000) /* milliseconds */

void sn_live_client_init(struct live_client *c)
{
	*c = (struct live_client){ .file.fd = -1 };
}

void sn_live_client_close(struct live_client *c)
{
	sn_own_file_close(&c->file);
	free(c->out);
	sn_live_client_init(c);
}

/* --- answers ------------------------------------------------------------- */

/* Send as much as the socket takes now. */
static void flush_client(struct live_client *c, sennit_time now)
{
	ssize_t n = send(c->file.fd, c->out + c->out_sent,
			 c->out_used - c->out_sent,
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

/* Send a copy of the text. The previous answer must have been sent. */
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
	flush_client(c, now);
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

	c->file = sn_own_file(fd);
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

/* Parse "watch MS". MS is digits only. */
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

/* Answer with all stacks of the process, and send nothing afterwards. */
static void answer_stacks(struct live_client       *c,
			  enum sennit_stacks_format format, sennit_time now)
{
	const int   fd = sn_own_fd(memfd_create("sennit-stacks", MFD_CLOEXEC));
	struct stat s = { .st_size = 0 };
	void       *text = MAP_FAILED;

	(void)sennit_stacks_print(NULL, fd, format); /* the text contains the
						      * error */
	if (!fstat(fd, &s) && s.st_size)
		text = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd,
			    0);
	close(fd);
	if (text == MAP_FAILED) {
		fail(c, "no memory for the stacks", now);
		return;
	}
	c->leaving = true;
	answer(c, text, (size_t)s.st_size, now);
	munmap(text, (size_t)s.st_size);
}

/* Parse "stacks merged", or another merged format. Others could be too long. */
static bool read_stacks(const char *line, enum sennit_stacks_format *format)
{
	return !strncmp(line, "stacks ", 7) &&
	       sn_stacks_format(line + 7, format) &&
	       *format >= SENNIT_STACKS_MERGED;
}

static void handle_request(struct live_client *c, const char *line,
			   size_t length, sennit_time now)
{
	bool whole = strlen(line) == length; /* it contains no zero byte */
	enum sennit_stacks_format format;

	if (whole && !strcmp(line, "get"))
		c->asks = true;
	else if (whole && read_stacks(line, &format))
		answer_stacks(c, format, now);
	else if (!whole || !read_watch(c, line))
		fail(c,
		     "requests are: get, watch MS (0..60000), stacks merged | "
		     "merged-json | pprof",
		     now);
}

/* Handle the complete lines that have been received. */
static void read_lines(struct live_client *c, sennit_time now)
{
	char *end;

	while (c->file.fd >= 0 && !c->leaving &&
	       (end = memchr(c->in, '\n', c->in_used))) {
		size_t length = (size_t)(end - c->in);

		*end = '\0';
		handle_request(c, c->in, length, now);
		if (c->file.fd < 0)
			return;
		c->in_used -= length + 1;
		memmove(c->in, end + 1, c->in_used);
	}
	if (c->file.fd >= 0 && !c->leaving && c->in_used == LIVE_LINE)
		fail(c, "the request is too long", now);
}

static void receive(struct live_client *c, sennit_time now)
{
	ssize_t n = recv(c->file.fd, c->in + c->in_used, LIVE_LINE - c->in_used,
			 MSG_DONTWAIT);

	if (n > 0) {
		c->in_used += (size_t)n;
		c->active = now;
		read_lines(c, now);
	} else if (n == 0 && sn_live_client_wants(c) && !c->ended) {
		c->ended = true; /* the client may still read: echo get | nc -U
				  * PATH */
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		sn_live_client_close(c);
	}
}

/* --- turns --------------------------------------------------------------- */

short sn_live_client_events(const struct live_client *c)
{
	if (c->out)
		return POLLOUT;
	return c->ended ? 0 : POLLIN; /* poll() always reports a hangup */
}

/* Report whether the client takes too long. A client that watches is late only
 * if it does not read. */
static bool is_late(const struct live_client *c, sennit_time now)
{
	return (c->out || !sn_live_client_wants(c)) &&
	       now - c->active > LIVE_PATIENCE;
}

void sn_live_client_serve(struct live_client *c, short events, sennit_time now)
{
	if (c->file.fd >= 0 && c->out && events)
		flush_client(c, now);
	else if (c->file.fd >= 0 && events)
		receive(c, now);
	if (c->file.fd >= 0 && is_late(c, now))
		sn_live_client_close(c);
}

bool sn_live_client_wants(const struct live_client *c)
{
	return c->file.fd >= 0 && !c->leaving && (c->asks || c->period);
}

bool sn_live_client_is_due(const struct live_client *c, sennit_time now)
{
	return sn_live_client_wants(c) && !c->out && now >= c->due;
}

/* --- live socket ---------------------------------------------------------- */

/* The maximum number of connections that wait to be accepted. */
#define BACKLOG 16

/* --- the path ------------------------------------------------------------ */

/* Check that only this user and root can replace files in `folder`. Others may
 * have write permission if the sticky bit protects the files of this user. */
static int check_folder(const char *folder)
{
	struct stat st;

	if (stat(folder, &st))
		return -errno;
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return -EPERM;
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX))
		return -EPERM;
	return 0;
}

/* Write folder/name to the address. */
static int set_path(struct live_socket *s, const char *folder, const char *name)
{
	size_t left = strcmp(folder, "/") ? strlen(folder) : 0;
	size_t right = strlen(name) + 1; /* including the terminating zero */

	s->address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (left + 1 + right > sizeof(s->address.sun_path))
		return -ENAMETOOLONG;
	memcpy(s->address.sun_path, folder, left);
	s->address.sun_path[left] = '/';
	memcpy(s->address.sun_path + left + 1, name, right);
	return 0;
}

/* Resolve symbolic links in the folder of `path`, so that the path that the
 * system shows to tools is that of the file. The file's own name is not
 * resolved. */
static int resolve(struct live_socket *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char        given[PATH_MAX];
	char        folder[PATH_MAX];
	size_t      length = slash ? (size_t)(slash - path) + 1 : 0;
	int         err;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	if (length >= sizeof(given))
		return -ENAMETOOLONG;
	memcpy(given, path, length);
	given[length] = '\0';
	if (!realpath(length ? given : ".", folder))
		return -errno;
	err = check_folder(folder);
	return err ? err : set_path(s, folder, name);
}

/* --- the file ------------------------------------------------------------ */

static int bind_to(const struct live_socket *s)
{
	return bind(s->file.fd, (const struct sockaddr *)&s->address,
		    sizeof(s->address))
		       ? -errno
		       : 0;
}

/* Report whether no process listens at the address. */
static bool has_no_listener(const struct live_socket *s)
{
	int fd = sn_own_fd(
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	bool deaf;

	if (fd < 0)
		return false;
	deaf = connect(fd, (const struct sockaddr *)&s->address,
		       sizeof(s->address)) &&
	       errno == ECONNREFUSED;
	close(fd);
	return deaf;
}

/* Something exists at the address: remove it if it is a socket that this user
 * left there. The folder's permissions keep other users from replacing it
 * meanwhile. */
static int clear_path(const struct live_socket *s)
{
	struct stat st;

	if (lstat(s->address.sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != s->owner)
		return -EEXIST;
	if (!has_no_listener(s))
		return -EADDRINUSE;
	return unlink(s->address.sun_path) && errno != ENOENT ? -errno : 0;
}

/* Create the socket file. Its mode is that of the descriptor at creation, so
 * others can never open it. bind() follows no symbolic link. */
static int make_file(struct live_socket *s)
{
	struct stat st;
	int         err;

	if (fchmod(s->file.fd, S_IRUSR | S_IWUSR))
		return -errno;
	err = bind_to(s);
	if (err == -EADDRINUSE) {
		err = clear_path(s);
		if (!err)
			err = bind_to(s);
	}
	if (err)
		return err;
	if (lstat(s->address.sun_path, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != s->owner ||
	    (st.st_mode & 077))
		return -EPERM;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	return 0;
}

int sn_live_socket_open(struct live_socket *s, const char *path)
{
	int err = resolve(s, path);

	if (err)
		return err;
	s->owner = geteuid();
	s->inode = 0;
	s->file = sn_own_file(sn_own_fd(socket(
		AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
	if (s->file.fd < 0)
		return -errno;
	err = make_file(s);
	if (!err && listen(s->file.fd, BACKLOG))
		err = -errno;
	if (err)
		sn_live_socket_close(s, s->inode);
	return err;
}

void sn_live_socket_close(struct live_socket *s, bool remove)
{
	struct stat st;

	if (remove && !lstat(s->address.sun_path, &st) &&
	    st.st_dev == s->device && st.st_ino == s->inode)
		unlink(s->address.sun_path);
	sn_own_file_close(&s->file);
}

int sn_live_socket_accept(const struct live_socket *s, bool *refused)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t    size = sizeof(who);
	int          fd;

	fd = accept4(s->file.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	fd = sn_own_fd(fd);
	if (fd >= 0)
		*refused = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who,
				      &size) ||
			   who.uid != s->owner;
	return fd;
}
