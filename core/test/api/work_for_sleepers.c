/* SPDX-License-Identifier: Apache-2.0 */
/* work_for_sleepers.c - all that may bring work, to each thread that may sleep:
 * brought by a hook of that thread's worker, or from outside; with a poller to
 * sleep in, or without. The work is done in each case. */
#include "post_box.h"
#include "sennit/workers.h"

enum place { IDLE, WITH_FIBER, CLOSED, BOUND, BOUND_BESIDE, UNBINDING, PLACES };

enum work {
	TASK,
	BATCH,
	BACKGROUND,
	SAME_THREAD,
	MEMBER, /* sent to the worker */
	CONTINUATION,
	CONTINUATION_THERE, /* on the scheduler */
	FIBER,
	TIMER,
	COMPLETION,
	WORKS
};

struct cell {
	sennit_poller_hook  hook; /* first */
	enum place          place;
	enum work           work;
	bool                by_hook, polls;
	sennit_scheduler   *s;
	sennit_group        members;
	sennit_event        over;
	sennit_future       future;
	sennit_continuation then;
	pthread_t           thread; /* of the sleeper */
	struct post_box    *box;
	struct post         post;
	unsigned            asked;
	uint64_t            parks; /* before the sleep in question */
	atomic_bool         there, sleeps, brought;
	atomic_uint         ran;
};

static bool has_workers(const struct cell *c)
{
	return c->place <= CLOSED || c->place == BOUND_BESIDE;
}

static bool is_possible(const struct cell *c)
{
	switch (c->work) {
	case SAME_THREAD:
	case CONTINUATION: /* elsewhere the setter runs it */
		return c->by_hook;
	case MEMBER: /* a closed worker is none to its own hook */
		return c->place == CLOSED ? !c->by_hook
					  : c->by_hook || has_workers(c);
	case FIBER:
		return c->place != IDLE;
	case TIMER:
		return c->place != IDLE && !c->by_hook;
	case COMPLETION:
		return c->place != IDLE && !c->by_hook && c->polls;
	default:
		return c->by_hook || has_workers(c);
	}
}

static bool needs_bringer(const struct cell *c)
{
	return !c->by_hook && c->work != TIMER;
}

/* --- the work ----------------------------------------------------------- */

/* Whether the work runs on the sleeper's thread in any case. */
static bool is_of_sleeper(const struct cell *c)
{
	return c->work == SAME_THREAD || c->work >= TIMER ||
	       (c->work == MEMBER && c->place != BOUND_BESIDE);
}

static void finish(void *argument)
{
	struct cell *c = argument;

	if (is_of_sleeper(c))
		EXPECT(pthread_equal(pthread_self(), c->thread));
	atomic_fetch_add(&c->ran, 1);
	sennit_event_set(&c->over);
}

static int finish_as_member(void *argument)
{
	finish(*(struct cell **)argument);
	return 0;
}

static void finish_as_continuation(void *argument, void *value, int error)
{
	EXPECT(!value && !error);
	finish(argument);
}

static void finish_after_sleep(void *argument)
{
	EXPECT(!sennit_sleep(2 * SENNIT_MILLISECOND));
	finish(argument);
}

static void finish_after_completion(void *argument)
{
	struct cell *c = argument;

	EXPECT(!sennit_poller_wait(&c->post.op, 42, SENNIT_NEVER));
	finish(argument);
}

/* --- bringing it -------------------------------------------------------- */

static void bring_task(struct cell *c, uint32_t flags)
{
	const sennit_task t = { .run = finish, .argument = c, .flags = flags };

	EXPECT(!sennit_schedule_task_on(c->s, &t));
}

static void bring_batch(struct cell *c)
{
	const sennit_task t = { .run = finish, .argument = c };

	EXPECT(!sennit_schedule_many_on(c->s, &t, 1));
}

static uint32_t index_of(const struct cell *c)
{
	return c->place == CLOSED;
}

