/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - a stack of directories, from the first to the one being visited.
 *
 *	level 0   always open
 *	...       closed, if there are more than OPEN levels: reopened as ".."
 *	          of the level that is left, or else by their names
 *	...       the last OPEN levels, open
 *
 * A level that is reopened must be the same directory. If it was moved away and
 * is not found by its name either, it is lost: its other entries are not
 * visited, and the visits after its subdirectories get a path but no
 * descriptor.
 *
 * A level has a piece of its directory: the entries that were read and not yet
 * visited, each as its type, its error and its name. Every disc access is a
 * blocking call: opening a directory and reading its first piece, reading the
 * next piece, or reopening. The caller and the blocking call never run at the
 * same time, so they share all data without a lock.
 */
#include "base/own_fd.h"
#include "base/sized.h"
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

ENDS_WITH(sennit_walk_entry, reserved_);

enum { OPEN = 16, PIECE = 32768 };

/* An entry of getdents64(). The headers of libcs differ. */
struct record {
	uint64_t ino;
	int64_t  next;
	uint16_t size;
	uint8_t  type;
	char     name[];
};

struct level {
	int    fd;        /* -1: closed */
	int    lost;      /* 0, or the error of reopening it */
	size_t name, end; /* offsets in the path: its name, and the end of its
			   * path */
	dev_t  dev;
	ino_t  ino;
	size_t same; /* the previous level with the same hash, plus one; 0:
		      * none */
	bool   is_hashed;
	off_t  next;          /* the directory offset where reading continues */
	char  *piece;         /* NULL: all entries of it were visited */
	size_t size, visited; /* of the piece, in bytes */
	bool   ended;         /* the end of the directory was read */
};

struct walk {
	uint32_t        flags;
	sennit_walk_fn *visit;
	void           *context;
	sennit_time     deadline;
	char           *path; /* the path of the entry, or of the last level */
	size_t          path_room;
	struct level   *levels;
	size_t          count, room;
	size_t         *hashed;      /* `room` of them: the last level with this
				      * hash, plus one; 0: none */
	int (*work)(struct walk *w); /* the function that the blocking call
				      * runs */
	int    err;                  /* the result of that */
	char  *scratch;              /* PIECE bytes, for that function */
	mode_t first;                /* the type of the first entry */
};

static struct level *last_level(const struct walk *w)
{
	return &w->levels[w->count - 1];
}

/* --- in blocking calls: pieces ------------------------------------------ */

static bool is_dot_entry(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Find the type of an entry, if the directory does not have it or if links are
 * followed. Returns 0 or a positive errno value. */
static int find_entry_type(const struct walk *w, int fd, const char *name,
			   uint8_t *type)
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

static int find_first_type(struct walk *w)
{
	uint8_t type = DT_UNKNOWN;
	int     err = find_entry_type(w, AT_FDCWD, w->path, &type);

	w->first = (mode_t)DTTOIF(type);
	return -err;
}

/* Read up to *size bytes of records, and store the number of bytes in *size.
 * Sets `ended` at the end of the directory. */
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

/* Convert records to entries in place; an entry is shorter than its record.
 * Returns the size of the entries. */
static size_t convert_records(const struct walk *w, struct level *l,
			      char *bytes, size_t size)
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
		if (is_dot_entry(name))
			continue;
		err = find_entry_type(w, l->fd, name, &r.type);
		if (err == ENOENT)
			continue; /* removed since then */
		bytes[kept++] = (char)r.type;
		bytes[kept++] = (char)err;
		memmove(bytes + kept, name, length);
		kept += length;
	}
	return kept;
}

