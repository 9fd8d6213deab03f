/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - what groups promise, wherever they are opened: counting, errors,
 * copies, and members that run on the stack of whoever waits. */
#include "with_workers.h"

#include <errno.h>

/* Run run(w) on the bound thread, in a task and on an unbound thread, as far as
 * a group can be opened there. */
static void everywhere(sennit_task_fn *run, struct world *w)
{
	run(w);
	in_a_task(run, w);
	if (w->threads)
		in_a_thread(run, w);
}

static void open_on(struct world *w, sennit_group *g, uint32_t flags)
{
	sennit_group_init_on(g, w->s, SENNIT_NEVER, flags);
}

static void must_spawn(sennit_group *g, sennit_member_fn *run, void *argument)
{
	EXPECT(sennit_group_spawn(g, run, argument) == 0);
}

/* --- counting ----------------------------------------------------------- */

static int count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return 0;
}

static int yield_and_count(void *argument)
{
	sennit_yield();
	return count(argument);
}

static void spawn_many(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	for (unsigned i = 0; i < 500; i++)
		must_spawn(&g, i % 3 ? count : yield_and_count, &ran);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 500);
	memset(&g, 0xa5, sizeof(g));
}

static void a_wait_ends_when_all_members_have(void **state)
{
	everywhere(spawn_many, *state);
}

static void open_and_wait(void *argument)
{
	sennit_group g;

	open_on(argument, &g, 0);
	EXPECT(sennit_group_wait(&g) == 0);
}

static void a_group_without_members_is_over(void **state)
{
	everywhere(open_and_wait, *state);
}

struct tree {
	sennit_group *g;
	atomic_uint  *ran;
	unsigned      depth;
};

static int grow(void *argument)
{
	const struct tree *t = argument;
	const struct tree  child = { t->g, t->ran, t->depth - 1 };

	atomic_fetch_add(t->ran, 1);
	for (int i = 0; i < 2 && t->depth; i++)
		EXPECT(sennit_group_spawn_copy(t->g, grow, &child,
					       sizeof(child)) == 0);
	return 0;
}

static void grow_a_tree(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;
	struct tree  root = { &g, &ran, 8 };

	open_on(argument, &g, 0);
	must_spawn(&g, grow, &root);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 511);
}

static void members_spawn_into_their_own_group(void **state)
{
	everywhere(grow_a_tree, *state);
}

static int nest(void *argument)
{
	struct tree  child = *(struct tree *)argument;
	sennit_group g;

	atomic_fetch_add(child.ran, 1);
	if (!child.depth--)
		return 0;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, nest, &child);
	must_spawn(&g, nest, &child);
	return sennit_group_wait(&g);
}

static void nest_groups(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;
	struct tree  root = { NULL, &ran, 8 };

	open_on(argument, &g, 0);
	must_spawn(&g, nest, &root);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 511);
}

static void members_open_groups_of_their_own(void **state)
{
	everywhere(nest_groups, *state);
}

static void spawn_and_wait_again(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;

	for (unsigned i = 1; i <= 200; i++) {
		open_on(argument, &g, 0);
		must_spawn(&g, count, &ran);
		EXPECT(sennit_group_wait(&g) == 0);
		EXPECT(atomic_load(&ran) == i);
	}
}

static void the_memory_of_a_group_may_be_reused_at_once(void **state)
{
	everywhere(spawn_and_wait_again, *state);
}

/* A thread that is no member, which knows that one has not ended. */
struct guest {
	sennit_group *g;
	atomic_uint  *ran;
	sennit_event  spawned;
};

static void spawn_as_guest(void *argument)
{
	struct guest *guest = argument;

	for (int i = 0; i < 20; i++)
		must_spawn(guest->g, count, guest->ran);
	sennit_event_set(&guest->spawned);
}

static int wait_for_guest(void *argument)
{
	struct guest *guest = argument;

	sennit_event_wait(&guest->spawned);
	return 0;
}