/* A closed worker is called back for it, and closed again before it looks. */
static void send_member(struct cell *c)
{
	if (c->place == CLOSED)
		EXPECT(!sennit_scheduler_set_workers(c->s, 2));
	EXPECT(!sennit_group_spawn_task(
		&c->members,
		SENNIT_MEMBER(.run = finish_as_member, .argument = &c,
			      .copy_size = sizeof(c),
			      .flags = SENNIT_MEMBER_ON_WORKER,
			      .worker = index_of(c))));
	if (c->place == CLOSED)
		EXPECT(!sennit_scheduler_set_workers(c->s, 1));
}

static void complete(struct cell *c)
{
	post(c->box, &c->post, 0);
	wake_box(&c->box->p);
}

static void bring(struct cell *c)
{
	switch (c->work) {
	case TASK:
		bring_task(c, 0);
		break;
	case BATCH:
		bring_batch(c);
		break;
	case BACKGROUND:
		bring_task(c, SENNIT_TASK_BACKGROUND);
		break;
	case SAME_THREAD:
		bring_task(c, SENNIT_TASK_SAME_THREAD);
		break;
	case MEMBER:
		send_member(c);
		break;
	case CONTINUATION:
	case CONTINUATION_THERE:
		sennit_future_set(&c->future, NULL);
		break;
	case FIBER:
		atomic_fetch_add(&c->ran, 1);
		sennit_event_set(&c->over);
		break;
	case COMPLETION:
		complete(c);
		break;
	default: /* the sleeper's own */
		break;
	}
}

/* The worker is then asked twice more, and sleeps in between. */
static sennit_time ask(sennit_poller_hook *h)
{
	struct cell *c = (struct cell *)h;

	if (!atomic_load(&c->sleeps) || ++c->asked < 3)
		return sennit_after(200 * SENNIT_MICROSECOND);
	bring(c);
	return SENNIT_NEVER;
}

static void *bring_as_thread(void *argument)
{
	struct cell      *c = argument;
	const sennit_time give_up = sennit_after(GIVE_UP);

	while (!atomic_load(&c->sleeps) || stats_of(c->s).parks <= c->parks) {
		EXPECT(sennit_now() < give_up);
		sched_yield();
	}
	bring(c);
	atomic_store(&c->brought, true);
	return NULL;
}

/* --- sleeping ----------------------------------------------------------- */

static void prepare(struct cell *c)
{
	c->thread = pthread_self();
	if (c->polls)
		c->box = my_box();
	if (c->by_hook) {
		EXPECT(!sennit_poller_hook_add(&c->hook));
		sennit_poller_hook_ask(&c->hook);
	}
	if (c->work == TIMER)
		must_schedule_here(finish_after_sleep, c);
	if (c->work == COMPLETION)
		must_schedule_here(finish_after_completion, c);
	atomic_store(&c->there, true);
}

/* From now on it sleeps, or will soon. */
static void note_sleep(struct cell *c, uint64_t parks)
{
	c->parks = parks;
	atomic_store(&c->sleeps, true);
}

static void sleep_there(struct cell *c)
{
	prepare(c);
	if (c->place != CLOSED)
		note_sleep(c, stats_of(c->s).parks);
	EXPECT(!sennit_event_wait_until(&c->over, sennit_after(GIVE_UP)));
	if (c->by_hook)
		sennit_poller_hook_remove(&c->hook);
}

/* On a thread that binds, or in its task: the group is the sleeper's. The
 * thread that brings the work may still use the box, which
 * sennit_thread_unbind() frees. */
static void open_and_sleep(void *argument)
{
	struct cell *c = argument;

	sennit_group_init(&c->members, SENNIT_NEVER, 0);
	sleep_there(c);
	EXPECT(!sennit_group_wait(&c->members));
	while (needs_bringer(c) && !atomic_load(&c->brought))
		sched_yield();
}

static int sleep_as_member(void *argument)
{
	struct cell *c = *(struct cell **)argument;

	if (c->place == IDLE) {
		prepare(c);
		note_sleep(c, stats_of(c->s).parks);
	} else {
		sleep_there(c);
	}
	return 0;
}

static void count_asleep(void *count, const sennit_worker_view *v)
{
	*(unsigned *)count += v->state == SENNIT_WORKER_ASLEEP;
}

static bool all_sleep(sennit_scheduler *s)
{
	unsigned asleep = 0;

	sennit_workers_visit(s, count_asleep, &asleep);
	return asleep == 2;
}

