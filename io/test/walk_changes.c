/* SPDX-License-Identifier: Apache-2.0 */
/* walk_changes.c - a walk leaves each directory that it has entered, even if it
 * is moved or removed meanwhile, and the cost for each level is constant.
 * openat() is replaced: it counts, and fails.
 */
#include "operations.h"

#include "testing/random.h"
#include "sennit/walk.h"

#include <ftw.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>

static atomic_uint opened;

int openat(int dir, const char *name, int flags, ...)
{
	va_list list;
	mode_t  mode;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
	va_end(list);
	atomic_fetch_add(&opened, 1);
	if (!strncmp(name, "sealed", 6)) { /* the superuser could open it */
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

/* --- trees -------------------------------------------------------------- */

/* In memory if possible: on a disc the deep trees take minutes. */
static void begin_tree(char *path)
{
	const bool memory = !access("/dev/shm", W_OK);

	sprintf(path, "%s/sennit-walk-XXXXXX", memory ? "/dev/shm" : "/tmp");
	must(mkdtemp(path), "mkdtemp");
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void end_tree(const char *path)
{
	(void)nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
	EXPECT(access(path, F_OK) != 0);
}

/* Directories named `name`, each in the previous one, and a file in each. */
static void make_chain(const char *path, const char *name, int depth)
{
	int in = open(path, O_DIRECTORY | O_CLOEXEC), below, file;

	must(in >= 0, path);
	for (int i = 0; i < depth; i++) {
		must(!mkdirat(in, name, 0700), "mkdirat");
		below = openat(in, name, O_DIRECTORY | O_CLOEXEC);
		file = openat(in, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		must(below >= 0 && file >= 0, "openat");
		close(file);
		close(in);
		in = below;
	}
	close(in);
}

/* --- entered directories ------------------------------------------------ */

enum { ROOM = 64 };

struct pairs {
	char  *entered[ROOM]; /* the paths of those that were not left yet */
	size_t count, before, after, told, lost;
	int    error;  /* the last error */
	int    answer; /* the result of the visit before the contents of a
			* directory */
	void (*act)(struct pairs *p, const sennit_walk_entry *e);
	char     root[64], away[64];
	size_t   renamed;
	uint64_t random;
};

static void enter_one(struct pairs *p, const sennit_walk_entry *e)
{
	must(p->count < ROOM, "room");
	EXPECT(e->depth == p->count);
	p->entered[p->count++] = strdup(e->path);
	p->before++;
}

static void leave_one(struct pairs *p, const sennit_walk_entry *e)
{
	must(p->count > 0, "a directory was entered");
	free(p->entered[--p->count]);
	p->after++;
	p->lost += e->dir == -1;
	EXPECT(!e->error == (e->dir != -1));
	EXPECT(e->depth == p->count);
}

static int pair(void *argument, const sennit_walk_entry *e)
{
	struct pairs *p = argument;
	const bool    again = e->error || e->after;

	if (!S_ISDIR(e->type))
		return 0;
	if (again)
		EXPECT(p->count && !strcmp(p->entered[p->count - 1], e->path));
	if (e->error && !e->after) {
		p->error = e->error;
		p->told++;
	} else if (e->after) {
		leave_one(p, e);
	} else {
		enter_one(p, e);
		if (p->act)
			p->act(p, e);
	}
	return 0;
}

static void walk_in_pairs(struct pairs *p, uint32_t flags)
{
	EXPECT(sennit_walk(p->root, flags | SENNIT_WALK_AFTER, pair, p,
			   SENNIT_NEVER) == 0);
	EXPECT(!p->count && p->before == p->after);
}

/* --- depth -------------------------------------------------------------- */

enum { VERY_DEEP = 8000, DEEP = 40 };

static int remove_it(void *visits, const sennit_walk_entry *e)
{
	EXPECT(!e->error);
	++*(size_t *)visits;
	if (S_ISDIR(e->type) && !e->after)
		return 0;
	return unlinkat(e->dir, e->name, S_ISDIR(e->type) ? AT_REMOVEDIR : 0)
		       ? -errno
		       : 0;
}

/* A walk that reopened all levels after each 16 levels would call openat() two
 * million times. */
static void walk_very_deep(void *unused)
{
	char     root[64];
	size_t   visits = 0;
	unsigned before;

	(void)unused;
	begin_tree(root);
	make_chain(root, "d", VERY_DEEP);
	before = atomic_load(&opened);
	EXPECT(sennit_walk(root, SENNIT_WALK_AFTER, remove_it, &visits,
			   SENNIT_NEVER) == 0);
	EXPECT(visits == 3 * VERY_DEEP + 2);
	EXPECT(atomic_load(&opened) - before < 3 * VERY_DEEP);
	EXPECT(access(root, F_OK) != 0);
}

TEST_WITH_ONE(each_level_is_opened_twice_however_deep_it_is)
{
	(void)w;
	in_each_place(walk_very_deep, NULL);
}

/* --- renames ------------------------------------------------------------ */

/* At the deepest level, the directory 20 levels above is moved out of its
 * parent, and so is the parent: neither ".." nor the name leads back to it. */
static void move_two(struct pairs *p, const sennit_walk_entry *e)
{
	char to[128];

	if (e->depth != DEEP)
		return;
	for (int i = 0; i < 2; i++) {
		snprintf(to, sizeof(to), "%s/moved%d", p->away, i);
		must(!rename(p->entered[DEEP - 20 - i], to), "rename");
	}
}

static void walk_what_moves(void *unused)
{
	struct pairs p = { .act = move_two };

	(void)unused;
	begin_tree(p.root);
	begin_tree(p.away);
	make_chain(p.root, "d", DEEP);
	walk_in_pairs(&p, 0);
	EXPECT(p.before == DEEP + 1 && p.lost == 1);
	EXPECT(!p.told); /* all had been read to the end */
	end_tree(p.root);
	end_tree(p.away);
}

/* As many entries as need several pieces. */
static void fill_folder(const char *path)
{
	char name[400];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%s/a-rather-long-name-%d-%0100d",
			 path, i, i);
		must(!mkdir(name, 0700), name);
	}
}

static void make_big_level(struct pairs *p)
{
	char path[256];

	strcpy(path, p->root);
	for (int i = 0; i < DEEP - 21; i++)
		strcat(path, "/d");
	fill_folder(path);
}

static void walk_what_moves_unread(void *unused)
{
	struct pairs p = { .act = move_two };

	(void)unused;
	begin_tree(p.root);
	begin_tree(p.away);
	make_chain(p.root, "d", DEEP);
	make_big_level(&p);
	walk_in_pairs(&p, 0);
	/* Unless the chain was the last entry in it. */
	EXPECT(p.before == DEEP + 1001 || p.told == 1);
	if (p.told)
		EXPECT(p.error == -ENOENT || p.error == -ESTALE);
	end_tree(p.root);
	end_tree(p.away);
}

TEST_WITH_WORKERS(a_directory_that_was_lost_is_left_and_told)
{
	in_each_place(walk_what_moves, NULL);
	in_each_place(walk_what_moves_unread, NULL);
}

/* One level is moved: its parent is found by its name. */
static void move_one(struct pairs *p, const sennit_walk_entry *e)
{
	char to[128];

	if (e->depth != DEEP)
		return;
	snprintf(to, sizeof(to), "%s/moved", p->away);
	must(!rename(p->entered[DEEP - 20], to), "rename");
}

static void walk_what_moves_alone(void *unused)
{
	struct pairs p = { .act = move_one };

	(void)unused;
	begin_tree(p.root);
	begin_tree(p.away);
	make_chain(p.root, "d", DEEP);
	walk_in_pairs(&p, 0);
	EXPECT(p.before == DEEP + 1 && !p.lost && !p.told);
	end_tree(p.root);
	end_tree(p.away);
}

TEST_WITH_ONE(the_way_back_is_found_by_its_name_too)
{
	(void)w;
	in_each_place(walk_what_moves_alone, NULL);
}

/* One of the directories that contain the current one is moved, and sometimes
 * another directory gets its name. */
static void move_some(struct pairs *p, const sennit_walk_entry *e)
{
	uint64_t   *random = &p->random;
	const char *from;
	char        to[128];

	(void)e;
	if (p->count < 2 || random_below(random, 4))
		return;
	from = p->entered[1 + random_below(random, (uint32_t)p->count - 1)];
	snprintf(to, sizeof(to), "%s/%zu",
		 random_below(random, 2) ? p->away : p->root, p->renamed);
	if (rename(from, to))
		return; /* a name above it belongs to another directory by
			 * now */
	p->renamed++;
	if (!random_below(random, 3))
		(void)mkdir(from, 0700);
}

static void walk_what_moves_at_random(void *round)
{
	struct pairs p = { .act = move_some };

	begin_tree(p.root);
	begin_tree(p.away);
	p.random = random_stream((uint64_t)(uintptr_t)round);
	for (const char *name = "abc"; *name; name++)
		make_chain(p.root, (char[]){ *name, '\0' }, DEEP);
	walk_in_pairs(&p, 0);
	EXPECT(p.renamed > 0);
	end_tree(p.root);
	end_tree(p.away);
}

TEST_WITH_ONE(each_visit_before_has_one_after_whatever_is_renamed)
{
	(void)w;
	for (uintptr_t i = 0; i < scaled(20); i++)
		in_each_place(walk_what_moves_at_random, (void *)i);
}

/* --- directories that cannot be entered --------------------------------- */

static void remove_now(struct pairs *p, const sennit_walk_entry *e)
{
	(void)p;
	if (!strcmp(e->name, "gone"))
		must(!unlinkat(e->dir, e->name, AT_REMOVEDIR), "unlinkat");
}

static void walk_what_is_closed(void *unused)
{
	static const char *const names[] = { "gone", "sealed", "open" };
	struct pairs             p = { .act = remove_now };
	char                     path[128];

	(void)unused;
	begin_tree(p.root);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", p.root, names[i]);
		must(!mkdir(path, 0700), path);
	}
	strcat(path, "/round");
	must(!symlink("..", path), "symlink");
	walk_in_pairs(&p, SENNIT_WALK_FOLLOW);
	EXPECT(p.before == 5 && p.told == 3 && !p.lost);
	end_tree(p.root);
}

TEST_WITH_WORKERS(a_directory_that_cannot_be_entered_is_left_too)
{
	in_each_place(walk_what_is_closed, NULL);
}

/* --- descriptors -------------------------------------------------------- */

/* Use up all descriptors except `spare`. */
static void limit_descriptors(struct rlimit *was, unsigned spare)
{
	struct rlimit now;
	int           next = 0;

	must(!getrlimit(RLIMIT_NOFILE, was), "getrlimit");
	now = *was;
	for (; spare; next++)
		spare -= fcntl(next, F_GETFD) < 0;
	now.rlim_cur = (rlim_t)next;
	must(!setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
}

static void walk_with(unsigned spare, size_t entered)
{
	struct pairs  p = { .act = NULL };
	struct rlimit was;

	begin_tree(p.root);
	make_chain(p.root, "d", DEEP);
	limit_descriptors(&was, spare);
	walk_in_pairs(&p, 0);
	must(!setrlimit(RLIMIT_NOFILE, &was), "setrlimit");
	EXPECT(p.before == entered);
	EXPECT(p.told == (entered <= DEEP));
	EXPECT(!p.told || p.error == -EMFILE);
	end_tree(p.root);
}

static void walk_with_few(void *unused)
{
	(void)unused;
	walk_with(18, DEEP + 1);
	walk_with(3, DEEP + 1);
	walk_with(2, 3); /* the third directory cannot be opened */
	walk_with(1, 2);
}

TEST_WITH_ONE(three_descriptors_are_enough)
{
	(void)w;
	walk_with_few(NULL);
	in_a_task(walk_with_few, NULL);
}

AFTER_ALL(random_report);
USES_BACKEND;