static void others_may_spawn_while_a_member_has_not_ended(void **state)
{
	struct world *w = *state;
	atomic_uint   ran = 0;
	sennit_group  g;
	struct guest  guest = { .g = &g, .ran = &ran };

	open_on(w, &g, 0);
	must_spawn(&g, wait_for_guest, &guest);
	if (w->threads)
		in_a_thread(spawn_as_guest, &guest);
	else
		in_a_task(spawn_as_guest, &guest);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(atomic_load(&ran), 20);
}

/* --- errors ------------------------------------------------------------- */

static int fail_io(void *argument)
{
	(void)argument;
	return -EIO;
}

static int wait_for_ever(void *argument)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	int          err = sennit_event_wait_until(&never, SENNIT_NEVER);

	EXPECT(err == -ECANCELED);
	count(argument);
	return err;
}

static void fail_beside_waits(void *argument)
{
	atomic_uint  ended = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	for (int i = 0; i < 10; i++)
		must_spawn(&g, wait_for_ever, &ended);
	must_spawn(&g, fail_io, NULL);
	EXPECT(sennit_group_wait(&g) == -EIO);
	EXPECT(atomic_load(&ended) == 10);
}

static void the_first_error_cancels_the_others_and_is_returned(void **state)
{
	everywhere(fail_beside_waits, *state);
}

static int wait_briefly(void *argument)
{
	EXPECT(sennit_sleep_until(sennit_after(SENNIT_MILLISECOND)) == 0);
	EXPECT(sennit_cancelled() == 0);
	return count(argument);
}

static void fail_and_keep_going(void *argument)
{
	atomic_uint  ended = 0;
	sennit_group g;

	open_on(argument, &g, SENNIT_GROUP_KEEP_GOING);
	must_spawn(&g, fail_io, NULL);
	for (int i = 0; i < 5; i++)
		must_spawn(&g, wait_briefly, &ended);
	EXPECT(sennit_group_wait(&g) == -EIO);
	EXPECT(atomic_load(&ended) == 5);
}

static void with_keep_going_an_error_cancels_nobody(void **state)
{
	everywhere(fail_and_keep_going, *state);
}

static int fail_once_cancelled(void *argument)
{
	(void)wait_for_ever(argument);
	return -EIO;
}

static void cancel_then_fail(void *argument)
{
	atomic_uint  ended = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	must_spawn(&g, fail_once_cancelled, &ended);
	must_spawn(&g, wait_for_ever, &ended);
	EXPECT(sennit_group_cancel(&g));
	EXPECT(!sennit_group_cancel(&g));
	EXPECT(sennit_group_wait(&g) == -EIO);
}

static void an_error_goes_before_the_cancelling(void **state)
{
	everywhere(cancel_then_fail, *state);
}

static void cancel_what_has_ended_well(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	must_spawn(&g, count, &ran);
	EXPECT_SOON(atomic_load(&ran) == 1);
	EXPECT(sennit_group_cancel(&g));
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

static void a_cancelled_group_says_so(void **state)
{
	everywhere(cancel_what_has_ended_well, *state);
}

static void spawn_without_function(void *argument)
{
	sennit_group g;

	open_on(argument, &g, 0);
	EXPECT(sennit_group_spawn(&g, NULL, NULL) == -EINVAL);
	EXPECT(sennit_group_spawn_copy(&g, NULL, "x", 1) == -EINVAL);
	EXPECT(sennit_group_wait(&g) == 0);
}

static void a_member_without_function_is_refused(void **state)
{
	everywhere(spawn_without_function, *state);
}

/* --- copies ------------------------------------------------------------- */

struct letter {
	atomic_uint  *read;
	unsigned char text[1000];
};

static int read_letter(void *argument)
{
	const struct letter *l = argument;

	EXPECT((uintptr_t)l % 16 == 0);
	for (size_t i = 0; i < sizeof(l->text); i++)
		EXPECT(l->text[i] == (unsigned char)(i * 7));
	return count(l->read);
}

static int read_note(void *argument)
{
	EXPECT((uintptr_t)argument % 16 == 0);
	return count(*(atomic_uint **)argument);
}

static void send_copies(void *argument)
{
	atomic_uint   read = 0;
	struct letter l = { .read = &read };
	atomic_uint  *note = &read;
	sennit_group  g;

	for (size_t i = 0; i < sizeof(l.text); i++)
		l.text[i] = (unsigned char)(i * 7);
	open_on(argument, &g, 0);
	for (int i = 0; i < 50; i++) {
		EXPECT(sennit_group_spawn_copy(&g, read_letter, &l,
					       sizeof(l)) == 0);
		EXPECT(sennit_group_spawn_copy(&g, read_note, &note,
					       sizeof(note)) == 0);
	}
	EXPECT(sennit_group_spawn_copy(&g, count, &read, 0) == 0);
	memset(&l, 0, sizeof(l));
	note = NULL;
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&read) == 101);
}

