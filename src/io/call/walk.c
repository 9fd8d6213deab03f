/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - a stack of directories, from the first to the one being visited.
 *
 *	level 0   open always
 *	...       closed, when there are more than OPEN: reopened by their names
 *	...       the last OPEN, open
 *
 * A level has a piece of its directory: the entries that were read and not yet
 * visited, each as its type, its error and its name. Whatever touches the disc
 * is one blocking call: opening a directory and reading its first piece,
 * reading the next piece, or reopening. Only one of the caller and that call
 * runs at a time, so they share everything.
 */
#include "sennit/blocking.h"
#include "sennit/group.h"
#include "sennit/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN = 16, PIECE = 32768, NAME_ROOM = 256 };

/* What getdents64() writes; libc's headers differ. */
struct record {
	uint64_t ino;
	int64_t  next;
	uint16_t size;
	uint8_t  type;
	char     name[];
};

struct level {
	int    fd; /* -1: closed */
	size_t name,
		end; /* in the path: where its name begins, its path ends */
	dev_t  dev;
	ino_t  ino;
	off_t  next;          /* where to go on reading */
	char  *piece;         /* NULL: all of it was visited */
	size_t size, visited; /* of the piece */
	bool   ended;         /* there is no more to read */
};

struct walk {
	uint32_t        flags;
	sennit_walk_fn *visit;
	void           *argument;
	sennit_time     deadline;
	char           *path; /* of the entry, or of the last level */
	size_t          path_room;
	struct level   *levels;
	size_t          count, room;
	int (*work)(struct walk *w); /* what the blocking call does */
	int    err;                  /* how that ended */
	char  *scratch;              /* PIECE bytes, for that */
	mode_t first;                /* the type of the first entry */
};

static struct level *last(const struct walk *w)
{
	return &w->levels[w->count - 1];
}

/* --- in blocking calls: a piece ----------------------------------------- */

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* What it is, where a directory does not say it or a link is followed. An errno
 * value if that cannot be known. */
