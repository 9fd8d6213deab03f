/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs generated programs, for some seconds or from a seed.
 *
 *	programs [--seconds N] [--seed N] [--programs N] [--schedules N]
 *		 [--schedule N] [--whole] [--print]
 *
 * Each program runs under some schedules, in a child process. If one fails, it
 * is cut down as far as it still fails, and printed in C with both seeds.
 * --whole does not cut. --print prints the program of the seed and does not run
 * it.
 */
#include "program.h"
#include "shrink.h"

#include "sennit/deterministic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct options {
	uint64_t seed, schedule;
	unsigned seconds, programs, schedules;
	bool     whole, print;
} options = { .schedules = 6 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t fresh_seed(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_sec * 1000000007 + (uint64_t)t.tv_nsec) %
	       1000000000000;
}

static uint64_t number(const char *text)
{
	char          *end;
	const uint64_t n = text ? strtoull(text, &end, 0) : 0;

	if (!text || !*text || *end) {
		fprintf(stderr, "programs: a number is expected\n");
		exit(2);
	}
	return n;
}

/* SENNIT_TEST_TIME multiplies the seconds, as it does in other tests. */
static unsigned scaled(unsigned seconds)
{
	const char  *times = getenv("SENNIT_TEST_TIME");
	const double n = times ? seconds * strtod(times, NULL) : seconds;

	return n < 1 ? 1 : (unsigned)n;
}

static void read_options(char **argv)
{
	while (*++argv) {
		if (!strcmp(*argv, "--seconds"))
			options.seconds = scaled((unsigned)number(*++argv));
		else if (!strcmp(*argv, "--seed"))
			options.seed = number(*++argv);
		else if (!strcmp(*argv, "--programs"))
			options.programs = (unsigned)number(*++argv);
		else if (!strcmp(*argv, "--schedules"))
			options.schedules = (unsigned)number(*++argv);
		else if (!strcmp(*argv, "--schedule"))
			options.schedule = number(*++argv);
		else if (!strcmp(*argv, "--whole"))
			options.whole = true;
		else if (!strcmp(*argv, "--print"))
			options.print = true;
		else {
			fprintf(stderr, "programs: what is %s?\n", *argv);
			exit(2);
		}
	}
	if (!options.seed)
		options.seed = fresh_seed();
	if (options.schedule)
		options.programs = 1;
	else if (!options.programs && !options.seconds)
		options.seconds = scaled(10);
}

static void print_summary(double began)
{
	unsigned pairs = 0, called = 0;

	for (unsigned i = 0; i < STEP_KINDS; i++) {
		called += coverage->call[i] != 0;
		for (unsigned j = 0; j < STEP_KINDS; j++)
			pairs += coverage->pair[i][j] != 0;
	}
	printf("%" PRIu64 " programs, %" PRIu64 " runs, %" PRIu64
	       " calls of %u of %d kinds, %u pairs on one object, %" PRIu64
	       " histories undecided, %.0f s\n",
	       coverage->programs, coverage->runs, coverage->calls, called,
	       STEP_KINDS, pairs, coverage->undecided, now() - began);
}

int main(int argc, char **argv)
{
	const double   began = now();
	struct program p;
	struct failure f;

	(void)argc;
	read_options(argv);
	coverage = mmap(NULL, sizeof(*coverage), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (coverage == MAP_FAILED)
		return 2;
	if (options.print) {
		program_make(&p, options.seed);
		program_print(&p, options.schedule);
		return 0;
	}
	printf("programs: from seed %" PRIu64 "\n", options.seed);
	fflush(stdout);
	if (!find_failure(&f, options.seed, options.schedule, options.schedules,
			  options.programs, options.seconds)) {
		print_summary(began);
		return 0;
	}
	printf("%s\nprogram %" PRIu64 ", schedule %" PRIu64 " fails\n", f.text,
	       f.seed, f.schedule);
	program_make(&p, f.seed);
	if (!options.whole)
		shrink(&p, &f);
	program_print(&p, f.schedule);
	printf("%s\nrepeat: %s --seed %" PRIu64 " --schedule %" PRIu64 "\n",
	       f.text, argv[0], f.seed, f.first_schedule);
	print_summary(began);
	return 1;
}