static void members_get_copies_of_any_size(void **state)
{
	everywhere(send_copies, *state);
}

/* --- members on the waiter's stack -------------------------------------- */

struct place {
	sennit_fiber *opener;
	atomic_uint   same, other;
};

static int note_place(void *argument)
{
	struct place *p = argument;

	return count(sennit_fiber_current() == p->opener ? &p->same
							 : &p->other);
}

static void look_where(struct place *p, uint32_t flags)
{
	sennit_group g;

	p->opener = sennit_fiber_current();
	for (int i = 0; i < 300; i++) {
		sennit_group_init(&g, SENNIT_NEVER, flags);
		must_spawn(&g, note_place, p);
		EXPECT(sennit_group_wait(&g) == 0);
	}
}

static void look_where_members_run(void *argument)
{
	look_where(argument, 0);
}

static void look_where_members_run_apart(void *argument)
{
	look_where(argument, SENNIT_GROUP_OWN_STACKS);
}

static void a_wait_runs_own_members_on_its_stack(void **state)
{
	struct place p = { .opener = NULL };

	(void)state;
	in_a_task(look_where_members_run, &p);
	/* But for those whose dispatch was the loop's turn. */
	assert_true(atomic_load(&p.same) > 250);
}

static void with_own_stacks_no_member_runs_on_another_stack(void **state)
{
	struct place p = { .opener = NULL };

	(void)state;
	in_a_task(look_where_members_run_apart, &p);
	assert_int_equal(atomic_load(&p.same), 0);
	assert_int_equal(atomic_load(&p.other), 300);
}

struct chain {
	unsigned depth;
	unsigned reached;
};

/* As deep as it goes: one group in the other. */
static int descend(void *argument)
{
	struct chain     *c = argument;
	volatile char     room[256];
	sennit_group      g;
	sennit_member_fn *next = descend;

	memset((char *)(uintptr_t)room, 1, sizeof(room));
	c->reached++;
	if (!c->depth--)
		return 0;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, next, c);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(room[0] == 1 && room[255] == 1);
	return 0;
}

static void deep_recursion_goes_on_on_other_stacks(void **state)
{
	struct world *w = *state;
	unsigned      depth = LOAD(5000);
	struct chain  c = { .depth = depth };
	sennit_group  g;

	open_on(w, &g, 0);
	must_spawn(&g, descend, &c);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(c.reached, depth + 1);
}

static int change_errno(void *argument)
{
	(void)argument;
	errno = ERANGE;
	return 0;
}

static void wait_with_errno(void *argument)
{
	sennit_group g;

	for (int i = 0; i < 100; i++) {
		open_on(argument, &g, 0);
		must_spawn(&g, change_errno, NULL);
		errno = EDOM;
		EXPECT(sennit_group_wait(&g) == 0);
		EXPECT(errno == EDOM);
	}
}

static void a_wait_keeps_errno(void **state)
{
	everywhere(wait_with_errno, *state);
}

/* Siblings that need each other, in either order. */
struct pair {
	sennit_event called, answered;
};

static int call_sibling(void *argument)
{
	struct pair *p = argument;

	sennit_event_set(&p->called);
	sennit_event_wait(&p->answered);
	return 0;
}

static int answer_sibling(void *argument)
{
	struct pair *p = argument;

	sennit_event_wait(&p->called);
	sennit_event_set(&p->answered);
	return 0;
}

