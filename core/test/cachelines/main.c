/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - how many cache lines move between processors for an operation, by
 * the number of workers.
 *
 *	cachelines [--nodes N] [--places] OPERATION|all WORKERS...
 *	cachelines --waits   the lines that a waiting fiber needs
 *	cachelines --check   fails if one needs more than its bound
 *
 * Prints "operation workers transfers far hottest" for one operation:
 * transfers, those between nodes, those of the line that moved most.
 * --places: also the places in the code with the most transfers, as addresses
 * for addr2line.
 */
#include "lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned nodes = 1;
static bool     places;

static double each(uint64_t count, unsigned times)
{
	return (double)count / times;
}

/* Returns 0, or 1 if there is a bound that does not hold. */
static int count(const struct operation *o, unsigned workers, double most)
{
	unsigned            times;
	struct lines_counts c;
	bool                fails;

	/* Cache 0 is that of the main thread. */
	if (nodes > 1)
		lines_set_nodes(1, (workers + nodes - 1) / nodes);
	times = o->run(workers);
	c = lines_counted();
	fails = most > 0 && each(c.transfers, times) > most;
	printf("%-12s %4u %8.2f %8.2f %8.2f%s\n", o->name, workers,
	       each(c.transfers, times), each(c.far, times),
	       each(c.hottest, times), fails ? " FAIL" : "");
	if (fails)
		printf("# at most %.2f transfers, says operations.c\n", most);
	if (places)
		lines_print_places(times);
	return fails;
}

static int count_wait(const struct wait *w)
{
	const double lines = wait_lines(w);
	const bool   fails = lines > w->most;

	printf("%-12s %8.2f%s\n", w->name, lines, fails ? " FAIL" : "");
	if (fails)
		printf("# at most %.2f lines, says waits.c\n", w->most);
	return fails;
}

/* The same, for the operation or the wait, in a process of its own: the caches
 * are empty, and no thread is left of the run before. */
static int count_apart(const struct operation *o, unsigned workers, double most,
		       const struct wait *w)
{
	int   status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		status = w ? count_wait(w) : count(o, workers, most);
		fflush(stdout);
		_exit(status);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("cachelines");
		return 1;
	}
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static int count_waits(void)
{
	int failures = 0;

	for (unsigned i = 0; i < wait_count; i++)
		failures += count_apart(NULL, 0, 0, &waits[i]);
	return failures != 0;
}

static int check_all(void)
{
	int failures = 0;

	for (unsigned i = 0; i < operation_count; i++)
		failures += count_apart(&operations[i], MANY,
					operations[i].most, NULL);
	return count_waits() || failures;
}

static int count_all(const char *name, char **workers)
{
	int  failures = 0;
	bool known = false;

	for (unsigned i = 0; i < operation_count; i++) {
		if (strcmp(name, "all") != 0 &&
		    strcmp(name, operations[i].name) != 0)
			continue;
		known = true;
		for (char **w = workers; *w; w++)
			failures += count_apart(&operations[i],
						(unsigned)atoi(*w), 0, NULL);
	}
	if (!known)
		fprintf(stderr, "cachelines: no operation '%s'\n", name);
	return failures || !known;
}

int main(int argc, char **argv)
{
	char **next = argv + 1;

	if (argc > 1 && !strcmp(*next, "--check"))
		return check_all();
	if (argc > 1 && !strcmp(*next, "--waits"))
		return count_waits();
	for (; *next && !strncmp(*next, "--", 2); next++)
		if (!strcmp(*next, "--places"))
			places = true;
		else if (!strcmp(*next, "--nodes") && next[1])
			nodes = (unsigned)atoi(*++next);
	if (!*next || !next[1]) {
		fprintf(stderr, "usage: cachelines [--nodes N] [--places] "
				"OPERATION|all WORKERS...\n"
				"       cachelines --waits|--check\n");
		return 2;
	}
	return count_all(*next, next + 1);
}
