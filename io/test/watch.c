/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - changes in a directory are reported with names, in order. If events
 * are lost, that is reported. */
#include "operations.h"

#include "sennit/watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>

struct place {
	char          folder[32];
	sennit_watch *w;
	int           watched;
	int           got;
	atomic_bool   over;
};

static void open_place(struct place *p)
{
	strcpy(p->folder, "/tmp/watch-XXXXXX");
	must(mkdtemp(p->folder), "mkdtemp");
	EXPECT(sennit_watch_open(&p->w) == 0);
	p->watched = sennit_watch_add(p->w, p->folder,
				      IN_CREATE | IN_MOVE | IN_DELETE);
	EXPECT(p->watched > 0);
	atomic_store(&p->over, false);
}

static void close_place(struct place *p)
{
	sennit_watch_close(p->w);
	must(!rmdir(p->folder), "rmdir");
}

static const char *path(const struct place *p, const char *name)
{
	static _Thread_local char text[400];

	snprintf(text, sizeof(text), "%s/%s", p->folder, name);
	return text;
}

static void make_file(const struct place *p, const char *name)
{
	int fd = open(path(p, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	must(fd >= 0, "open");
	close(fd);
}

static uint32_t expect_event(struct place *p, uint32_t mask, const char *name)
{
	sennit_watch_event e = { .size = sizeof(e), .watched = 0 };

	EXPECT(sennit_watch_next(p->w, &e, in_ms(100000)) == 0);
	EXPECT(e.watched == p->watched);
	EXPECT(e.mask == mask);
	EXPECT(!strcmp(e.name, name));
	return e.cookie;
}

/* --- events ------------------------------------------------------------- */

static void change_things(void *unused)
{
	char         longest[SENNIT_WATCH_NAME_MAX + 1];
	struct place p;
	char         from[64];
	uint32_t     cookie;

	(void)unused;
	open_place(&p);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	make_file(&p, "a");
	strcpy(from, path(&p, "a"));
	must(!rename(from, path(&p, "b")), "rename");
	must(!unlink(path(&p, "b")), "unlink");
	make_file(&p, longest);
	must(!unlink(path(&p, longest)), "unlink");
	expect_event(&p, IN_CREATE, "a");
	cookie = expect_event(&p, IN_MOVED_FROM, "a");
	EXPECT(cookie && expect_event(&p, IN_MOVED_TO, "b") == cookie);
	expect_event(&p, IN_DELETE, "b");
	expect_event(&p, IN_CREATE, longest);
	expect_event(&p, IN_DELETE, longest);
	EXPECT(sennit_watch_remove(p.w, p.watched) == 0);
	expect_event(&p, IN_IGNORED, "");
	EXPECT(sennit_watch_remove(p.w, p.watched) == -EINVAL);
	close_place(&p);
}

TEST_WITH_WORKERS(changes_come_in_order_with_their_names)
{
	in_each_place(change_things, NULL);
}

static void await_event(void *argument)
{
	struct place *p = argument;

	expect_event(p, IN_CREATE, "a");
	atomic_store(&p->over, true);
}

TEST_WITH_WORKERS(a_fiber_waits_for_a_change)
{
	struct place p;

	open_place(&p);
	must_schedule(await_event, &p);
	assert_soon(io_waits(w->s) == 1);
	make_file(&p, "a");
	assert_soon(atomic_load(&p.over));
	unlink(path(&p, "a"));
	close_place(&p);
}

static void wait_in_vain(void *unused)
{
	sennit_watch_event e = { .size = sizeof(e), .watched = 7 };
	struct place       p;

	(void)unused;
	open_place(&p);
	EXPECT(sennit_watch_next(p.w, &e, 0) == -ETIMEDOUT);
	EXPECT(sennit_watch_next(p.w, &e, in_ms(1)) == -ETIMEDOUT);
	EXPECT(e.watched == 7);
	EXPECT(sennit_watch_add(p.w, "/no/such/file", IN_CREATE) == -ENOENT);
	close_place(&p);
}

TEST_WITH_WORKERS(a_deadline_ends_the_wait)
{
	in_each_place(wait_in_vain, NULL);
}

static int wait_as_member(void *argument)
{
	struct place      *p = argument;
	sennit_watch_event e = { .size = sizeof(e) };

	p->got = sennit_watch_next(p->w, &e, SENNIT_NEVER);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_wait)
{
	struct place p;
	sennit_group g;

	open_place(&p);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_as_member, &p), 0);
	assert_soon(io_waits(w->s) == 1);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(p.got, -ECANCELED);
	close_place(&p);
}

static void wait_and_end(void *argument)
{
	struct place *x = argument;

	(void)wait_as_member(x);
	atomic_store(&x->over, true);
}

/* The two fibers are on one worker. */
static void close_meanwhile(void *scheduler)
{
	struct place p = { .over = false };

	open_place(&p);
	must_schedule_here(wait_and_end, &p);
	while (!io_waits(scheduler))
		sennit_yield();
	sennit_watch_close(p.w);
	while (!atomic_load(&p.over))
		sennit_yield();
	EXPECT(p.got == -ECANCELED);
	must(!rmdir(p.folder), "rmdir");
}

TEST_WITH_WORKERS(a_close_ends_the_wait)
{
	in_a_task(close_meanwhile, w->s);
}

/* --- sizes of events ---------------------------------------------------- */

/* An event of a newer program, and of one whose event is too small. */
static void take_by_size(void *unused)
{
	struct {
		sennit_watch_event known;
		uint64_t           more[2];
	} e = { .known = { .size = sizeof(e) }, .more = { 1, 2 } };
	struct place p;

	(void)unused;
	open_place(&p);
	make_file(&p, "a");
	e.known.size = offsetof(sennit_watch_event, name);
	EXPECT(sennit_watch_next(p.w, &e.known, SENNIT_NEVER) == -EINVAL);
	e.known.size = sizeof(e);
	EXPECT(sennit_watch_next(p.w, &e.known, SENNIT_NEVER) == 0);
	EXPECT(e.known.size == sizeof(e) && !strcmp(e.known.name, "a"));
	EXPECT(!e.more[0] && !e.more[1]);
	unlink(path(&p, "a"));
	close_place(&p);
}

TEST_WITH_WORKERS(an_event_of_any_later_size_is_filled)
{
	in_each_place(take_by_size, NULL);
}

/* --- too many ----------------------------------------------------------- */

static unsigned queue_limit(void)
{
	FILE    *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
	unsigned limit = 0;

	if (f && fscanf(f, "%u", &limit) != 1)
		limit = 0;
	if (f)
		fclose(f);
	return limit;
}

/* inotify merges equal consecutive events, so names alternate. */
TEST_WITHOUT(overflow)
{
	const unsigned limit = queue_limit();
	struct place   p;
	unsigned       events = 0;
	int            err;

	if (!limit || limit > 100000)
		skip();
	open_place(&p);
	for (unsigned i = 0; i <= limit / 2; i++) {
		const char *name = i % 2 ? "a" : "b";

		make_file(&p, name);
		must(!unlink(path(&p, name)), "unlink");
	}
	do {
		sennit_watch_event e = { .size = sizeof(e) };

		err = sennit_watch_next(p.w, &e, 0);
		events += !err;
	} while (!err);
	assert_int_equal(err, -EOVERFLOW);
	assert_int_equal(events, limit);
	make_file(&p, "c");
	expect_event(&p, IN_CREATE, "c");
	unlink(path(&p, "c"));
	close_place(&p);
}

USES_BACKEND;