static void pair_up(void *argument)
{
	struct pair  pairs[20];
	sennit_group g;

	memset(pairs, 0, sizeof(pairs));
	open_on(argument, &g, 0);
	for (int i = 0; i < 20; i++) {
		must_spawn(&g, i % 2 ? call_sibling : answer_sibling,
			   &pairs[i]);
		must_spawn(&g, i % 2 ? answer_sibling : call_sibling,
			   &pairs[i]);
	}
	EXPECT(sennit_group_wait(&g) == 0);
}

static void siblings_may_wait_for_each_other(void **state)
{
	everywhere(pair_up, *state);
}

static int wait_for_event(void *argument)
{
	sennit_event_wait(argument);
	return 0;
}

/* The outer group's member waits for what the opener of the inner one signals
 * after its wait: it must not lie on top of that. */
static void signal_after_a_wait(void *argument)
{
	sennit_event after = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	atomic_uint  ran = 0;
	sennit_group outer, inner;

	open_on(argument, &outer, 0);
	open_on(argument, &inner, 0);
	must_spawn(&inner, count, &ran);
	must_spawn(&outer, wait_for_event, &after);
	EXPECT(sennit_group_wait(&inner) == 0);
	sennit_event_set(&after);
	EXPECT(sennit_group_wait(&outer) == 0);
}

static void a_wait_runs_no_members_of_other_groups(void **state)
{
	everywhere(signal_after_a_wait, *state);
}

static int try_lock(void *argument)
{
	EXPECT(sennit_mutex_lock_until(argument, 0) == -ETIMEDOUT);
	return 0;
}

static int lock_and_unlock(void *argument)
{
	EXPECT(sennit_mutex_lock_until(argument, 0) == 0);
	sennit_mutex_unlock(argument);
	return 0;
}

static void wait_with_a_lock(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT, other = SENNIT_MUTEX_INIT;
	sennit_group g;

	for (int i = 0; i < 100; i++) {
		open_on(argument, &g, 0);
		sennit_mutex_lock(&m);
		must_spawn(&g, lock_and_unlock, &other);
		EXPECT(sennit_group_wait(&g) == 0);
		open_on(argument, &g, 0);
		must_spawn(&g, try_lock, &m);
		EXPECT(sennit_group_wait(&g) == 0);
		sennit_mutex_unlock(&m);
	}
}

static void a_member_does_not_own_what_the_waiter_locked(void **state)
{
	everywhere(wait_with_a_lock, *state);
}

/* --- fairness ----------------------------------------------------------- */

static void raise_flag(void *argument)
{
	atomic_store((atomic_uint *)argument, 1);
}

/* Spawn and wait, without end but for the flag. */
static void spawn_until_raised(void *argument)
{
	atomic_uint *flag = argument;
	atomic_uint  ran = 0;
	sennit_time  give_up = sennit_after(GIVE_UP);
	sennit_group g;

	must_schedule(raise_flag, flag);
	while (!atomic_load(flag) && sennit_now() < give_up) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, count, &ran);
		EXPECT(sennit_group_wait(&g) == 0);
	}
	EXPECT(atomic_load(flag));
}

static void older_tasks_start_though_waits_go_on(void **state)
{
	atomic_uint flag = 0;

	(void)state;
	in_a_task(spawn_until_raised, &flag);
}

static void sleep_and_raise(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	raise_flag(argument);
}

static void spawn_until_timer(void *argument)
{
	atomic_uint *flag = argument;
	atomic_uint  ran = 0;
	sennit_time  give_up = sennit_after(GIVE_UP);
	sennit_group g;

	must_schedule(sleep_and_raise, flag);
	sennit_yield();
	while (!atomic_load(flag) && sennit_now() < give_up) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, count, &ran);
		EXPECT(sennit_group_wait(&g) == 0);
	}
	EXPECT(atomic_load(flag));
}

static void timers_fire_though_waits_go_on(void **state)
{
	atomic_uint flag = 0;

	(void)state;
	in_a_task(spawn_until_timer, &flag);
}

/* --- reports ------------------------------------------------------------ */

struct findings {
	const void     *object;
	sennit_task_fn *task;
	unsigned        waits; /* entries that wait for the group */
	unsigned        runs;  /* entries that run the task */
};

