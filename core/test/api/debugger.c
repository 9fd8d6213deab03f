/* SPDX-License-Identifier: Apache-2.0 */
/* debugger.c - the descriptor leads to every fiber. The test reads as debuggers
 * do: bytes at the described offsets, and nothing else. (The scripts are
 * tested by testing/build/debuggers.sh.) */
#include "sennit/detail/debugger.h"
#include "sennit/trace.h"

#include "report_search.h"

#include "testing/child.h"

#include <link.h>
#include <string.h>

#define D       (&sennit_debug_descriptor)
#define TASKS   40
#define WORKERS 2

static const char *pointer(const void *record, uint32_t at)
{
	const char *value;

	memcpy(&value, (const char *)record + at, sizeof(value));
	return value;
}

static uint32_t number(const void *record, uint32_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)record + at, sizeof(value));
	return value;
}

/* The record after the link of `record` in a list from `first`, or NULL. */
static const char *next(const char *first, const char *record, uint32_t link_at)
{
	const char *link = first;

	if (record)
		link = pointer(record, link_at);
	if (!link || (record && link == first))
		return NULL;
	return link - link_at;
}

static const char *next_scheduler(const char *s)
{
	return next(pointer(D->schedulers, 0), s, D->scheduler_link_at);
}

static unsigned count_schedulers(void)
{
	unsigned    n = 0;
	const char *s = NULL;

	while ((s = next_scheduler(s)))
		n++;
	return n;
}

/* What a walk has found of the tasks that wait. */
struct finds {
	const char *at[TASKS + 1];
	unsigned    count;
};

static void look_at(struct finds *f, const char *worker, const char *fiber,
		    sennit_task_fn *task)
{
	assert_ptr_equal(pointer(fiber, D->fiber_worker_at), worker);
	if ((uintptr_t)pointer(fiber, D->fiber_task_at) != (uintptr_t)task)
		return;
	assert_true(f->count <= TASKS);
	f->at[f->count++] = fiber;
}

static void walk(struct finds *f, sennit_task_fn *task)
{
	const char *s = next_scheduler(NULL);
	const char *workers = pointer(s, D->scheduler_workers_at);

	assert_null(next_scheduler(s));
	for (uint32_t i = 0; i < number(s, D->scheduler_capacity_at); i++) {
		const char *w = pointer(workers, i * (uint32_t)sizeof(w));
		const char *first = pointer(w, D->worker_fibers_at);
		const char *fiber = NULL;

		assert_int_equal(number(w, D->worker_index_at), i);
		while ((fiber = next(first, fiber, D->fiber_link_at)))
			look_at(f, w, fiber, task);
	}
}

/* --- tests -------------------------------------------------------------- */

static sennit_event never_set;

static void wait_for_ever(void *unused)
{
	sennit_task_set_name("patient");
	(void)!sennit_event_wait(&never_set);
}

static bool are_blocked(sennit_scheduler *s, unsigned wanted)
{
	return search(s, wait_for_ever, SENNIT_REPORT_BLOCKED,
		      SENNIT_WAITS_FOR_EVENT)
		       .count == wanted;
}

/* The last known state of each worker. */
static void note_state(void *states, const sennit_trace_span *span)
{
	((uint32_t *)states)[span->worker] = span->state;
}

/* No worker changes what a walk reads, and all that it has changed is visible
 * here. A debugger stops the process instead. */
static bool are_parked(sennit_scheduler *s)
{
	uint32_t states[WORKERS] = { 0 };

	assert_int_equal(sennit_trace_visit(s, note_state, states), 0);
	return states[0] == SENNIT_TRACE_STATE_PARK &&
	       states[1] == SENNIT_TRACE_STATE_PARK;
}

TEST(the_head_names_the_version)
{
	assert_memory_equal(D->magic, "sennitdb", 8);
	assert_int_equal(D->version, SENNIT_DEBUG_VERSION);
	assert_int_equal(D->size, sizeof(*D));
	assert_true(D->context->count <= SENNIT_DEBUG_REGISTERS);
}

