/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - everything in a tree is visited once and in order, for all kinds of
 * trees, and while they change. */
#include "operations.h"

#include "testing/random.h"
#include "sennit/walk.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

/* --- a tree ------------------------------------------------------------- */

static void make_folder(const char *path)
{
	must(!mkdir(path, 0700), path);
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	must(fd >= 0, path);
	close(fd);
}

/* Stored in *path, which is large enough. */
static void begin_tree(char *path)
{
	strcpy(path, "/tmp/sennit-walk-XXXXXX");
	must(mkdtemp(path), "mkdtemp");
}

static int remove_entry(const char *path, const struct stat *st, int flag,
			struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void end_tree(const char *path)
{
	(void)nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
	EXPECT(access(path, F_OK) != 0);
}

/* Random folders and files, some folders deep, and one with many files. */
static void fill_tree(const char *path, int depth, uint64_t *random)
{
	const unsigned folders = depth ? 1 + random_below(random, 2) : 0;
	const unsigned files = random_below(random, 4);
	char           below[256];

	for (unsigned i = 0; i < folders; i++) {
		snprintf(below, sizeof(below), "%s/d%u", path, i);
		make_folder(below);
		fill_tree(below, i ? depth / 10 : depth - 1, random);
	}
	for (unsigned i = 0; i < files; i++) {
		snprintf(below, sizeof(below), "%s/f%u", path, i);
		make_file(below);
	}
}

/* More entries than a piece has, and more levels than are open. */
enum { MANY = 1000, DEEP = 40 };

/* Directories named d, each in the previous one. */
static void make_chain(const char *path, int depth)
{
	char below[256];

	snprintf(below, sizeof(below), "%s", path);
	for (int i = 0; i < depth; i++) {
		strcat(below, "/d");
		make_folder(below);
	}
}

static void make_tree(char *path)
{
	uint64_t random = random_stream(1);
	char     below[64];

	begin_tree(path);
	fill_tree(path, DEEP, &random);
	snprintf(below, sizeof(below), "%s/many", path);
	make_folder(below);
	for (int i = 0; i < MANY; i++) {
		snprintf(below, sizeof(below), "%s/many/a-rather-long-name-%d",
			 path, i);
		make_file(below);
	}
	/* The directory is closed while it is being read. */
	for (int i = 0; i < 8; i++) {
		snprintf(below, sizeof(below), "%s/many/deep-%d", path, i);
		make_folder(below);
		make_chain(below, DEEP / 2);
	}
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* --- visits ------------------------------------------------------------- */

struct seen {
	char        **paths; /* in the order of visits */
	size_t        count, after, errors;
	int           before; /* the number of open descriptors before the
			       * walk */
	const char   *at;     /* do something at this name */
	int           answer; /* the result of the visit of that name */
	int           error;  /* the last error */
	sennit_group *cancel;
};

static void keep(struct seen *s, const char *path)
{
	s->paths = realloc(s->paths, (s->count + 1) * sizeof(*s->paths));
	must(s->paths, "realloc");
	s->paths[s->count++] = strdup(path);
}

static void forget(struct seen *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->paths[i]);
	free(s->paths);
}

static int see(void *argument, const sennit_walk_entry *e)
{
	struct seen *s = argument;
	struct stat  st;

	EXPECT(!strcmp(e->depth ? strrchr(e->path, '/') + 1 : e->path,
		       e->name));
	s->errors += !!e->error;
	s->after += !!e->after;
	if (e->error) {
		s->error = e->error;
		return 0;
	}
	EXPECT(!fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW));
	EXPECT((st.st_mode & S_IFMT) == e->type || S_ISLNK(st.st_mode));
	if (s->before && (e->depth > 16 || s->count % 256 == 0))
		EXPECT(descriptors() <= s->before + 17);
	if (!e->after)
		keep(s, e->path);
	if (!s->at || strcmp(e->name, s->at))
		return 0;
	if (s->cancel)
		sennit_group_cancel(s->cancel);
	return s->answer;
}

static struct seen expected; /* by nftw(), whose function gets no argument */

