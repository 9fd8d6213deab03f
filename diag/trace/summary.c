/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - prints tables of tasks and of waits. */
#include "trace/array.h"
#include "trace/output.h"
#include "trace/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WAKERS = 3 };

/* A row of either table. */
struct row {
	uint32_t  task, what; /* names */
	uint64_t  count;      /* tasks that began */
	uint64_t  ran;
	uint64_t  waited;
	uint64_t  open;   /* number of waits that have not ended */
	uint64_t *waits;  /* their durations, sorted */
	uint64_t *ready;  /* time from the wake until it ran, sorted */
	uint32_t *wakers; /* names, sorted; without unknown ones */
	uint32_t  wait_count, ready_count, waker_count;
};

struct table {
	struct row *rows;
	uint32_t    count;
};

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_names(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Return the time that `cent` per cent of the sorted times do not exceed. */
static uint64_t percentile(const uint64_t *times, uint32_t count, uint32_t cent)
{
	uint64_t rank = ((uint64_t)count * cent + 99) / 100;

	return count ? times[rank ? rank - 1 : 0] : 0;
}

static void add_wait(struct row *row, const struct wait *w)
{
	row->waited += w->before + w->end - w->begin;
	row->open += w->is_open;
	ARRAY_ADD(row->waits, row->wait_count);
	row->waits[row->wait_count - 1] = w->before + w->end - w->begin;
	if (!w->is_open) {
		ARRAY_ADD(row->ready, row->ready_count);
		row->ready[row->ready_count - 1] = w->end - w->woken;
	}
	if (w->waker != TIMELINE_NONE) {
		ARRAY_ADD(row->wakers, row->waker_count);
		row->wakers[row->waker_count - 1] = w->waker;
	}
}

static void finish(struct table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct row *r = &table->rows[i];

		if (r->wait_count)
			qsort(r->waits, r->wait_count, sizeof(*r->waits),
			      compare_times);
		if (r->ready_count)
			qsort(r->ready, r->ready_count, sizeof(*r->ready),
			      compare_times);
		if (r->waker_count)
			qsort(r->wakers, r->waker_count, sizeof(*r->wakers),
			      compare_names);
	}
}

static void free_table(struct table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		free(table->rows[i].waits);
		free(table->rows[i].ready);
		free(table->rows[i].wakers);
	}
	free(table->rows);
}

static int compare_runs(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ran != y->ran)
		return x->ran > y->ran ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static int compare_waited(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->waited != y->waited)
		return x->waited > y->waited ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static struct row *row_of_task(struct table *table, uint32_t *rows,
			       uint32_t name)
{
	uint32_t at;

	if (!rows[name]) {
		at = ARRAY_ADD(table->rows, table->count);
		table->rows[at].task = name;
		rows[name] = at + 1;
	}
	return &table->rows[rows[name] - 1];
}

/* One row for each name of a task. */
static void sum_tasks(const struct timeline *t, struct table *table)
{
	uint32_t *rows = array_zeros(t->name_count, sizeof(*rows));

	for (uint32_t i = 0; i < t->task_count; i++) {
		struct row *r = row_of_task(table, rows, t->tasks[i].name);

		r->count += t->tasks[i].has_begun;
		r->ran += t->tasks[i].ran;
	}
	for (uint32_t i = 0; i < t->wait_count; i++)
		add_wait(row_of_task(table, rows, t->waits[i].task),
			 &t->waits[i]);
	free(rows);
	finish(table);
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows),
		      compare_runs);
}

static int compare_kinds(const void *a, const void *b)
{
	const struct wait *const *x = a, *const *y = b;

	if ((*x)->task != (*y)->task)
		return (*x)->task < (*y)->task ? -1 : 1;
	return (*x)->what < (*y)->what ? -1 : (*x)->what > (*y)->what;
}

/* One row for each name of a task and kind of wait. */
static void sum_waits(const struct timeline *t, struct table *table)
{
	const struct wait **waits = array_zeros(t->wait_count, sizeof(*waits));
	uint32_t            at = 0;

	for (uint32_t i = 0; i < t->wait_count; i++)
		waits[i] = &t->waits[i];
	qsort(waits, t->wait_count, sizeof(*waits), compare_kinds);
	for (uint32_t i = 0; i < t->wait_count; i++) {
		if (!i || compare_kinds(&waits[i - 1], &waits[i])) {
			at = ARRAY_ADD(table->rows, table->count);
			table->rows[at].task = waits[i]->task;
			table->rows[at].what = waits[i]->what;
		}
		add_wait(&table->rows[at], waits[i]);
	}
	free(waits);
	finish(table);
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows),
		      compare_waited);
}