static void is_as_reported(const char *fiber)
{
	const uint32_t doing = number(fiber, D->fiber_doing_at);
	const uint32_t kind = (doing & D->doing_kind) >> D->doing_kind_shift;

	assert_int_equal(doing & D->doing_state, SENNIT_REPORT_BLOCKED);
	assert_int_equal(kind, SENNIT_WAITS_FOR_EVENT);
	assert_false(doing & D->doing_timed);
	assert_string_equal(D->waits[kind], "event");
	assert_ptr_equal(pointer(fiber, D->fiber_object_at), &never_set);
	assert_string_equal(fiber + D->fiber_name_at, "patient");
	assert_int_equal(number(fiber, D->fiber_name_version_at) % 2, 0);
}

static int has_code(struct dl_phdr_info *object, size_t size, void *address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    (uintptr_t)address - object->dlpi_addr - segment->p_vaddr <
			    segment->p_memsz)
			return 1;
	}
	return 0;
}

/* Unless a thread waits on the fiber's stack: one worker's at most. */
static bool is_suspended_well(const char *fiber)
{
	const struct sennit_debug_context *c = D->context;
	const char *at = pointer(fiber, D->fiber_context_at);
	const char *low = pointer(fiber, D->fiber_low_at);
	const char *sp = at + c->sp_at;

	if (!at || !c->machine)
		return !c->machine;
	if (c->sp_is_stored)
		sp = pointer(at, c->sp_at);
	return at >= low && at < fiber && sp >= low && sp < fiber &&
	       dl_iterate_phdr(has_code, (void *)pointer(at, c->pc_at));
}

TEST(every_fiber_is_found_where_it_waits)
{
	struct finds      f = { .count = 0 };
	unsigned          suspended = 0;
	sennit_scheduler *s;

	assert_int_equal(
		sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = WORKERS,
							  .trace_events = 8)),
		0);
	sennit_event_clear(&never_set);
	for (int i = 0; i < TASKS; i++)
		assert_int_equal(
			sennit_schedule_task_on(
				s, &(sennit_task){ .run = wait_for_ever }),
			0);
	assert_soon(are_blocked(s, TASKS));
	assert_soon(are_parked(s));
	walk(&f, wait_for_ever);
	assert_int_equal(f.count, TASKS);
	for (unsigned i = 0; i < f.count; i++) {
		is_as_reported(f.at[i]);
		suspended += is_suspended_well(f.at[i]);
	}
	assert_true(suspended >= TASKS - WORKERS);
	sennit_event_set(&never_set);
	assert_int_equal(sennit_scheduler_shutdown(s, SENNIT_NEVER), 0);
}

TEST(a_scheduler_that_has_ended_is_not_listed)
{
	sennit_scheduler *s[3];

	assert_int_equal(count_schedulers(), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(sennit_scheduler_create(
					 &s[i], SENNIT_CONFIG(.workers = 1)),
				 0);
		assert_int_equal(count_schedulers(), i + 1);
	}
	assert_int_equal(sennit_scheduler_shutdown(s[1], SENNIT_NEVER), 0);
	assert_int_equal(count_schedulers(), 2);
	assert_int_equal(sennit_scheduler_shutdown(s[0], SENNIT_NEVER), 0);
	assert_int_equal(sennit_scheduler_shutdown(s[2], SENNIT_NEVER), 0);
	assert_int_equal(count_schedulers(), 0);
}

static int live_in_the_child(void)
{
	sennit_scheduler *s;

	if (count_schedulers() != 0 ||
	    sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)))
		return 1;
	if (count_schedulers() != 1 ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 2;
	return count_schedulers() ? 3 : 0;
}

TEST(a_forked_child_lists_only_its_own)
{
	sennit_scheduler *s;
	pid_t             child;

	assert_int_equal(
		sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)), 0);
	child = begin_child();
	if (!child)
		_exit(live_in_the_child());
	assert_int_equal(await_child(child), 0);
	assert_int_equal(count_schedulers(), 1);
	assert_int_equal(sennit_scheduler_shutdown(s, SENNIT_NEVER), 0);
}
