/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - where tasks were spawned, in reports and stacks. Each call is in
 * its own function, whose bounds the linker defines. */
#include "testing/with_workers.h"
#include "marks.h"
#include "written.h"

#include "sennit/domain.h"
#include "sennit/fork_join.h"

#include <errno.h>

#ifdef SENNIT_SPAWN_SITES
#define HAS_SITES true
#else
#define HAS_SITES false
#endif

#define MOST 64u

static sennit_event      go;
static sennit_domain    *domain;
static sennit_group      group;
static sennit_wait_group ties;
static sennit_future     future;
static atomic_uint       inside; /* tasks that are about to wait for `go` */
static atomic_uint       over;   /* tasks that have waited */
static atomic_uint       spawners;

/* --- tasks that wait ---------------------------------------------------- */

static void wait_for_go(void)
{
	atomic_fetch_add(&inside, 1);
	EXPECT(!sennit_event_wait(&go));
	atomic_fetch_add(&over, 1);
}

static void waits(void *unused)
{
	(void)unused;
	wait_for_go();
}

static int waits_as_member(void *unused)
{
	(void)unused;
	wait_for_go();
	return 0;
}

static int waits_for_value(void *unused, void **value)
{
	(void)unused;
	(void)value;
	wait_for_go();
	return 0;
}

/* --- calls that spawn --------------------------------------------------- */

static sennit_scheduler *target; /* for the calls that take a scheduler */

