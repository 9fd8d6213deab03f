/* SPDX-License-Identifier: Apache-2.0 */
/* harness.c - one process per row, its samples through a pipe, one line per
 * value.
 *
 * The parent never has a second thread, so that it may fork. A child reports
 * all its samples at once and exits without cleanup, which a million sleeping
 * fibers would make slow.
 */
#include "harness.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_limits bench_limits = { .seconds = 120, .workers = 16 };

/* The result of a child. */
struct report {
	double value[BENCH_VALUES][BENCH_RUNS];
	double bytes[BENCH_RUNS];
};

/* The work of a child. */
struct session {
	const struct bench_row *row;
	int                     pipe;
	struct report           report;
};

int bench_take_options(int argc, char **argv)
{
	long value;
	int  i;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		value = strtol(argv[i + 1], NULL, 10);
		if (value < 1 || value > 10000)
			return -1;
		if (!strcmp(argv[i], "--limit"))
			bench_limits.seconds = (uint32_t)value;
		else if (!strcmp(argv[i], "--workers"))
			bench_limits.workers = (uint32_t)value;
		else if (!strcmp(argv[i], "--placement"))
			bench_limits.placement = (uint32_t)value;
		else if (!strcmp(argv[i], "--affinity"))
			bench_limits.affinity = (uint32_t)value;
		else if (!strcmp(argv[i], "--with"))
			bench_limits.exactly = (uint32_t)value;
		else
			return -1;
	}
	return i - 1;
}

/* --- selecting rows ----------------------------------------------------- */

/* A name that ends in "=" is not a prefix but the whole name, followed by n:
 * "W6a-block/first-touch=10000". */
static bool matches(const char *name, uint64_t n, const char *wanted)
{
	const char *end = strchr(wanted, '=');
	size_t      length = end ? (size_t)(end - wanted) : strlen(wanted);

	if (strncmp(name, wanted, length))
		return false;
	if (!end)
		return true;
	return !name[length] && (!end[1] || strtoull(end + 1, NULL, 10) == n);
}

static bool is_wanted(const struct bench_row *row, size_t name,
		      char *const prefixes[])
{
	if (!prefixes[0])
		return true;
	for (size_t i = 0; prefixes[i]; i++)
		if (matches(row->names[name], row->n, prefixes[i]))
			return true;
	return false;
}

static bool any_wanted(const struct bench_row *row, char *const prefixes[])
{
	for (size_t i = 0; row->names[i]; i++)
		if (is_wanted(row, i, prefixes))
			return true;
	return false;
}

void bench_list_row(const struct bench_row *row, char *const prefixes[])
{
	for (size_t i = 0; row->names[i]; i++)
		if (is_wanted(row, i, prefixes))
			printf("%s\t%llu\n", row->names[i],
			       (unsigned long long)row->n);
}

/* --- the child ---------------------------------------------------------- */

static double peak_resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss * 1024;
}

static void keep(struct session *s, int run, const struct bench_run *r)
{
	for (size_t i = 0; i < BENCH_VALUES; i++)
		s->report.value[i][run] = r->value[i];
	s->report.bytes[run] = r->bytes > 0 ? r->bytes : peak_resident();
}

/* Execute all runs of a row and exit. *first contains the number of workers. */
static void run_all(struct session *s, const struct bench_run *first)
{
	for (int i = -1; i < BENCH_RUNS; i++) {
		struct bench_run r = *first;

		s->row->run(&r);
		if (i >= 0)
			keep(s, i, &r);
	}
	if (write(s->pipe, &s->report, sizeof(s->report)) < 0)
		_exit(2);
	_exit(0);
}

/* A child has one session. */
static struct session session;

static void run_all_here(struct bench_run *r)
{
	run_all(&session, r);
}

static _Noreturn void child(const struct bench_row *row, uint32_t workers,
			    int to_parent)
{
	struct bench_run first = { .workers = workers,
				   .fp = row->fp,
				   .n = row->n };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	session.row = row;
	session.pipe = to_parent;
	if (row->place == BENCH_INSIDE)
		bench_inside(run_all_here, &first);
	else
		run_all_here(&first);
	_exit(2);
}