/* Both workers sleep, then one is woken and sleeps as a closed one. */
static void close_sleeper(struct cell *c)
{
	uint64_t parks = 0;

	if (needs_bringer(c)) {
		assert_soon(all_sleep(c->s));
		parks = stats_of(c->s).parks;
	}
	assert_int_equal(sennit_scheduler_set_workers(c->s, 1), 0);
	note_sleep(c, parks);
}

static void sleep_as_worker(struct cell *c)
{
	EXPECT(!sennit_group_spawn_task(
		&c->members,
		SENNIT_MEMBER(.run = sleep_as_member, .argument = &c,
			      .copy_size = sizeof(c),
			      .flags = SENNIT_MEMBER_ON_WORKER,
			      .worker = index_of(c))));
	assert_soon(atomic_load(&c->there));
	if (c->place == CLOSED)
		close_sleeper(c);
	assert_int_equal(
		sennit_event_wait_until(&c->over, sennit_after(GIVE_UP)), 0);
}

static void sleep_as_bound(struct cell *c)
{
	assert_int_equal(sennit_thread_bind(c->s), 0);
	if (c->place == UNBINDING)
		must_schedule_here(open_and_sleep, c);
	else
		open_and_sleep(c);
	sennit_thread_unbind();
}

/* --- cells -------------------------------------------------------------- */

static void begin_cell(struct cell *c)
{
	const uint32_t workers = c->place == CLOSED ? 2
				 : has_workers(c)   ? 1
						    : SENNIT_WORKERS_NONE;

	c->s = start_scheduler(workers);
	c->hook.ask = ask;
	if (c->place <= CLOSED)
		sennit_group_init_on(&c->members, c->s, SENNIT_NEVER, 0);
	sennit_event_init(&c->over, SENNIT_EVENT_MANUAL);
	sennit_future_init(&c->future);
	c->then = (sennit_continuation){ .run = finish_as_continuation,
					 .argument = c };
	if (c->work == CONTINUATION_THERE && has_workers(c))
		c->then.scheduler = c->s;
	if (c->work == CONTINUATION || c->work == CONTINUATION_THERE)
		sennit_future_then(&c->future, &c->then);
}

static void end_cell(struct cell *c)
{
	if (c->place <= CLOSED)
		assert_int_equal(sennit_group_wait(&c->members), 0);
	assert_int_equal(atomic_load(&c->ran), 1);
	end_scheduler(c->s);
}

static void try_cell(struct cell *c)
{
	pthread_t bringer = pthread_self();

	begin_cell(c);
	if (needs_bringer(c))
		bringer = must_start_thread(bring_as_thread, c);
	if (c->place <= CLOSED)
		sleep_as_worker(c);
	else
		sleep_as_bound(c);
	if (needs_bringer(c))
		pthread_join(bringer, NULL);
	end_cell(c);
}

static void try_each(enum place place)
{
	for (int i = 0; i < 4 * WORKS; i++) {
		struct cell c = { .place = place,
				  .work = (enum work)(i / 4),
				  .by_hook = i & 1,
				  .polls = i & 2 };

		if (is_possible(&c))
			try_cell(&c);
	}
}

/* The other cells force their order. Here the worker may look too soon. */
TEST_ALONE(a_member_reaches_a_worker_that_closes_before_it_looks)
{
	for (int i = 0; i < 50; i++)
		try_cell(&(struct cell){ .place = CLOSED, .work = MEMBER });
}

TEST_ALONE(all_reaches_an_idle_worker)
{
	try_each(IDLE);
}

TEST_ALONE(all_reaches_an_idle_worker_with_a_fiber)
{
	try_each(WITH_FIBER);
}

TEST_ALONE(all_reaches_a_closed_worker)
{
	try_each(CLOSED);
}

TEST_ALONE(all_reaches_a_bound_thread_without_workers)
{
	try_each(BOUND);
}

TEST_ALONE(all_reaches_a_bound_thread_beside_a_worker)
{
	try_each(BOUND_BESIDE);
}

TEST_ALONE(all_reaches_a_thread_that_unbinds)
{
	try_each(UNBINDING);
}