#define SITE(name)                                                     \
	extern const char __start_site_##name[], __stop_site_##name[]; \
	MARKED(site_##name) static void by_##name(void)

SITE(schedule)
{
	EXPECT(!sennit_schedule(waits, NULL));
	NOT_LAST();
}

SITE(schedule_copy)
{
	const char large[200] = { 1 };

	EXPECT(!sennit_schedule_copy(waits, large, 8));
	EXPECT(!sennit_schedule_copy(waits, large, sizeof(large)));
	NOT_LAST();
}

SITE(schedule_task)
{
	sennit_task t = { .run = waits };

	EXPECT(!sennit_schedule_task(&t));
	t.flags = SENNIT_TASK_BACKGROUND;
	EXPECT(!sennit_schedule_task(&t));
	t.flags = SENNIT_TASK_SAME_THREAD;
	EXPECT(!sennit_schedule_task(&t));
	NOT_LAST();
}

SITE(schedule_on)
{
	EXPECT(!sennit_schedule_task_on(target,
					&(sennit_task){ .run = waits }));
	NOT_LAST();
}

SITE(schedule_many)
{
	const char  bytes[8] = { 1 };
	sennit_task t[3] = { { .run = waits },
			     { .run = waits },
			     { .run = waits } };

	EXPECT(!sennit_schedule_many(t, 3));
	t[1].argument = (void *)(uintptr_t)bytes;
	t[1].copy_size = sizeof(bytes);
	EXPECT(!sennit_schedule_many(t, 3));
	NOT_LAST();
}

SITE(schedule_many_on)
{
	const sennit_task t[3] = { { .run = waits },
				   { .run = waits },
				   { .run = waits } };

	EXPECT(!sennit_schedule_many_on(target, t, 3));
	NOT_LAST();
}

SITE(domain)
{
	EXPECT(!sennit_domain_schedule(domain, waits, NULL));
	NOT_LAST();
}

SITE(domain_task)
{
	const char        bytes[8] = { 1 };
	const sennit_task t = { .run = waits,
				.argument = (void *)(uintptr_t)bytes,
				.copy_size = sizeof(bytes) };

	EXPECT(!sennit_domain_schedule_task(domain, &t));
	NOT_LAST();
}

SITE(group_spawn)
{
	EXPECT(!sennit_group_spawn(&group, waits_as_member, NULL));
	NOT_LAST();
}

SITE(group_spawn_copy)
{
	const char large[200] = { 1 };

	EXPECT(!sennit_group_spawn_copy(&group, waits_as_member, large, 8));
	EXPECT(!sennit_group_spawn_copy(&group, waits_as_member, large,
					sizeof(large)));
	NOT_LAST();
}

SITE(group_spawn_here)
{
	EXPECT(!sennit_group_spawn_task(
		&group, SENNIT_MEMBER(.run = waits_as_member,
				      .flags = SENNIT_MEMBER_SAME_THREAD)));
	NOT_LAST();
}

SITE(wait_group)
{
	EXPECT(!sennit_wait_group_spawn(&ties, waits, NULL));
	NOT_LAST();
}

SITE(future)
{
	EXPECT(!sennit_future_spawn(&future, waits_for_value, NULL));
	NOT_LAST();
}

static const struct way {
	const char *name;
	void (*spawn)(void);
	const char *start, *stop;
	unsigned    count;
} ways[] = {
#define WAY(name, count)                                     \
	{                                                    \
		"by_" #name, by_##name, __start_site_##name, \
			__stop_site_##name, count            \
	}
	WAY(schedule, 1),         WAY(schedule_copy, 2),
	WAY(schedule_task, 3),    WAY(schedule_on, 1),
	WAY(schedule_many, 6),    WAY(schedule_many_on, 3),
	WAY(domain, 1),           WAY(domain_task, 1),
	WAY(group_spawn, 1),      WAY(group_spawn_copy, 2),
	WAY(group_spawn_here, 1), WAY(wait_group, 1),
	WAY(future, 1),
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static bool is_in(const void *site, const struct way *way)
{
	const char *call = (const char *)site - 1;

	return site && call >= way->start && call < way->stop;
}

/* --- the report --------------------------------------------------------- */

struct seen {
	const struct way *way;
	unsigned          here, elsewhere, unknown; /* fibers that wait for
						     * `go` */
	uint32_t          workers; /* a bit for each worker that has such a
				    * fiber spawned here */
};

static void see(void *context, const sennit_report_entry *e)
{
	struct seen *seen = context;

	if (e->state != SENNIT_REPORT_BLOCKED || e->object != &go)
		return;
	if (!e->spawned_at) {
		seen->unknown++;
	} else if (is_in(e->spawned_at, seen->way)) {
		seen->here++;
		seen->workers |= 1u << (e->worker & 31);
	} else {
		seen->elsewhere++;
	}
}

/* Look when `count` fibers wait for `go`. */
static struct seen look(sennit_scheduler *s, const struct way *way,
			unsigned count)
{
	struct seen seen;

	do {
		sched_yield();
		seen = (struct seen){ .way = way };
		sennit_report_visit(s, see, &seen);
	} while (seen.here + seen.elsewhere + seen.unknown < count);
	return seen;
}

/* The same from copied memory. */
static void see_stack(void *context, const sennit_stack *stack)
{
	see(context, stack->fiber);
}

static struct seen look_at_stacks(sennit_scheduler *s, const struct way *way)
{
	struct seen seen = { .way = way };
	const int   err = sennit_stacks_visit(s, see_stack, &seen);

	if (err == -EPERM || err == -ENOTSUP)
		skip();
	assert_int_equal(err, 0);
	return seen;
}

static void check(const struct seen *seen, unsigned count, const char *name)
{
	const unsigned here = HAS_SITES ? count : 0;

	if (seen->here != here || seen->elsewhere ||
	    seen->unknown != count - here)
		fail_msg("%s: %u here, %u elsewhere, %u unknown, of %u", name,
			 seen->here, seen->elsewhere, seen->unknown, count);
}

/* --- each call ---------------------------------------------------------- */

static void open_all(sennit_scheduler *s)
{
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&ties, 0);
	sennit_future_init(&future);
	atomic_store(&inside, 0);
	atomic_store(&over, 0);
	target = s;
	assert_int_equal(sennit_domain_create(&domain, s, NULL, NULL), 0);
}

static void close_all(void)
{
	sennit_event_set(&go);
	while (atomic_load(&over) < atomic_load(&inside) ||
	       atomic_load(&spawners))
		sched_yield();
	sennit_domain_release(domain);
}

/* Call way->spawn, and wait for what it has spawned. */
static void spawner(void *way)
{
	void (*spawn)(void) = ((const struct way *)way)->spawn;

	sennit_group_init(&group, SENNIT_NEVER, 0);
	spawn();
	EXPECT(!sennit_group_wait(&group));
	sennit_wait_group_wait(&ties);
	if (spawn == by_future)
		EXPECT(!sennit_future_wait(&future));
	atomic_fetch_sub(&spawners, 1);
}

TEST_WITH_THREADS(each_call_that_spawns_is_the_site_of_its_tasks)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct seen seen;

		open_all(w->s);
		atomic_store(&spawners, 1);
		assert_int_equal(enqueue(w->s, spawner, (void *)&ways[i]), 0);
		seen = look(w->s, &ways[i], ways[i].count);
		check(&seen, ways[i].count, ways[i].name);
		seen = look_at_stacks(w->s, &ways[i]);
		check(&seen, ways[i].count, ways[i].name);
		close_all();
	}
}

