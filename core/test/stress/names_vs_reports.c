/* SPDX-License-Identifier: Apache-2.0 */
/* names_vs_reports.c - tasks of three functions start and end. Each names
 * itself after its function, or not at all. Reports must never see a partial
 * name, or the name of another task. */
#include "testing/with_workers.h"
#include "testing/random.h"

enum { KINDS = 3 };

struct town {
	sennit_scheduler *s;
	atomic_bool       over;
	atomic_uint       alive;
	atomic_uint       named; /* entries with a name of their own */
};

static struct town town;

static void live(char letter, unsigned renames)
{
	char name[SENNIT_TASK_NAME_SIZE] = "";

	for (unsigned i = 0; i < renames; i++) {
		/* The same letter throughout, alternately in lower and upper
		 * case. */
		memset(name, i % 2 ? letter : letter - 'a' + 'A',
		       sizeof(name) - 1);
		sennit_task_set_name(name);
		if (i % 4 == 1)
			sennit_yield();
	}
	atomic_fetch_sub(&town.alive, 1);
}

static void live_as_a(void *renames)
{
	live('a', (unsigned)(uintptr_t)renames);
}

static void live_as_b(void *renames)
{
	live('b', (unsigned)(uintptr_t)renames);
}

static void live_as_c(void *renames)
{
	live('c', (unsigned)(uintptr_t)renames);
}

static sennit_task_fn *const lives[KINDS] = { live_as_a, live_as_b, live_as_c };

static void check(void *context, const sennit_report_entry *e)
{
	struct town *t = context;
	int          kind;

	for (kind = 0; kind < KINDS; kind++)
		if (e->task == lives[kind])
			break;
	if (kind == KINDS) {
		EXPECT(!e->name);
		return;
	}
	if (e->name) {
		const char one[2] = { e->name[0] };

		atomic_fetch_add(&t->named, 1);
		EXPECT((e->name[0] | 0x20) == 'a' + kind);
		EXPECT(strspn(e->name, one) == SENNIT_TASK_NAME_SIZE - 1);
	}
}

static void *look_all_the_time(void *unused)
{
	while (!atomic_load(&town.over))
		sennit_report_visit(town.s, check, &town);
	return unused;
}

TEST_WITH_WORKERS(names_are_whole_and_ones_own)
{
	uint64_t  random = random_stream(w->workers);
	uint64_t  rounds = scaled(LOAD(60));
	pthread_t observer;

	memset(&town, 0, sizeof(town));
	town.s = w->s;
	observer = must_start_thread(look_all_the_time, NULL);
	for (uint64_t i = 0; i < rounds || !atomic_load(&town.named); i++) {
		for (int j = 0; j < 20; j++) {
			atomic_fetch_add(&town.alive, 1);
			must_schedule(
				lives[random_below(&random, KINDS)],
				(void *)(uintptr_t)random_below(&random, 60));
		}
		assert_soon(!atomic_load(&town.alive));
	}
	atomic_store(&town.over, true);
	pthread_join(observer, NULL);
}