static int look(const struct walk *w, int fd, const char *name, uint8_t *type)
{
	const bool  follow = w->flags & SENNIT_WALK_FOLLOW;
	struct stat st;

	if (*type != DT_UNKNOWN && (*type != DT_LNK || !follow))
		return 0;
	if (fstatat(fd, name, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) &&
	    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	*type = (uint8_t)IFTODT(st.st_mode);
	return 0;
}

static int look_at_first(struct walk *w)
{
	uint8_t type = DT_UNKNOWN;
	int     err = look(w, AT_FDCWD, w->path, &type);

	w->first = (mode_t)DTTOIF(type);
	return -err;
}

/* Read records up to `size` bytes, and say whether they were the last. */
static int read_records(struct level *l, char *to, size_t *size)
{
	size_t room = *size;

	*size = 0;
	while (!l->ended && room - *size >= PIECE / 8) {
		long n = syscall(SYS_getdents64, l->fd, to + *size,
				 room - *size);

		if (n < 0 && errno != EINTR)
			return -errno;
		l->ended = !n;
		*size += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Records become entries, in place: those are shorter. Returns their size. */
static size_t keep_entries(const struct walk *w, struct level *l, char *bytes,
			   size_t size)
{
	size_t kept = 0;

	for (size_t at = 0; at < size;) {
		struct record r;
		const char   *name = bytes + at + offsetof(struct record, name);
		size_t        length = strlen(name) + 1;
		int           err;

		memcpy(&r, bytes + at, offsetof(struct record, name));
		at += r.size;
		l->next = r.next;
		if (is_dots(name))
			continue;
		err = look(w, l->fd, name, &r.type);
		if (err == ENOENT)
			continue; /* removed since */
		bytes[kept++] = (char)r.type;
		bytes[kept++] = (char)err;
		memmove(bytes + kept, name, length);
		kept += length;
	}
	return kept;
}

/* The next piece, which is not empty unless the directory has ended. */
static int read_piece(struct walk *w)
{
	struct level *l = last(w);
	size_t        size = 0;

	while (!size && !l->ended) {
		int err;

		size = PIECE;
		err = read_records(l, w->scratch, &size);
		if (err)
			return err;
		size = keep_entries(w, l, w->scratch, size);
	}
	if (!size)
		return 0;
	l->piece = malloc(size);
	if (!l->piece)
		return -ENOMEM;
	memcpy(l->piece, w->scratch, size);
	l->size = size;
	l->visited = 0;
	return 0;
}

/* --- in blocking calls: directories ------------------------------------- */

static int open_directory(const struct walk *w, int in, const char *name,
			  struct stat *st)
{
	const int follow = w->flags & SENNIT_WALK_FOLLOW ? 0 : O_NOFOLLOW;
	int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static void close_level(struct level *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* Of the levels but the first, only the last OPEN up to `top` stay open. */
static void close_distant(struct walk *w, size_t top)
{
	if (top > OPEN)
		close_level(&w->levels[top - OPEN]);
}

static bool is_around(const struct walk *w, const struct stat *st)
{
	for (size_t i = 0; i + 1 < w->count; i++)
		if (w->levels[i].dev == st->st_dev &&
		    w->levels[i].ino == st->st_ino)
			return true;
	return false;
}

/* Open the last level, which is new, and read its first piece. */
static int enter(struct walk *w)
{
	struct level *l = last(w);
	const int     in = w->count > 1 ? l[-1].fd : AT_FDCWD;
	struct stat   st;
	int           fd = open_directory(w, in, w->path + l->name, &st);

	if (fd < 0)
		return fd;
	l->fd = fd;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	if (is_around(w, &st))
		return -ELOOP;
	close_distant(w, w->count - 1);
	return read_piece(w);
}

/* Open level i by its name in the one before, where it is still the same. */
static int reopen_level(struct walk *w, size_t i)
{
	struct level *l = &w->levels[i];
	const size_t  length = l->end - l->name;
	char          name[NAME_ROOM];
	struct stat   st;
	int           fd;

	if (length >= sizeof(name))
		return -ENAMETOOLONG;
	memcpy(name, w->path + l->name, length);
	name[length] = '\0';
	fd = open_directory(w, l[-1].fd, name, &st);
	if (fd < 0)
		return fd;
	if (st.st_dev != l->dev || st.st_ino != l->ino ||
	    lseek(fd, l->next, SEEK_SET) < 0) {
		close(fd);
		return -ESTALE;
	}
	l->fd = fd;
	return 0;
}

/* Open the last level again, and others before it. */
static int reopen(struct walk *w)
{
	size_t i = w->count - 1;
	int    err = 0;

	while (w->levels[i].fd < 0)
		i--;
	while (!err && ++i < w->count) {
		err = reopen_level(w, i);
		close_distant(w, i);
	}
	return err;
}

/* --- the caller --------------------------------------------------------- */

static void *do_work(void *argument)
{
	struct walk *w = argument;

	w->err = w->work(w);
	return NULL;
}

/* Whether the walk goes on; *err: how the work has ended, or why it ends. */
static bool do_blocking(struct walk *w, int (*work)(struct walk *w), int *err)
{
	const sennit_time until = w->deadline;

	w->work = work;
	*err = until == SENNIT_UNCANCELLED ? 0 : sennit_cancelled();
	if (!*err && until < SENNIT_UNCANCELLED && sennit_now() >= until)
		*err = -ETIMEDOUT;
	if (!*err) /* which begins also where it would have to end */
		*err = sennit_blocking_call_until(do_work, w, NULL, until);
	if (*err)
		return false;
	*err = w->err;
	return *err != -ENOMEM;
}

/* The path up to `end`, with the name behind it. */
static int set_path(struct walk *w, size_t end, const char *name, size_t *at)
{
	const bool   slash = end && w->path[end - 1] != '/';
	const size_t length = strlen(name);
	const size_t room = end + slash + length + 1;

	if (room > w->path_room) {
		char *more = realloc(w->path, 2 * room);

		if (!more)
			return -ENOMEM;
		w->path = more;
		w->path_room = 2 * room;
	}
	if (slash)
		w->path[end] = '/';
	*at = end + slash;
	memcpy(w->path + *at, name, length + 1);
	return 0;
}

static int push(struct walk *w, size_t name)
{
	if (w->count == w->room) {
		const size_t  room = w->room ? 2 * w->room : 16;
		struct level *more = realloc(w->levels, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		w->levels = more;
		w->room = room;
	}
	w->levels[w->count++] = (struct level){
		.fd = -1, .name = name, .end = name + strlen(w->path + name)
	};
	return 0;
}

static void pop(struct walk *w)
{
	struct level *l = last(w);

	close_level(l);
	free(l->piece);
	w->count--;
}

/* Visit what the path names; the last level is the directory that has it. */
static int visit(struct walk *w, size_t name, mode_t type, int error,
		 bool after)
{
	const sennit_walk_entry e = {
		.path = w->path,
		.name = w->path + name,
		.dir = w->count ? last(w)->fd : AT_FDCWD,
		.type = type,
		.depth = (uint32_t)w->count,
		.error = error,
		.after = after,
	};

	return w->visit(&e, w->argument);
}

/* Neither an order to skip nor one to go on ends the walk. */
static int end_of(int visited)
{
	return visited == SENNIT_WALK_SKIP ? 0 : visited;
}

/* Leave the last level, with an error or after all of it. Returns what ends the
 * walk, or 0. */
static int leave(struct walk *w, int error)
{
	const size_t name = last(w)->name;
	int          reopened = 0;

	w->path[last(w)->end] = '\0';
	pop(w);
	if (w->count && last(w)->fd < 0 && !do_blocking(w, reopen, &reopened))
		return reopened;
	if (reopened)
		return 0; /* told when the level is asked for its next */
	if (error) {
		int end = end_of(visit(w, name, S_IFDIR, error, false));

		if (end)
			return end;
	}
	if (w->flags & SENNIT_WALK_AFTER)
		return end_of(visit(w, name, S_IFDIR, 0, true));
	return 0;
}

/* Enter the directory that the path names. */
static int descend(struct walk *w, size_t name)
{
	int err = push(w, name);

	if (err || !do_blocking(w, enter, &err))
		return err;
	if (!err)
		return 0;
	pop(w);
	return end_of(visit(w, name, S_IFDIR, err, false));
}

static int visit_new(struct walk *w, size_t name, mode_t type, int error)
{
	const int end = visit(w, name, type, error, false);

	return !end && S_ISDIR(type) ? descend(w, name) : end_of(end);
}

/* The next entry of the last level's piece. */
static int visit_next(struct walk *w)
{
	struct level *l = last(w);
	const char   *entry = l->piece + l->visited;
	const uint8_t type = (uint8_t)entry[0], error = (uint8_t)entry[1];
	size_t        name;
	int           err = set_path(w, l->end, entry + 2, &name);

	if (err)
		return err;
	l->visited += 2 + strlen(entry + 2) + 1;
	if (l->visited == l->size) {
		free(l->piece);
		l->piece = NULL;
	}
	return visit_new(w, name, error ? 0 : (mode_t)DTTOIF(type), -error);
}

/* One step: an entry, a piece, or the end of a level. */
static int step(struct walk *w)
{
	int err = 0;

	if (last(w)->fd < 0 && !do_blocking(w, reopen, &err))
		return err;
	if (!err && last(w)->piece)
		return visit_next(w);
	if (!err && !last(w)->ended) {
		if (!do_blocking(w, read_piece, &err))
			return err;
		if (!err)
			return 0;
	}
	return leave(w, err);
}

static int begin(struct walk *w, const char *path)
{
	size_t name;
	int    err = set_path(w, 0, path, &name);

	if (err || !do_blocking(w, look_at_first, &err) || err)
		return err;
	return visit_new(w, name, w->first, 0);
}

int sennit_walk(const char *path, uint32_t flags, sennit_walk_fn *visit_one,
		void *argument, sennit_time deadline)
{
	struct walk w = { .flags = flags,
			  .visit = visit_one,
			  .argument = argument,
			  .deadline = deadline };
	int         err;

	if (flags & ~(SENNIT_WALK_FOLLOW | SENNIT_WALK_AFTER))
		return -EINVAL;
	w.scratch = malloc(PIECE);
	err = w.scratch ? begin(&w, path) : -ENOMEM;
	while (!err && w.count)
		err = step(&w);
	while (w.count)
		pop(&w);
	free(w.scratch);
	free(w.levels);
	free(w.path);
	return err;
}