/* Read the next piece. It is empty only if the directory has ended. */
static int read_piece(struct walk *w)
{
	struct level *l = last_level(w);
	size_t        size = 0;

	while (!size && !l->ended) {
		int err;

		size = PIECE;
		err = read_records(l, w->scratch, &size);
		if (err)
			return err;
		size = convert_records(w, l, w->scratch, size);
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

static void close_level(struct level *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* Level i will be opened: close the level that is then no longer one of the
 * last OPEN levels. */
static void close_level_beyond_open(struct walk *w, size_t i)
{
	if (i > OPEN)
		close_level(&w->levels[i - OPEN]);
}

/* If descriptors are lacking, close the open level before level i - 1 that is
 * needed last. Returns false if there is none. */
static bool close_least_needed(struct walk *w, size_t i)
{
	for (size_t k = i > OPEN ? i - OPEN : 1; k + 1 < i; k++)
		if (w->levels[k].fd >= 0) {
			close_level(&w->levels[k]);
			return true;
		}
	return false;
}

/* Open level i, which is `name` in the directory `in`. Returns the descriptor
 * or a negative errno. */
static int open_directory(struct walk *w, size_t i, int in, const char *name,
			  struct stat *st)
{
	const int follow = w->flags & SENNIT_WALK_FOLLOW ? 0 : O_NOFOLLOW;
	int       fd;

	do
		fd = sn_own_fd(openat(
			in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
	while (fd < 0 && (errno == EMFILE || errno == ENFILE) &&
	       close_least_needed(w, i));
	if (fd < 0)
		return -errno;
	if (fstat(fd, st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static size_t *hash_slot_of(const struct walk *w, dev_t dev, ino_t ino)
{
	const uint64_t mixed = ((uint64_t)ino + 31 * (uint64_t)dev) *
			       UINT64_C(0x9e3779b97f4a7c15);

	return &w->hashed[(mixed >> 32) % w->room];
}

static bool is_ancestor(const struct walk *w, const struct stat *st)
{
	const struct level *l;

	for (size_t i = *hash_slot_of(w, st->st_dev, st->st_ino); i;
	     i = l->same) {
		l = &w->levels[i - 1];
		if (l->dev == st->st_dev && l->ino == st->st_ino)
			return true;
	}
	return false;
}

static void hash_level(struct walk *w, size_t i)
{
	struct level *l = &w->levels[i];
	size_t       *slot = hash_slot_of(w, l->dev, l->ino);

	l->same = *slot;
	l->is_hashed = true;
	*slot = i + 1;
}

/* Open the last level, which is new, and read its first piece. */
static int open_last_level(struct walk *w)
{
	const size_t  i = w->count - 1;
	struct level *l = &w->levels[i];
	const int     in = i ? l[-1].fd : AT_FDCWD;
	struct stat   st;
	int           fd;

	close_level_beyond_open(w, i);
	fd = open_directory(w, i, in, w->path + l->name, &st);
	if (fd < 0)
		return fd;
	l->fd = fd;
	if (is_ancestor(w, &st))
		return -ELOOP;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	hash_level(w, i);
	return read_piece(w);
}

/* Reopen level i as `name` in the directory `in`. Returns -ESTALE if that is
 * another directory. */
static int reopen_level_as(struct walk *w, size_t i, int in, const char *name)
{
	struct level *l = &w->levels[i];
	struct stat   st;
	int           fd = open_directory(w, i, in, name, &st);

	if (fd < 0)
		return fd;
	if (st.st_dev != l->dev || st.st_ino != l->ino ||
	    (!l->ended && lseek(fd, l->next, SEEK_SET) < 0)) {
		close(fd);
		return -ESTALE;
	}
	l->fd = fd;
	return 0;
}

/* Reopen level i by its name in the level before. */
static int reopen_level(struct walk *w, size_t i)
{
	struct level *l = &w->levels[i];
	const char    behind = w->path[l->end];
	int           err;

	w->path[l->end] = '\0';
	err = reopen_level_as(w, i, l[-1].fd, w->path + l->name);
	w->path[l->end] = behind;
	return err;
}

/* Reopen the level before the last one, which is being left. If a name leads to
 * another directory, the levels from there on are lost, and are not tried
 * again. */
static int reopen_parent(struct walk *w)
{
	const size_t before = w->count - 2;
	size_t       i = before;
	int          err = 0;

	if (last_level(w)->fd >= 0 &&
	    !reopen_level_as(w, before, last_level(w)->fd, ".."))
		return 0;
	close_level(last_level(w));
	while (w->levels[i].fd < 0)
		i--;
	while (!err && i < before) {
		close_level_beyond_open(w, ++i);
		err = reopen_level(w, i);
	}
	for (; err && i <= before; i++)
		w->levels[i].lost = err;
	return 0;
}

/* --- the caller --------------------------------------------------------- */

static void *run_walk_work(void *argument)
{
	struct walk *w = argument;

	w->err = w->work(w);
	return NULL;
}

/* Run work in a blocking call. Returns whether the walk continues. *err: the
 * result of the work, or the error that ends the walk. */
static bool do_blocking(struct walk *w, int (*work)(struct walk *w), int *err)
{
	const sennit_time until = w->deadline;

	w->work = work;
	*err = until == SENNIT_UNCANCELLED ? 0 : sennit_check_cancelled();
	if (!*err && until < SENNIT_UNCANCELLED && sennit_now() >= until)
		*err = -ETIMEDOUT;
	if (!*err) /* it would begin even if late or cancelled */
		*err = sennit_blocking_call_until(run_walk_work, w, NULL,
						  until);
	if (*err)
		return false;
	*err = w->err;
	return *err != -ENOMEM;
}

/* Set the path to its first `end` bytes, followed by the name. */
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

static int grow_levels(struct walk *w)
{
	const size_t  room = w->room ? 2 * w->room : 16;
	struct level *more = realloc(w->levels, room * sizeof(*more));
	size_t       *hashed = calloc(room, sizeof(*hashed));

	if (more)
		w->levels = more;
	if (!more || !hashed) {
		free(hashed);
		return -ENOMEM;
	}
	free(w->hashed);
	w->hashed = hashed;
	w->room = room;
	for (size_t i = 0; i < w->count; i++)
		hash_level(w, i);
	return 0;
}

static int push_level(struct walk *w, size_t name)
{
	if (w->count == w->room && grow_levels(w))
		return -ENOMEM;
	w->levels[w->count++] = (struct level){
		.fd = -1, .name = name, .end = name + strlen(w->path + name)
	};
	return 0;
}

static void pop_level(struct walk *w)
{
	struct level *l = last_level(w);

	if (l->is_hashed) /* it is the last level of its hash chain */
		*hash_slot_of(w, l->dev, l->ino) = l->same;
	close_level(l);
	free(l->piece);
	w->count--;
}

/* Visit the entry that the path names. The last level is its directory. */
static int visit_walk_entry(struct walk *w, size_t name, mode_t type, int error,
			    bool after)
{
	const sennit_walk_entry e = {
		.size = sizeof(e),
		.path = w->path,
		.name = w->path + name,
		.dir = w->count ? last_level(w)->fd : AT_FDCWD,
		.type = type,
		.depth = (uint32_t)w->count,
		.error = error,
		.after = after,
	};

	return w->visit(w->context, &e);
}

/* SENNIT_WALK_SKIP does not end the walk. */
static int end_of_visit(int visited)
{
	return visited == SENNIT_WALK_SKIP ? 0 : visited;
}

/* Visit a directory again: with its error, and after its contents. */
static int visit_again(struct walk *w, size_t name, int error)
{
	const int lost = w->count ? last_level(w)->lost : 0;
	int       end = 0;

	if (error)
		end = end_of_visit(
			visit_walk_entry(w, name, S_IFDIR, error, false));
	if (!end && w->flags & SENNIT_WALK_AFTER)
		end = end_of_visit(
			visit_walk_entry(w, name, S_IFDIR, lost, true));
	return end;
}

/* Leave the last level, with an error or after all its entries. Returns the
 * value that ends the walk, or 0. */
static int leave_level(struct walk *w, int error)
{
	struct level *l = last_level(w);
	const size_t  name = l->name;
	int           err;

	w->path[l->end] = '\0';
	if (w->count > 1 && l[-1].fd < 0 && !l[-1].lost &&
	    !do_blocking(w, reopen_parent, &err))
		return err;
	pop_level(w);
	return visit_again(w, name, error);
}

/* Enter the directory that the path names. */
static int enter_directory(struct walk *w, size_t name)
{
	int err = push_level(w, name);

	if (err || !do_blocking(w, open_last_level, &err))
		return err;
	return err ? leave_level(w, err) : 0;
}

static int visit_new(struct walk *w, size_t name, mode_t type, int error)
{
	const int end = visit_walk_entry(w, name, type, error, false);

	return !end && S_ISDIR(type) ? enter_directory(w, name)
				     : end_of_visit(end);
}

/* Visit the next entry of the last level's piece. */
static int visit_next(struct walk *w)
{
	struct level *l = last_level(w);
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

/* Do one step: visit an entry, read a piece, or leave a level. */
static int step_walk(struct walk *w)
{
	struct level *l = last_level(w);
	int           err = 0;

	if (l->piece && !l->lost)
		return visit_next(w);
	if (l->piece || !l->ended) {
		err = l->lost;
		if (!err && !do_blocking(w, read_piece, &err))
			return err;
		if (!err)
			return 0;
	}
	return leave_level(w, err);
}

static int begin_walk(struct walk *w, const char *path)
{
	size_t name;
	int    err = set_path(w, 0, path, &name);

	if (err || !do_blocking(w, find_first_type, &err) || err)
		return err;
	return visit_new(w, name, w->first, 0);
}

int sennit_walk(const char *path, uint32_t flags, sennit_walk_fn *visit_one,
		void *context, sennit_time deadline)
{
	struct walk w = { .flags = flags,
			  .visit = visit_one,
			  .context = context,
			  .deadline = deadline };
	int         err;

	if (flags & ~(SENNIT_WALK_FOLLOW | SENNIT_WALK_AFTER))
		return -EINVAL;
	w.scratch = malloc(PIECE);
	err = w.scratch ? begin_walk(&w, path) : -ENOMEM;
	while (!err && w.count)
		err = step_walk(&w);
	while (w.count)
		pop_level(&w);
	free(w.scratch);
	free(w.levels);
	free(w.hashed);
	free(w.path);
	return err;
}