/* --- the parent --------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_value(double value)
{
	if (isnan(value))
		printf("\t-");
	else
		printf("\t%.2f", value);
}

static void print_line(const char *name, const struct bench_row *row,
		       uint32_t workers, double value[BENCH_RUNS], double bytes)
{
	const char *variant = strchr(name, '/');

	qsort(value, BENCH_RUNS, sizeof(value[0]), by_value);
	printf("%.*s\t%s\t%u\t%llu", (int)(variant - name), name, variant + 1,
	       workers == SENNIT_WORKERS_NONE ? 0 : workers,
	       (unsigned long long)row->n);
	print_value(value[BENCH_RUNS / 2]);
	print_value(value[0]);
	print_value(value[BENCH_RUNS - 1]);
	printf("\t%.0f\n", bytes);
}

static void print_report(const struct bench_row *row, uint32_t workers,
			 struct report *report, char *const prefixes[])
{
	qsort(report->bytes, BENCH_RUNS, sizeof(report->bytes[0]), by_value);
	for (size_t i = 0; row->names[i]; i++)
		if (is_wanted(row, i, prefixes))
			print_line(row->names[i], row, workers,
				   report->value[i],
				   report->bytes[BENCH_RUNS / 2]);
}

/* Wait for the child's report. Returns false if it crashed or took too long. */
static bool receive(int from_child, pid_t pid, struct report *report)
{
	struct pollfd ready = { .fd = from_child, .events = POLLIN };
	int           limit = (int)bench_limits.seconds;
	bool          ok = poll(&ready, 1, limit * 1000) == 1;

	if (ok)
		ok = read(from_child, report, sizeof(*report)) ==
		     (ssize_t)sizeof(*report);
	else
		printf("# no answer within %d s:\n", limit);
	if (!ok)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ok;
}

static int run_with(const struct bench_row *row, uint32_t workers,
		    char *const prefixes[])
{
	struct report report;
	int           ends[2];
	pid_t         pid;
	bool          ok;

	fflush(NULL);
	if (pipe(ends) < 0)
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		close(ends[0]);
		child(row, workers, ends[1]);
	}
	close(ends[1]);
	ok = receive(ends[0], pid, &report);
	close(ends[0]);
	if (ok)
		print_report(row, workers, &report, prefixes);
	else
		printf("# failed: %s with %u workers\n", row->names[0],
		       workers);
	fflush(stdout);
	return !ok;
}

static bool has_memory(const struct bench_row *row)
{
	uint64_t available = (uint64_t)sysconf(_SC_AVPHYS_PAGES) *
			     (uint64_t)sysconf(_SC_PAGESIZE);

	if (row->memory <= available)
		return true;
	printf("# skipped for want of memory: %s n %llu\n", row->names[0],
	       (unsigned long long)row->n);
	return false;
}

static int run_with_counts(const struct bench_row *row, char *const prefixes[])
{
	const uint32_t counts[] = { SENNIT_WORKERS_NONE, 1, 2, 8 };
	int            failures = 0;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		failures += run_with(row, counts[i], prefixes);
	return failures;
}

int bench_run_row(const struct bench_row *row, char *const prefixes[])
{
	uint32_t cpus = sennit_cpu_count();
	int      failures = 0;

	if (!any_wanted(row, prefixes) || !has_memory(row))
		return 0;
	switch (row->workers) {
	case BENCH_NONE:
		return run_with(row, 0, prefixes);
	case BENCH_ONE:
		return run_with(row, 1, prefixes);
	case BENCH_TWO:
		return run_with(row, 2, prefixes);
	case BENCH_COUNTS:
		return run_with_counts(row, prefixes);
	case BENCH_EACH:
	case BENCH_FROM_TWO:
		break;
	}
	if (bench_limits.exactly)
		return run_with(row, bench_limits.exactly, prefixes);
	for (uint32_t w = row->workers == BENCH_EACH ? 1 : 2;
	     w <= cpus && w <= bench_limits.workers; w *= 2)
		failures += run_with(row, w, prefixes);
	return failures;
}
