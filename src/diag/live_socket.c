/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/live_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Connections that wait to be accepted. */
#define BACKLOG 16

/* --- the path ------------------------------------------------------------ */

/* Whether only this user and root can replace files in `folder`. Others may
 * write in it if the sticky bit keeps them from the files of this user. */
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
	size_t right = strlen(name) + 1; /* with its end */

	s->address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (left + 1 + right > sizeof(s->address.sun_path))
		return -ENAMETOOLONG;
	memcpy(s->address.sun_path, folder, left);
	s->address.sun_path[left] = '/';
	memcpy(s->address.sun_path + left + 1, name, right);
	return 0;
}

/* The folder of `path` without symbolic links, so that the path that the system
 * shows to tools is the one of the file. The name itself is not followed. */
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
	return bind(s->fd, (const struct sockaddr *)&s->address,
		    sizeof(s->address))
		       ? -errno
		       : 0;
}

/* Whether nobody listens at the address. */
static bool is_deaf(const struct live_socket *s)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool deaf;

	if (fd < 0)
		return false;
	deaf = connect(fd, (const struct sockaddr *)&s->address,
		       sizeof(s->address)) &&
	       errno == ECONNREFUSED;
	close(fd);
	return deaf;
}

/* There is something at the address: remove a socket that this user left there.
 * The folder keeps other users from replacing it meanwhile. */
static int clear_path(const struct live_socket *s)
{
	struct stat st;

	if (lstat(s->address.sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != s->owner)
		return -EEXIST;
	if (!is_deaf(s))
		return -EADDRINUSE;
	return unlink(s->address.sun_path) && errno != ENOENT ? -errno : 0;
}

/* The mode of the descriptor becomes that of the file when it is made, so that
 * there is no moment at which others may open it. bind() follows no link. */
static int make_file(struct live_socket *s)
{
	struct stat st;
	int         err;

	if (fchmod(s->fd, S_IRUSR | S_IWUSR))
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
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	err = make_file(s);
	if (!err && listen(s->fd, BACKLOG))
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
	close(s->fd);
}

int sn_live_socket_accept(const struct live_socket *s, bool *refused)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t    size = sizeof(who);
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		*refused = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who,
				      &size) ||
			   who.uid != s->owner;
	return fd;
}
