/* SPDX-License-Identifier: Apache-2.0 */
/* scenes.c - chooses the next scene and its tasks. */
#include "soak.h"

/* Tiny tasks are the most frequent. */
static const struct {
	scene_fn *scene;
	uint32_t  weight;
} repertoire[] = {
	{ scene_tiny, 15 },      { scene_tree, 4 },       { scene_copies, 2 },
	{ scene_background, 2 }, { scene_own_thread, 2 }, { scene_sleeps, 2 },
	{ scene_locals, 2 },     { scene_calls, 1 },      { scene_market, 3 },
	{ scene_rwlock, 3 },     { scene_semaphore, 3 },  { scene_barrier, 3 },
	{ scene_once, 3 },       { scene_notes, 3 },      { scene_events, 3 },
	{ scene_tickets, 3 },    { scene_pool, 3 },       { scene_futures, 3 },
	{ scene_channel, 3 },    { scene_select, 3 },     { scene_chain, 2 },
	{ scene_for, 2 },        { scene_sums, 1 },       { scene_sort, 1 },
	{ scene_dag, 3 },        { scene_forks, 2 },      { scene_nested, 2 },
};

enum { SCENES = sizeof(repertoire) / sizeof(repertoire[0]) };

void play_any(uint64_t *random)
{
	uint32_t all = 0, i = 0, lot;

	for (unsigned k = 0; k < SCENES; k++)
		all += repertoire[k].weight;
	lot = random_below(random, all);
	while (lot >= repertoire[i].weight)
		lot -= repertoire[i++].weight;
	repertoire[i].scene(random);
	count_one(scenes);
}

void must_schedule(sennit_task_fn *run, void *argument)
{
	if (!sennit_schedule(run, argument))
		return;
	fprintf(stderr, "no memory for a task\n");
	abort();
}

struct role {
	part_fn           *part;
	void              *shared;
	uint64_t           random;
	sennit_wait_group *done; /* of the tasks that are not members */
};

static void play_role(void *argument)
{
	struct role *r = argument;

	r->part(r->shared, &r->random);
	sennit_wait_group_done(r->done);
}

static int play_as_member(void *argument)
{
	struct role *r = argument;

	r->part(r->shared, &r->random);
	book_out(members, 1);
	return random_below(&r->random, 8) ? 0 : -EIO;
}

/* Run the part as a member, or as a plain task if the group is cancelled,
 * because the part must run. */
static void cast(sennit_group *g, const struct role *r)
{
	int err = g ? sennit_group_spawn_copy(g, play_as_member, r, sizeof(*r))
		    : -ECANCELED;

	if (!err) {
		book_in(members, 1);
		return;
	}
	CLAIM(err == -ECANCELED);
	sennit_wait_group_add(r->done, 1);
	if (sennit_schedule_copy(play_role, r, sizeof(*r)))
		abort();
}

static void open_group(sennit_group *g, uint64_t *random)
{
	const bool in_time = random_below(random, 4) == 0;
	const bool patient = random_below(random, 2);
	const bool apart = random_below(random, 4) == 0;

	sennit_group_init(g,
			  in_time ? sennit_after(random_below(random, 500000))
				  : SENNIT_NEVER,
			  (patient ? SENNIT_GROUP_KEEP_GOING : 0) |
				  (apart ? SENNIT_GROUP_OWN_STACKS : 0));
}

void play_parts(part_fn *part, void *shared, uint32_t n, uint64_t *random)
{
	const bool        grouped = random_below(random, 2);
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;
	sennit_group      g;

	if (grouped)
		open_group(&g, random);
	for (uint32_t i = 0; i < n; i++) {
		const struct role r = { part, shared, random_from(random),
					&done };

		cast(grouped ? &g : NULL, &r);
	}
	if (grouped) {
		if (random_below(random, 2))
			sennit_yield();
		if (random_below(random, 4) == 0 && sennit_group_cancel(&g))
			count_one(cancellations);
		if (sennit_group_wait(&g))
			count_one(failures);
	}
	sennit_wait_group_wait(&done);
}

sennit_time some_deadline(uint64_t *random)
{
	static const uint32_t spans[] = { 1, 2000, 50000, 500000, 5000000 };
	const uint32_t        kind = random_below(random, 8);

	if (kind >= sizeof(spans) / sizeof(spans[0]))
		return kind == 7 ? 0 : SENNIT_NEVER;
	return sennit_after(random_below(random, spans[kind]));
}

bool went_well(int err)
{
	if (!err)
		return true;
	CLAIM(err == -ETIMEDOUT || err == -ECANCELED);
	count_one(err == -ETIMEDOUT ? timeouts : cancellations);
	return false;
}
