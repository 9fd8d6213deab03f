/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/files.h"

#include "http/mime.h"
#include "http/target.h"
#include "httpd/open.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTS 1024u

/* The cache of one thread. */
struct kept {
	struct kept *next;
	struct file *lists[LISTS];
	struct file *newest, *oldest;
	size_t       bytes;
	uint32_t     files;
};

static struct files_config        config;
static int                        root = -1;
static struct kept               *all; /* under lock */
static pthread_mutex_t            lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct kept *mine;

int files_open(const struct files_config *c)
{
	config = *c;
	root = open(c->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : 0;
}

/* --- a file ------------------------------------------------------------- */

static void free_file(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->content);
	free(f->path);
	free(f);
}

/* Read the whole file, so that f needs no descriptor. If the file is being
 * changed, fewer bytes may be read; then it is sent from its descriptor. */
static void read_content(struct file *f)
{
	size_t size = (size_t)f->variant.size;
	size_t have = 0;
	char  *bytes = malloc(size + 1);

	while (bytes && have < size) {
		ssize_t n = pread(f->fd, bytes + have, size - have,
				  (off_t)have);

		if (n <= 0)
			break;
		have += (size_t)n;
	}
	if (!bytes || have < size) {
		free(bytes);
		return;
	}
	f->content = bytes;
	close(f->fd);
	f->fd = -1;
}

static void describe(struct file *f)
{
	snprintf(f->tag, sizeof(f->tag), "\"%llx-%llx\"",
		 (unsigned long long)f->changed.tv_sec * 1000000000 +
			 (unsigned long long)f->changed.tv_nsec,
		 (unsigned long long)f->variant.size);
	f->variant.tag = f->tag;
	f->type = http_mime_type(f->path);
	sennit_http_write_date(f->date, f->variant.modified);
}

/* Report whether a file's bytes are cached. */
static bool is_small(uint64_t size)
{
	return config.keep && size <= config.small;
}

/* Takes ownership of fd. */
static int make_file(struct file **out, const char *path, int fd,
		     const struct stat *s)
{
	struct file *f = calloc(1, sizeof(*f));

	if (f)
		f->path = strdup(path);
	if (!f || !f->path) {
		free(f);
		close(fd);
		return 503;
	}
	f->fd = fd;
	f->variant.size = (uint64_t)s->st_size;
	f->variant.modified = s->st_mtim.tv_sec;
	f->changed = s->st_mtim;
	f->device = s->st_dev;
	f->inode = s->st_ino;
	f->users = 1;
	describe(f);
	if (is_small(f->variant.size))
		read_content(f);
	*out = f;
	return 0;
}

/* --- opening ------------------------------------------------------------ */

static int status_of(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return 403;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		return 503;
	case -EIO:
		return 500;
	default:
		return 404; /* among others, links that lead out */
	}
}

static int open_path(const char *path, bool at_once)
{
	if (config.no_symlinks)
		return at_once ? -EAGAIN : open_stepwise(root, path);
	return open_beneath(root, path, at_once);
}

/* Check that it is a folder if the path requires one, or else a file. */
static int check_kind(const char *path, const struct stat *s)
{
	if (S_ISDIR(s->st_mode))
		return *path && path[strlen(path) - 1] != '/' ? 301 : 404;
	return S_ISREG(s->st_mode) ? 0 : 403;
}

struct opening {
	const char        *path;
	const struct file *known; /* the cached file, or NULL */
	struct file       *found; /* NULL: the cached file is unchanged */
	int                status;
};

static bool is_same(const struct file *f, const struct stat *s)
{
	return f && f->device == s->st_dev && f->inode == s->st_ino &&
	       f->variant.size == (uint64_t)s->st_size &&
	       f->changed.tv_sec == s->st_mtim.tv_sec &&
	       f->changed.tv_nsec == s->st_mtim.tv_nsec;
}

/* Returns false if the disc is needed. */
static bool try_opening(struct opening *o, bool at_once)
{
	struct stat s;
	int         fd = open_path(o->path, at_once);

	o->found = NULL;
	o->status = 0;
	if (fd == -EAGAIN && at_once)
		return false;
	if (fd < 0)
		o->status = status_of(fd);
	else if (fstat(fd, &s))
		o->status = 500;
	else
		o->status = check_kind(o->path, &s);
	if (o->status || is_same(o->known, &s)) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	if (at_once && is_small((uint64_t)s.st_size)) {
		close(fd); /* reading its bytes may need the disc */
		return false;
	}
	o->status = make_file(&o->found, o->path, fd, &s);
	return true;
}