static void look(void *context, const sennit_report_entry *e)
{
	struct findings *f = context;

	f->waits += e->state == SENNIT_REPORT_BLOCKED &&
		    e->waits_for == SENNIT_WAITS_FOR_GROUP &&
		    e->object == f->object;
	f->runs += e->state == SENNIT_REPORT_RUNNING && e->task == f->task;
}

static sennit_scheduler *reported;

static unsigned runs_of(sennit_task_fn *task)
{
	struct findings f = { .task = task };

	sennit_scheduler_report(reported, look, &f);
	return f.runs;
}

static int report_self(void *argument)
{
	EXPECT(runs_of((sennit_task_fn *)(void (*)(void))report_self) == 1);
	return count(argument);
}

static void opener_reports(void *argument)
{
	sennit_group g;

	for (int i = 0; i < 100; i++) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, report_self, argument);
		EXPECT(sennit_group_wait(&g) == 0);
		EXPECT(runs_of(run_errand) == 1);
	}
}

static void reports_show_the_member_then_the_opener(void **state)
{
	struct world *w = *state;
	atomic_uint   ran = 0;

	reported = w->s;
	in_a_task(opener_reports, &ran);
	assert_int_equal(atomic_load(&ran), 100);
}

struct reporter {
	struct findings f;
	sennit_event    release;
};

static int wait_for_release(void *argument)
{
	sennit_event_wait(&((struct reporter *)argument)->release);
	return 0;
}

static void open_and_be_reported(void *argument)
{
	struct reporter *r = argument;
	sennit_group     g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	r->f.object = &g;
	must_spawn(&g, wait_for_release, r);
	EXPECT(sennit_group_wait(&g) == 0);
}

static bool is_reported(struct world *w, struct reporter *r)
{
	sennit_scheduler_report(w->s, look, &r->f);
	return r->f.waits;
}

static void reports_show_who_waits_for_a_group(void **state)
{
	struct world   *w = *state;
	struct reporter r = { .f.waits = 0 };
	struct errand   e = { .run = open_and_be_reported, .argument = &r };

	sennit_wait_group_init(&e.done, 1);
	must_schedule(run_errand, &e);
	EXPECT_SOON(is_reported(w, &r));
	sennit_event_set(&r.release);
	sennit_wait_group_wait(&e.done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(a_wait_ends_when_all_members_have),
		WITH_WORKERS(a_group_without_members_is_over),
		WITH_WORKERS(members_spawn_into_their_own_group),
		WITH_WORKERS(members_open_groups_of_their_own),
		WITH_WORKERS(the_memory_of_a_group_may_be_reused_at_once),
		WITH_WORKERS(others_may_spawn_while_a_member_has_not_ended),
		WITH_WORKERS(
			the_first_error_cancels_the_others_and_is_returned),
		WITH_WORKERS(with_keep_going_an_error_cancels_nobody),
		WITH_WORKERS(an_error_goes_before_the_cancelling),
		WITH_WORKERS(a_cancelled_group_says_so),
		WITH_WORKERS(a_member_without_function_is_refused),
		WITH_WORKERS(members_get_copies_of_any_size),
		WITH_ONE(a_wait_runs_own_members_on_its_stack),
		WITH_WORKERS(with_own_stacks_no_member_runs_on_another_stack),
		WITH_WORKERS(deep_recursion_goes_on_on_other_stacks),
		WITH_WORKERS(a_wait_keeps_errno),
		WITH_WORKERS(siblings_may_wait_for_each_other),
		WITH_WORKERS(a_wait_runs_no_members_of_other_groups),
		WITH_WORKERS(a_member_does_not_own_what_the_waiter_locked),
		WITH_WORKERS(older_tasks_start_though_waits_go_on),
		WITH_WORKERS(timers_fire_though_waits_go_on),
		WITH_ONE(reports_show_the_member_then_the_opener),
		WITH_WORKERS(reports_show_who_waits_for_a_group),
	};

	return cmocka_run_group_tests_name("api/group", tests, NULL, NULL);
}