TEST_WITH_THREADS(threads_that_are_not_workers_are_sites_too)
{
	static const unsigned outside[] = { 3, 5, 6, 7 };

	for (size_t i = 0; i < 4; i++) {
		const struct way *way = &ways[outside[i]];
		struct seen       seen;

		open_all(w->s);
		way->spawn();
		seen = look(w->s, way, way->count);
		check(&seen, way->count, way->name);
		close_all();
	}
}

/* --- tasks on their way ------------------------------------------------- */

/* Occupy the worker until another one has taken all tasks. */
static void spawn_for_thieves(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < MOST; i++)
		by_schedule();
	while (atomic_load(&inside) < MOST)
		sched_yield();
}

TEST_WITH_SEVERAL(a_stolen_task_keeps_its_site)
{
	struct seen seen;

	open_all(w->s);
	assert_int_equal(enqueue(w->s, spawn_for_thieves, NULL), 0);
	seen = look(w->s, &ways[0], MOST);
	check(&seen, MOST, "by_schedule");
	close_all();
}

/* Make a deque grow, be emptied and filled again. */
static void spawn_many(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3000; i++)
		by_schedule();
}

TEST_WITH_THREADS(no_site_is_lost_when_a_queue_grows)
{
	struct seen seen;

	open_all(w->s);
	for (unsigned round = 1; round <= 2; round++) {
		const unsigned count = 3000 * round;

		assert_int_equal(enqueue(w->s, spawn_many, NULL), 0);
		seen = look(w->s, &ways[0], count);
		check(&seen, count, "by_schedule");
	}
	close_all();
}

static int returns(void *unused)
{
	(void)unused;
	return 0;
}

/* Members run on its stack meanwhile. */
static void joins_and_waits(void *unused)
{
	sennit_group g;

	(void)unused;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 10; i++)
		EXPECT(!sennit_group_spawn(&g, returns, NULL));
	EXPECT(!sennit_group_wait(&g));
	wait_for_go();
}

SITE(joiner)
{
	EXPECT(!sennit_schedule_task_on(
		target, &(sennit_task){ .run = joins_and_waits }));
	NOT_LAST();
}

TEST_WITH_THREADS(who_has_run_members_on_its_stack_has_its_own_site_again)
{
	const struct way way = WAY(joiner, 1);
	struct seen      seen;

	open_all(w->s);
	by_joiner();
	seen = look(w->s, &way, 1);
	check(&seen, 1, "by_joiner");
	close_all();
}

SENNIT_FORK(int, forked, int, n)
{
	wait_for_go();
	return n;
}

/* The macros push onto slots that other tasks have used. The wait lets the loop
 * take the call. */
SENNIT_FORK(int, forks, int, n)
{
	SENNIT_FORK_SPAWN(forked, other, n);
	wait_for_go();
	return SENNIT_FORK_SYNC(forked, other);
}

static void fill_slots_and_fork(void *unused)
{
	sennit_group g;

	(void)unused;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 100; i++)
		EXPECT(!sennit_group_spawn(&g, returns, NULL));
	EXPECT(!sennit_group_wait(&g));
	EXPECT(SENNIT_FORK_RUN(forks, 7) == 7);
}

SITE(forker)
{
	EXPECT(!sennit_schedule_task_on(
		target, &(sennit_task){ .run = fill_slots_and_fork }));
	NOT_LAST();
}

TEST_WITH_THREADS(a_forked_call_has_no_site_and_not_that_of_another_task)
{
	const struct way way = WAY(forker, 1);
	struct seen      seen;

	open_all(w->s);
	by_forker();
	seen = look(w->s, &way, 2);
	assert_int_equal(seen.elsewhere, 0);
	assert_int_equal(seen.here, HAS_SITES ? 1 : 0);
	assert_int_equal(seen.unknown, HAS_SITES ? 1 : 2);
	close_all();
}

