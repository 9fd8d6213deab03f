/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/fiber_record.h"

#include "diag/own_memory.h"
#include "sennit/config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define D          (&sennit_debug_descriptor)
#define FIBER_SIZE 2048u

/* The table of task names is read in blocks of that many pairs. */
#define NAME_BLOCK 512u
#define PAIR       (2 * sizeof(uintptr_t))

/* How often a list is read before pauses. One that changes each time is taken
 * as far as it was read last. */
#define TRIES 8u

/* --- words -------------------------------------------------------------- */

static uintptr_t pointer_at(uintptr_t record, uint32_t at)
{
	uintptr_t value = 0;

	sn_own_memory_read(&value, record + at, sizeof(value));
	return value;
}

static uint32_t word_in(const char *record, uint32_t at)
{
	uint32_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

static uint64_t long_in(const char *record, uint32_t at)
{
	uint64_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

/* Read a name that ends within `size` bytes, or is cut there. */
static void read_name(char *name, size_t size, uintptr_t from)
{
	size_t n = sn_own_memory_copy(name, from, size - 1);

	name[n] = '\0';
}

/* --- lists -------------------------------------------------------------- */

static bool add(struct address_list *l, uintptr_t address)
{
	if (l->count == l->room) {
		size_t     room = l->room ? 2 * l->room : 64;
		uintptr_t *items = realloc(l->items, room * sizeof(*items));

		if (!items)
			return false;
		l->items = items;
		l->room = room;
	}
	l->items[l->count++] = address;
	return true;
}

/* Add the records from the link `first` on, while each link is the one that the
 * next one names as the one before it: in memory that has been reused nothing
 * else ends the walk. Returns false if there is no memory. */
static bool add_links(struct address_list *l, uintptr_t first, uint32_t link_at)
{
	uintptr_t link = first;
	uintptr_t words[2]; /* next, prev */
	uintptr_t before = 0;

	do {
		l->broken_at = link;
		if (!sn_own_memory_read(words, link, sizeof(words)) ||
		    (before && words[1] != before))
			return true;
		if (!add(l, link - link_at))
			return false;
		before = link;
		link = words[0];
	} while (link != first);
	l->broken_at = 0;
	return true;
}

/* Whether to read a list again that broke `tries` times. */
static bool try_again(struct address_list *l, unsigned tries)
{
	if (tries < TRIES)
		return true;
	if (!l->pauses)
		return false;
	l->pauses--;
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	return true;
}

/* Add the records of a circular list, which may change meanwhile. `from` is
 * where its first link stands. */
static bool add_circle(struct address_list *l, uintptr_t from, uint32_t link_at)
{
	const size_t count = l->count;
	unsigned     tries = 0;

	do {
		uintptr_t first = 0;

		l->count = count;
		l->broken_at = from;
		if (!sn_own_memory_read(&first, from, sizeof(first)))
			return true;
		l->broken_at = 0;
		if (first && !add_links(l, first, link_at))
			return false;
	} while (l->broken_at && try_again(l, ++tries));
	return true;
}

bool sn_record_list_schedulers(struct address_list *l)
{
	l->count = 0;
	return add_circle(l, (uintptr_t)D->schedulers, D->scheduler_link_at);
}

bool sn_record_list_workers(struct address_list *l, uintptr_t scheduler)
{
	uintptr_t workers[SENNIT_WORKERS_MAX];
	uint32_t  count = 0;

	l->count = 0;
	l->broken_at = scheduler + D->scheduler_workers_at;
	if (!sn_own_memory_read(&count, scheduler + D->scheduler_capacity_at,
				sizeof(count)) ||
	    count > SENNIT_WORKERS_MAX ||
	    !sn_own_memory_read(workers,
				pointer_at(scheduler, D->scheduler_workers_at),
				count * sizeof(workers[0])))
		return true; /* it has ended, or is damaged */
	for (uint32_t i = 0; i < count; i++)
		if (workers[i] && !add(l, workers[i]))
			return false;
	return add_circle(l, scheduler + D->scheduler_bound_at,
			  D->worker_bound_at);
}

bool sn_record_list_fibers(struct address_list *l, uintptr_t worker)
{
	l->count = 0;
	return add_circle(l, worker + D->worker_fibers_at, D->fiber_link_at);
}

/* --- records ------------------------------------------------------------ */

bool sn_worker_record_read(struct worker_record *w, uintptr_t at)
{
	uint32_t words[2];

	if (!sn_own_memory_read(&words[0], at + D->worker_index_at, 4) ||
	    !sn_own_memory_read(&words[1], at + D->worker_thread_at, 4) ||
	    !sn_own_memory_read(&w->clock, at + D->worker_clock_at, 8))
		return false;
	w->at = at;
	w->current = pointer_at(at, D->worker_current_at);
	w->main = at + D->worker_main_at;
	w->index = words[0];
	w->thread = words[1];
	return true;
}

bool sn_fiber_record_read(struct fiber_record *f, uintptr_t at)
{
	char bytes[FIBER_SIZE];

	if (D->fiber_size > sizeof(bytes) ||
	    !sn_own_memory_read(bytes, at, D->fiber_size))
		return false;
	f->at = at;
	f->context = long_in(bytes, D->fiber_context_at);
	f->low = long_in(bytes, D->fiber_low_at);
	f->worker = long_in(bytes, D->fiber_worker_at);
	f->task = long_in(bytes, D->fiber_task_at);
	f->object = long_in(bytes, D->fiber_object_at);
	f->since = long_in(bytes, D->fiber_since_at);
	f->deadline = long_in(bytes, D->fiber_deadline_at);
	f->identity = long_in(bytes, sennit_debug_waits.fiber_identity_at);
	f->scope = long_in(bytes, sennit_debug_waits.fiber_scope_at);
	f->owner = long_in(bytes, sennit_debug_waits.fiber_owner_at) &
		   ~(uintptr_t)1;
	f->id = word_in(bytes, D->fiber_id_at);
	f->doing = word_in(bytes, D->fiber_doing_at);
	memcpy(f->name, bytes + D->fiber_name_at, sizeof(f->name));
	f->name[sizeof(f->name) - 1] = '\0';
	if (word_in(bytes, D->fiber_name_version_at) & 1)
		f->name[0] = '\0';
	return f->low < at && sn_fiber_record_state(f) <= SENNIT_REPORT_BLOCKED;
}

void sn_record_scheduler_name(uintptr_t scheduler, char *name, size_t size)
{
	if (size > D->scheduler_name_size)
		size = D->scheduler_name_size;
	read_name(name, size, scheduler + D->scheduler_name_at);
}

void sn_record_function_name(uintptr_t function, char *name, size_t size)
{
	const uintptr_t table = (uintptr_t)D->task_names;
	uintptr_t       pairs[2 * NAME_BLOCK];
	size_t          n = NAME_BLOCK;

	name[0] = '\0';
	for (size_t i = 0; function && i < D->task_names_count; i += n) {
		if (n > D->task_names_count - i)
			n = D->task_names_count - i;
		if (!sn_own_memory_read(pairs, table + i * PAIR, n * PAIR))
			return;
		for (size_t k = 0; k < n; k++)
			if (pairs[2 * k] == function && pairs[2 * k + 1]) {
				read_name(name, size, pairs[2 * k + 1]);
				return;
			}
	}
}

void sn_fiber_record_report(const struct fiber_record  *f,
			    const struct worker_record *w,
			    sennit_report_entry        *e)
{
	*e = (sennit_report_entry){
		.size = sizeof(*e),
		.state = sn_fiber_record_state(f),
		.worker = w->index == UINT32_MAX ? SENNIT_REPORT_BOUND
						 : w->index,
		.thread = w->thread,
		.fiber = f->id,
		.task = (sennit_task_fn *)f->task,
		.since = w->clock,
		.deadline = SENNIT_NEVER,
		.name = f->name[0] ? f->name : NULL,
	};
	if (e->state == SENNIT_REPORT_RUNNING)
		return;
	e->since = f->since;
	e->waits_for = (f->doing & D->doing_kind) >> D->doing_kind_shift;
	if (e->waits_for)
		e->object = (const void *)f->object;
	if (f->doing & D->doing_timed)
		e->deadline = f->deadline;
}