static void *open_blocking(void *opening)
{
	(void)try_opening(opening, false);
	return NULL;
}

static void open_file(struct opening *o)
{
	if (!try_opening(o, true))
		sennit_blocking_call(open_blocking, o);
}

/* --- the cache of a thread ---------------------------------------------- */

static struct kept *kept_here(void)
{
	if (mine || !config.keep)
		return mine;
	mine = calloc(1, sizeof(*mine));
	if (!mine)
		return NULL;
	pthread_mutex_lock(&lock);
	mine->next = all;
	all = mine;
	pthread_mutex_unlock(&lock);
	return mine;
}

static struct file **list_of(struct kept *k, const char *path)
{
	uint32_t hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return &k->lists[(hash ^ hash >> 16) % LISTS];
}

static struct file *find(struct kept *k, const char *path)
{
	struct file *f = *list_of(k, path);

	while (f && strcmp(f->path, path) != 0)
		f = f->next;
	return f;
}

static void unlink_use(struct kept *k, struct file *f)
{
	*(f->newer ? &f->newer->older : &k->newest) = f->older;
	*(f->older ? &f->older->newer : &k->oldest) = f->newer;
}

static void link_use(struct kept *k, struct file *f)
{
	f->newer = NULL;
	f->older = k->newest;
	*(f->older ? &f->older->newer : &k->oldest) = f;
	k->newest = f;
}

static size_t bytes_of(const struct file *f)
{
	return f->content ? (size_t)f->variant.size : 0;
}

static void drop(struct kept *k, struct file *f)
{
	struct file **at = list_of(k, f->path);

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	unlink_use(k, f);
	k->bytes -= bytes_of(f);
	k->files--;
	files_put(f);
}

static void keep(struct kept *k, struct file *f)
{
	struct file **list = list_of(k, f->path);
	struct file  *old = find(k, f->path); /* another fiber has added it
					       * meanwhile */

	if (old)
		drop(k, old);
	f->users++;
	f->next = *list;
	*list = f;
	link_use(k, f);
	k->bytes += bytes_of(f);
	k->files++;
	while (k->oldest &&
	       (k->bytes > config.keep || k->files > config.keep_files))
		drop(k, k->oldest);
}

/* --- functions for other files ------------------------------------------ */

void files_put(struct file *f)
{
	if (!--f->users)
		free_file(f);
}

static bool is_valid(const struct file *f)
{
	return sennit_now() - f->checked < config.valid;
}

/* Open the path. f is the cached file, or NULL. */
static int look(struct file **out, struct kept *k, const char *path,
		struct file *f)
{
	struct opening o = { .path = path, .known = f };

	if (f)
		f->users++;
	open_file(&o);
	/* Without a descriptor to check it, assume that the file is
	 * unchanged. */
	if (f && !o.found && (!o.status || o.status == 503)) {
		f->checked = sennit_now();
		*out = f;
		return 0;
	}
	if (f) {
		if (find(k, path) == f)
			drop(k, f);
		files_put(f);
	}
	if (o.status)
		return o.status;
	o.found->checked = sennit_now();
	if (k)
		keep(k, o.found);
	*out = o.found;
	return 0;
}

int files_get(struct file **out, const char *path)
{
	char         with_index[HTTP_PATH_MAX + 64];
	struct kept *k = kept_here();
	struct file *f;
	size_t       size = strlen(path);

	if (!size || path[size - 1] == '/') {
		snprintf(with_index, sizeof(with_index), "%s%s", path,
			 config.index);
		path = with_index;
	}
	f = k ? find(k, path) : NULL;
	if (!f || !is_valid(f))
		return look(out, k, path, f);
	if (k->newest != f) {
		unlink_use(k, f);
		link_use(k, f);
	}
	f->users++;
	*out = f;
	return 0;
}

void files_close(void)
{
	while (all) {
		struct kept *next = all->next;

		while (all->newest)
			drop(all, all->newest);
		free(all);
		all = next;
	}
	close(root);
	root = -1;
}