/* --- text --------------------------------------------------------------- */

static const char *written_report(sennit_scheduler *s)
{
	FILE *file = begin_written();

	sennit_report_print(s, fileno(file));
	return end_written(file);
}

static unsigned line_of_call;

SITE(a_known_line)
{
	line_of_call = __LINE__ + 1;
	EXPECT(!sennit_schedule_task_on(target,
					&(sennit_task){ .run = waits }));
	NOT_LAST();
}

static void begin_two_sites(sennit_scheduler *s)
{
	const struct way way = WAY(a_known_line, 3);

	open_all(s);
	for (int i = 0; i < 3; i++)
		by_a_known_line();
	by_schedule_on();
	(void)look(s, &way, 4);
}

TEST_WITH_THREADS(texts_name_the_function_and_the_line_of_the_call)
{
	char        place[64];
	const char *said;

	if (!HAS_LINES)
		skip();
	begin_two_sites(w->s);
	snprintf(place, sizeof(place), "sites.c:%u)\n", line_of_call);
	said = written_stacks(w->s, SENNIT_STACKS_TEXT);
	assert_int_equal(occurrences(said, "  spawned at by_a_known_line ("),
			 HAS_SITES ? 3 : 0);
	assert_int_equal(occurrences(said, place), HAS_SITES ? 3 : 0);
	assert_int_equal(occurrences(said, "spawned at"), HAS_SITES ? 4 : 0);
	said = written_report(w->s);
	assert_int_equal(occurrences(said, ", spawned at by_a_known_line+"),
			 HAS_SITES ? 3 : 0);
	assert_int_equal(occurrences(said, "spawned at"), HAS_SITES ? 4 : 0);
	close_all();
}

/* Return the number of fibers of `waits` whose group has this site. Fibers on
 * whose stack their worker sleeps have other frames and form other groups. */
static unsigned merged_of(const char *said, const char *site)
{
	unsigned sum = 0;

	for (const char *at = said; (at = strstr(at, " of waits ")); at++) {
		const char *number = at;
		const char *line = strchr(at, '\n');

		while (number > said && number[-1] >= '0' && number[-1] <= '9')
			number--;
		if (line && !strncmp(line + 1, site, strlen(site)))
			sum += (unsigned)strtoul(number, NULL, 10);
	}
	return sum;
}

TEST_WITH_THREADS(stacks_of_two_sites_are_not_merged)
{
	const char *said;

	if (!HAS_LINES)
		skip();
	begin_two_sites(w->s);
	said = written_stacks(w->s, SENNIT_STACKS_MERGED);
	assert_int_equal(merged_of(said, "  spawned at by_a_known_line ("),
			 HAS_SITES ? 3 : 0);
	assert_int_equal(merged_of(said, "  spawned at by_schedule_on ("),
			 HAS_SITES ? 1 : 0);
	assert_int_equal(merged_of(said, "  #0"), HAS_SITES ? 0 : 4);
	close_all();
}

TEST_WITH_THREADS(objects_of_json_have_the_site)
{
	char        member[96];
	const char *said;

	if (!HAS_LINES)
		skip();
	begin_two_sites(w->s);
	snprintf(member, sizeof(member),
		 "sites.c\", \"line\": %u}, \"waits_for", line_of_call);
	said = written_stacks(w->s, SENNIT_STACKS_JSON);
	assert_int_equal(occurrences(said, "\"spawned_at\": {"),
			 HAS_SITES ? 4 : 0);
	assert_int_equal(occurrences(said, member), HAS_SITES ? 3 : 0);
	said = written_stacks(w->s, SENNIT_STACKS_MERGED_JSON);
	assert_int_equal(occurrences(said, member) > 0, HAS_SITES);
	assert_int_equal(occurrences(said, "\"symbol\": \"by_schedule_on+"),
			 HAS_SITES ? 1 : 0);
	assert_int_equal(occurrences(said, "\"spawned_at\": {"),
			 HAS_SITES ? occurrences(said, member) + 1 : 0);
	close_all();
}
