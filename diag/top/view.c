/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of workers and tasks that are sorted; a live view writes
 * no more. */
#define ROWS_MAX 1024

/* --- words --------------------------------------------------------------- */

/* Print a string of the program without characters that control a terminal: C0
 * and C1. */
static void put(FILE *out, const char *string)
{
	for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
		if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
			fputc('?', out);
			c++;
		} else {
			fputc(*c < 0x20 || *c == 0x7f ? '?' : *c, out);
		}
	}
}

/* Format a duration with about three digits. */
static const char *duration(char text[16], double ns)
{
	if (ns < 1e3)
		snprintf(text, 16, "%.0f ns", ns);
	else if (ns < 1e6)
		snprintf(text, 16, "%.1f us", ns / 1e3);
	else if (ns < 1e9)
		snprintf(text, 16, "%.1f ms", ns / 1e6);
	else
		snprintf(text, 16, "%.1f s", ns / 1e9);
	return text;
}

/* Print the task's name and function. */
static void put_task(FILE *out, const json_t *at)
{
	const char *name = field_string(at, "task");
	const char *function = field_string(at, "function");

	if (*name)
		put(out, name);
	if (*name && *function)
		fputs(" (", out);
	put(out, function);
	if (*name && *function)
		fputc(')', out);
	if (!*name && !*function)
		fputs("a bound thread's own stack", out);
	fputc('\n', out);
}

/* --- order --------------------------------------------------------------- */

typedef int compare(const void *a, const void *b);

static int falling(const void *a, const void *b, const char *key)
{
	double x = field_number(*(const json_t *const *)a, key);
	double y = field_number(*(const json_t *const *)b, key);

	return (x < y) - (x > y);
}

static int by_index(const void *a, const void *b)
{
	/* Bound threads, which have -1, come last. */
	double x = field_number(*(const json_t *const *)a, "worker");
	double y = field_number(*(const json_t *const *)b, "worker");

	if (x < 0 || y < 0)
		return (x < 0) - (y < 0);
	return (x > y) - (x < y);
}

static int by_busy(const void *a, const void *b)
{
	int order = falling(a, b, "busy_permille");

	return order ? order : by_index(a, b);
}

static int by_tasks(const void *a, const void *b)
{
	int order = falling(a, b, "tasks_per_s");

	return order ? order : by_index(a, b);
}

static int by_fibers(const void *a, const void *b)
{
	int order = falling(a, b, "fibers");

	return order ? order : by_index(a, b);
}

static int by_share(const void *a, const void *b)
{
	return falling(a, b, "run_permille");
}

static int by_name(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a;
	const json_t *y = *(const json_t *const *)b;
	int order = strcmp(field_string(x, "task"), field_string(y, "task"));

	return order ? order
		     : strcmp(field_string(x, "function"),
			      field_string(y, "function"));
}

/* Sort the members of a list. Returns their number. */
static size_t sort(const json_t *rows[ROWS_MAX], const json_t *object,
		   const char *list, compare *how)
{
	const json_t *row;
	size_t        count = 0;

	while (count < ROWS_MAX && (row = field_member(object, list, count)))
		rows[count++] = row;
	qsort(rows, count, sizeof(*rows), how);
	return count;
}

/* --- parts --------------------------------------------------------------- */

static void put_totals(FILE *out, const json_t *s)
{
	fprintf(out,
		": %.0f threads, %.0f tasks/s, %.0f steals/s, %.0f waits/s, "
		"%.0f parks/s\n",
		field_number(s, "threads"), field_number(s, "tasks_per_s"),
		field_number(s, "steals_per_s"),
		field_number(s, "blocks_per_s"),
		field_number(s, "parks_per_s"));
	fprintf(out,
		"fibers: %.0f running, %.0f ready, %.0f blocked; %.0f tasks "
		"queued\n",
		field_number(s, "running"), field_number(s, "ready"),
		field_number(s, "blocked"), field_number(s, "queued"));
	fprintf(out,
		"stacks: %.0f, %.0f idle, %.1f MiB mapped; %.0f blocking "
		"threads\n",
		field_number(s, "stacks"), field_number(s, "stacks_idle"),
		field_number(s, "stack_bytes") / 1048576,
		field_number(s, "blocking_threads"));
}