static int expect_entry(const char *path, const struct stat *st, int flag,
			struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	keep(&expected, path);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A directory is visited directly before its contents. */
static void check_order(const struct seen *s)
{
	for (size_t i = 1; i < s->count; i++) {
		size_t parent =
			(size_t)(strrchr(s->paths[i], '/') - s->paths[i]);
		bool is_there = false;

		for (size_t k = i; k-- > 0 && !is_there;)
			is_there = !strncmp(s->paths[k], s->paths[i], parent) &&
				   !s->paths[k][parent];
		EXPECT(is_there);
		/* Depth first: the last one is the parent or below it. */
		EXPECT(!strncmp(s->paths[i - 1], s->paths[i], parent));
	}
}

static void check_same(struct seen *s)
{
	qsort(s->paths, s->count, sizeof(*s->paths), by_text);
	qsort(expected.paths, expected.count, sizeof(*s->paths), by_text);
	EXPECT(s->count == expected.count);
	for (size_t i = 0; i < s->count && i < expected.count; i++)
		EXPECT(!strcmp(s->paths[i], expected.paths[i]));
}

static void walk_all(void *root)
{
	struct seen s = { .before = descriptors() };

	EXPECT(sennit_walk(root, SENNIT_WALK_AFTER, see, &s, SENNIT_NEVER) ==
	       0);
	EXPECT(descriptors() == s.before || sennit_fiber_current());
	EXPECT(!s.errors && s.after > DEEP);
	check_order(&s);
	check_same(&s);
	forget(&s);
}

TEST_WITH_ONE(each_entry_is_visited_once_parents_first)
{
	char root[64];

	(void)w;
	make_tree(root);
	expected = (struct seen){ 0 };
	must(!nftw(root, expect_entry, 32, FTW_PHYS), "nftw");
	in_each_place(walk_all, root);
	forget(&expected);
	end_tree(root);
}

/* --- results of visits -------------------------------------------------- */

static void make_small(char *root)
{
	char path[64];

	begin_tree(root);
	for (const char *const *name =
		     (const char *const[]){ "a", "a/b", "c", NULL };
	     *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", root, *name);
		make_folder(path);
		strcat(path, "/file");
		make_file(path);
	}
}

static bool has_seen(const struct seen *s, const char *end)
{
	for (size_t i = 0; i < s->count; i++) {
		size_t length = strlen(s->paths[i]);

		if (length >= strlen(end) &&
		    !strcmp(s->paths[i] + length - strlen(end), end))
			return true;
	}
	return false;
}

static void walk_and_answer(void *root)
{
	struct seen skip = { .at = "a", .answer = SENNIT_WALK_SKIP };
	struct seen stop = { .at = "b", .answer = 42 };
	int         before = descriptors();

	EXPECT(sennit_walk(root, SENNIT_WALK_AFTER, see, &skip, SENNIT_NEVER) ==
	       0);
	EXPECT(skip.count == 4 && skip.after == 2); /* "" and c */
	EXPECT(!has_seen(&skip, "/a/file") && has_seen(&skip, "/c/file"));
	EXPECT(sennit_walk(root, 0, see, &stop, SENNIT_NEVER) == 42);
	EXPECT(has_seen(&stop, "/a/b") && !has_seen(&stop, "/b/file"));
	EXPECT(descriptors() == before || sennit_fiber_current());
	forget(&skip);
	forget(&stop);
}

TEST_WITH_WORKERS(a_visit_skips_and_ends)
{
	char root[64];

	(void)w;
	make_small(root);
	in_each_place(walk_and_answer, root);
	end_tree(root);
}

static int remove_it(void *unused, const sennit_walk_entry *e)
{
	(void)unused;
	EXPECT(!e->error);
	if (S_ISDIR(e->type) && !e->after)
		return 0;
	EXPECT(!unlinkat(e->dir, e->name, S_ISDIR(e->type) ? AT_REMOVEDIR : 0));
	return 0;
}

static void walk_and_remove(void *unused)
{
	char root[64];

	(void)unused;
	make_tree(root);
	EXPECT(sennit_walk(root, SENNIT_WALK_AFTER, remove_it, NULL,
			   SENNIT_NEVER) == 0);
	EXPECT(access(root, F_OK) != 0);
}

TEST_WITH_ONE(visits_after_remove_a_tree)
{
	(void)w;
	in_a_task(walk_and_remove, NULL);
}

/* --- links -------------------------------------------------------------- */

static void walk_links(void *root)
{
	struct seen plain = { 0 }, follow = { 0 };
	char        link[128];

	EXPECT(sennit_walk(root, 0, see, &plain, SENNIT_NEVER) == 0);
	EXPECT(plain.count == 10 && !plain.errors);
	EXPECT(sennit_walk(root, SENNIT_WALK_FOLLOW, see, &follow,
			   SENNIT_NEVER) == 0);
	EXPECT(has_seen(&follow, "/c/to-a/b/file"));
	EXPECT(has_seen(&follow, "/a/round") && follow.error == -ELOOP);
	EXPECT(follow.errors == 2); /* a/round and c/to-a/round */
	EXPECT(has_seen(&follow, "/c/nowhere"));
	forget(&plain);
	forget(&follow);
	plain = follow = (struct seen){ 0 };
	snprintf(link, sizeof(link), "%s/c/to-a", (char *)root);
	EXPECT(sennit_walk(link, 0, see, &plain, SENNIT_NEVER) == 0);
	EXPECT(plain.count == 1);
	strcat(link, "/");
	EXPECT(sennit_walk(link, 0, see, &follow, SENNIT_NEVER) == 0);
	EXPECT(has_seen(&follow, "/to-a/b/file"));
	forget(&plain);
	forget(&follow);
}

TEST_WITH_WORKERS(links_are_followed_if_asked_and_never_round)
{
	char root[64], path[128];

	(void)w;
	make_small(root);
	snprintf(path, sizeof(path), "%s/c/to-a", root);
	must(!symlink("../a", path), "symlink");
	snprintf(path, sizeof(path), "%s/a/round", root);
	must(!symlink("..", path), "symlink");
	snprintf(path, sizeof(path), "%s/c/nowhere", root);
	must(!symlink("none", path), "symlink");
	in_each_place(walk_links, root);
	end_tree(root);
}

/* --- trees that change -------------------------------------------------- */

/* A directory is removed before it is entered. */
static int remove_b(void *argument, const sennit_walk_entry *e)
{
	struct seen *s = argument;

	if (e->error) {
		s->error = e->error;
		s->errors++;
	} else if (!strcmp(e->name, "b")) {
		must(!unlinkat(e->dir, "b/file", 0), "unlinkat");
		must(!unlinkat(e->dir, "b", AT_REMOVEDIR), "rmdir");
	}
	s->count++;
	return 0;
}

static void walk_what_goes(void *unused)
{
	struct seen s = { 0 };
	char        root[64];

	(void)unused;
	make_small(root);
	EXPECT(sennit_walk(root, 0, remove_b, &s, SENNIT_NEVER) == 0);
	EXPECT(s.errors == 1 && s.error == -ENOENT);
	EXPECT(s.count == 7 + 1 - 1); /* b is visited twice, its file is not */
	end_tree(root);
}

TEST_WITH_WORKERS(what_cannot_be_entered_is_told_and_the_rest_goes_on)
{
	in_each_place(walk_what_goes, NULL);
}

/* --- ends --------------------------------------------------------------- */

static void walk_nothing(void *root)
{
	struct seen s = { 0 };
	char        path[128];

	snprintf(path, sizeof(path), "%s/none", (char *)root);
	EXPECT(sennit_walk(path, 0, see, &s, SENNIT_NEVER) == -ENOENT);
	EXPECT(sennit_walk("", 0, see, &s, SENNIT_NEVER) == -ENOENT);
	EXPECT(sennit_walk(root, 1u << 31, see, &s, SENNIT_NEVER) == -EINVAL);
	EXPECT(sennit_walk(root, 0, see, &s, 0) == -ETIMEDOUT);
	EXPECT(!s.count);
	snprintf(path, sizeof(path), "%s/c/file", (char *)root);
	EXPECT(sennit_walk(path, 0, see, &s, SENNIT_NEVER) == 0);
	EXPECT(s.count == 1);
	forget(&s);
}

TEST_WITH_WORKERS(a_file_is_visited_and_nothing_is_an_error)
{
	char root[64];

	(void)w;
	make_small(root);
	in_each_place(walk_nothing, root);
	end_tree(root);
}

struct member {
	const char *root;
	struct seen s;
	int         result;
};

static int walk_as_member(void *argument)
{
	struct member *m = argument;

	m->result = sennit_walk(m->root, 0, see, &m->s, SENNIT_NEVER);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_walk)
{
	char          root[64];
	sennit_group  g;
	struct member m = { .root = root, .s = { .at = "a", .cancel = &g } };
	int           before = descriptors();

	make_small(root);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, walk_as_member, &m), 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(m.result, -ECANCELED);
	assert_false(has_seen(&m.s, "/a/file"));
	if (!w->threads)
		assert_int_equal(descriptors(), before);
	forget(&m.s);
	end_tree(root);
}

TEST_WITH_WORKERS(the_deadline_of_a_group_ends_the_walk)
{
	char          root[64];
	sennit_group  g;
	struct member m = { .root = root };

	(void)w;
	make_small(root);
	sennit_group_init(&g, sennit_now(), 0);
	assert_int_equal(sennit_group_spawn(&g, walk_as_member, &m), 0);
	(void)sennit_group_wait(&g);
	assert_int_equal(m.result, -ETIMEDOUT);
	end_tree(root);
}

/* --- workers ------------------------------------------------------------ */

TEST_WITH_WORKERS(directories_are_read_on_a_helper_thread)
{
	struct seen s = { 0 };
	char        root[64];

	make_small(root);
	assert_int_equal(stats_of(w->s).blocking_threads, 0);
	assert_int_equal(sennit_walk(root, 0, see, &s, SENNIT_NEVER), 0);
	assert_true(stats_of(w->s).blocking_threads > 0);
	forget(&s);
	end_tree(root);
}

AFTER_ALL(random_report);
USES_BACKEND;