/* Print the most frequent wakers. */
static void put_wakers(FILE *out, const struct timeline *t, const struct row *r)
{
	uint32_t counts[WAKERS] = { 0 }, names[WAKERS] = { 0 }, i, n, at;

	for (i = 0; i < r->waker_count; i += n) {
		for (n = 1; i + n < r->waker_count; n++)
			if (r->wakers[i + n] != r->wakers[i])
				break;
		for (at = WAKERS; at && counts[at - 1] < n; at--)
			;
		if (at == WAKERS)
			continue;
		memmove(&counts[at + 1], &counts[at],
			(WAKERS - 1 - at) * sizeof(*counts));
		memmove(&names[at + 1], &names[at],
			(WAKERS - 1 - at) * sizeof(*names));
		counts[at] = n;
		names[at] = r->wakers[i];
	}
	for (i = 0; i < WAKERS && counts[i]; i++)
		fprintf(out, "%s%s %" PRIu32, i ? ", " : "  ",
			t->names[names[i]], counts[i]);
}

static void put_durations(FILE *out, const uint64_t *times, size_t count)
{
	char room[16];

	for (size_t i = 0; i < count; i++)
		fprintf(out, " %9s", text_duration(room, times[i]));
}

static void put_tasks(FILE *out, const struct timeline *t,
		      const struct table *table, uint32_t most)
{
	fprintf(out, "%-28s %9s %9s %9s %9s %9s %9s %9s\n", "task", "count",
		"ran", "mean", "waits", "p50", "p99", "ready p99");
	for (uint32_t i = 0; i < table->count && i < most; i++) {
		const struct row *r = &table->rows[i];
		const uint64_t    ran[] = { r->ran, r->count ? r->ran / r->count
							     : r->ran };
		const uint64_t    waits[] = {
			   percentile(r->waits, r->wait_count, 50),
			   percentile(r->waits, r->wait_count, 99),
			   percentile(r->ready, r->ready_count, 99)
		};

		fprintf(out, "%-28s %9" PRIu64, t->names[r->task], r->count);
		put_durations(out, ran, 2);
		fprintf(out, " %9" PRIu32, r->wait_count);
		if (r->wait_count)
			put_durations(out, waits, 3);
		putc('\n', out);
	}
	if (table->count > most)
		fprintf(out, "and %" PRIu32 " more\n", table->count - most);
}

static void put_waits(FILE *out, const struct timeline *t,
		      const struct table *table, uint32_t most)
{
	if (!table->count)
		return;
	fprintf(out, "\n%-28s %-18s %9s %9s %9s %9s %9s  %s\n",
		"task that waits", "for", "waits", "still", "total", "p50",
		"p99", "woken by");
	for (uint32_t i = 0; i < table->count && i < most; i++) {
		const struct row *r = &table->rows[i];
		const uint64_t    times[] = {
			   r->waited, percentile(r->waits, r->wait_count, 50),
			   percentile(r->waits, r->wait_count, 99)
		};

		fprintf(out, "%-28s %-18s %9" PRIu32 " %9" PRIu64,
			t->names[r->task], t->names[r->what], r->wait_count,
			r->open);
		put_durations(out, times, 3);
		put_wakers(out, t, r);
		putc('\n', out);
	}
	if (table->count > most)
		fprintf(out, "and %" PRIu32 " more\n", table->count - most);
}

int output_summary(FILE *out, const struct timeline *t, uint32_t rows)
{
	struct table tasks = { NULL, 0 }, waits = { NULL, 0 };
	char         length[16];

	fprintf(out, "%s, %" PRIu32 " workers, %" PRIu64 " events",
		text_duration(length, t->length), t->workers, t->events);
	if (t->lost)
		fprintf(out, "; %" PRIu64 " older ones were overwritten",
			t->lost);
	fputs(t->is_cut ? "; the file is cut off\n\n" : "\n\n", out);
	sum_tasks(t, &tasks);
	sum_waits(t, &waits);
	put_tasks(out, t, &tasks, rows);
	put_waits(out, t, &waits, rows);
	free_table(&tasks);
	free_table(&waits);
	return 0;
}