static void put_worker(FILE *out, const json_t *w)
{
	char index[16] = "bound";
	char busy[16] = "-";

	if (field_number(w, "worker") >= 0)
		snprintf(index, sizeof(index), "%.0f",
			 field_number(w, "worker"));
	if (field_exists(w, "busy_permille"))
		snprintf(busy, sizeof(busy), "%.1f%%",
			 field_number(w, "busy_permille") / 10);
	fprintf(out, "%6s %8.0f  ", index, field_number(w, "thread"));
	put(out, field_string(w, "state"));
	fprintf(out, "%*s %6s %11.0f %7.0f %8.0f\n",
		(int)(strlen(field_string(w, "state")) < 9
			      ? 9 - strlen(field_string(w, "state"))
			      : 0),
		"", busy, field_number(w, "tasks_per_s"),
		field_number(w, "queued"), field_number(w, "fibers"));
}

static void put_workers(FILE *out, const json_t *s, enum view_order order)
{
	static compare *const how[] = { by_index, by_busy, by_tasks,
					by_fibers };
	const json_t         *rows[ROWS_MAX];
	size_t                count = sort(rows, s, "workers", how[order]);

	fputs("\nWORKER   THREAD  STATE       BUSY     TASKS/S  QUEUED   "
	      "FIBERS\n",
	      out);
	for (size_t i = 0; i < count; i++)
		put_worker(out, rows[i]);
	if (field_number(s, "workers_left_out") > 0)
		fprintf(out, "and %.0f more\n",
			field_number(s, "workers_left_out"));
}

static void put_hot(FILE *out, const json_t *s, bool named)
{
	const json_t *rows[ROWS_MAX];
	size_t        count = sort(rows, s, "hot", named ? by_name : by_share);

	fputs("\n   RUN  TASK\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%5.1f%%  ",
			field_number(rows[i], "run_permille") / 10);
		put_task(out, rows[i]);
	}
}

static void put_fiber(FILE *out, const json_t *w)
{
	char text[32];

	if (field_number(w, "worker") >= 0)
		snprintf(text, sizeof(text), "%.0f.%.0f",
			 field_number(w, "worker"), field_number(w, "fiber"));
	else
		snprintf(text, sizeof(text), "b%.0f.%.0f",
			 field_number(w, "thread"), field_number(w, "fiber"));
	fprintf(out, "%10s  ", text);
}

static void put_waiters(FILE *out, const json_t *s)
{
	const json_t *w;
	char          text[16];

	fputs("\n   WAITS       FIBER  FOR, TASK\n", out);
	for (size_t i = 0; (w = field_member(s, "waiters", i)); i++) {
		fprintf(out, "%8s  ",
			duration(text, field_number(w, "for_ns")));
		put_fiber(out, w);
		put(out, field_string(w, "waits_for"));
		if (*field_string(w, "object"))
			fputc(' ', out);
		put(out, field_string(w, "object"));
		if (field_exists(w, "left_ns"))
			fprintf(out, ", %s left",
				duration(text, field_number(w, "left_ns")));
		fputs(": ", out);
		put_task(out, w);
	}
}

/* Only present if the program records them. */
static void put_latencies(FILE *out, const json_t *s)
{
	const json_t *l;
	char          p50[16], p99[16];

	if (field_member(s, "latencies", 0))
		fputs("\n     P50       P99       COUNT  LATENCY\n", out);
	for (size_t i = 0; (l = field_member(s, "latencies", i)); i++) {
		fprintf(out, "%8s  %8s  %10.0f  ",
			duration(p50, field_number(l, "p50_ns")),
			duration(p99, field_number(l, "p99_ns")),
			field_number(l, "count"));
		put(out, field_string(l, "name"));
		if (*field_string(l, "kind")) {
			fputs(": ", out);
			put(out, field_string(l, "kind"));
		}
		fputc('\n', out);
	}
}

void view_write(FILE *out, const json_t *hello, const json_t *snapshot,
		const struct view_options *how)
{
	const json_t *s;

	put(out, field_string(hello, "program"));
	fprintf(out, ", process %.0f\n", field_number(hello, "pid"));
	if (!field_member(snapshot, "schedulers", 0))
		fputs("no scheduler\n", out);
	for (size_t i = 0; (s = field_member(snapshot, "schedulers", i)); i++) {
		fputs("\nscheduler ", out);
		put(out, field_string(s, "name"));
		put_totals(out, s);
		put_workers(out, s, how->workers);
		put_hot(out, s, how->by_name);
		put_waiters(out, s);
		put_latencies(out, s);
	}
}
