/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c - manages the temporary file, and removes it when a signal
 * comes. */
#include "file/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

/* The file that the handler removes. It changes only while the signals are
 * blocked. */
static char *temporary;

static void fill(sigset_t *set)
{
	sigemptyset(set);
	for (int i = 0; i < SIGNALS; i++)
		sigaddset(set, signals[i]);
}

void replace_block_signals(void)
{
	sigset_t set;

	fill(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void replace_unblock_signals(void)
{
	sigset_t set;

	fill(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* The default action follows when the handler returns, because the signal is
 * blocked until then. */
static void remove_and_end(int number)
{
	if (temporary)
		unlink(temporary);
	signal(number, SIG_DFL);
	raise(number);
}

void replace_on_signals(void)
{
	struct sigaction action = { .sa_handler = remove_and_end }, before;

	fill(&action.sa_mask);
	for (int i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/* Return the name of a file in the folder of `path`, for mkstemp(). */
static char *name_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');
	int         folder = slash ? (int)(slash - path) + 1 : 0;
	char       *name;

	if (asprintf(&name, "%.*s.sennit-XXXXXX", folder, path) < 0)
		return NULL;
	return name;
}

int replace_open(struct replacement *r, const char *path)
{
	char *name = name_temporary(path);
	int   fd, error = ENOMEM;

	r->path = strdup(path);
	replace_block_signals();
	fd = name && r->path ? mkostemp(name, O_CLOEXEC) : -1;
	if (fd >= 0)
		temporary = name;
	else if (name && r->path)
		error = errno;
	replace_unblock_signals();
	if (fd < 0) {
		free(name);
		free(r->path);
		return -error;
	}
	r->fd = fd;
	return 0;
}

void replace_take_after(const struct replacement *r, const struct stat *from)
{
	const struct timespec times[2] = { from->st_atim, from->st_mtim };
	mode_t                mode = from->st_mode & 07777;

	/* Set-id bits apply only with that owner. */
	if (fchown(r->fd, from->st_uid, from->st_gid))
		mode &= 0777;
	(void)!fchmod(r->fd, mode);
	(void)!futimens(r->fd, times);
}

void replace_make_public(const struct replacement *r)
{
	mode_t mask = umask(077);

	umask(mask);
	(void)!fchmod(r->fd, 0666 & ~mask);
}

/* The signals must be blocked. */
static void forget(struct replacement *r)
{
	free(temporary);
	temporary = NULL;
	free(r->path);
	r->path = NULL;
}

/* On a file system without RENAME_NOREPLACE, a file that appears between the
 * check and the renaming may be lost. */
static int rename_to(const char *path, bool may_replace)
{
	struct stat st;

	if (!may_replace) {
		if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, path,
			       RENAME_NOREPLACE))
			return 0;
		if (errno != EINVAL && errno != ENOSYS)
			return -errno;
		if (!lstat(path, &st))
			return -EEXIST;
	}
	return rename(temporary, path) ? -errno : 0;
}

int replace_commit(struct replacement *r, bool may_replace)
{
	int error = close(r->fd) ? -errno : 0;

	replace_block_signals();
	if (!error)
		error = rename_to(r->path, may_replace);
	if (error)
		unlink(temporary);
	forget(r);
	replace_unblock_signals();
	return error;
}

void replace_drop(struct replacement *r)
{
	close(r->fd);
	replace_block_signals();
	unlink(temporary);
	forget(r);
	replace_unblock_signals();
}
