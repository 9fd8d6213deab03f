/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-bench [PREFIX...]: runs every row, or those whose names start
 * with a prefix. core/docs/design/measurements.md describes the columns and
 * options.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The build defines the compiler flags. */
#ifndef SENNIT_BENCH_FLAGS
#define SENNIT_BENCH_FLAGS "unknown"
#endif

/* The rows of another program that includes this file, and a comma. */
#ifndef SENNIT_BENCH_MORE
#define SENNIT_BENCH_MORE
#endif

static const struct bench_row *const workloads[] = {
	bench_spawn_flat,
	bench_fib,
	bench_skynet,
	bench_ping_pong,
	bench_ring,
	bench_block_many,
	bench_mutex_contended,
	bench_sleepers,
	bench_unbalanced_tree,
	bench_nqueens,
	bench_parallel_for,
	bench_foreign_submit,
	bench_idle_cpu,
	bench_timeouts,
	bench_timer_wheel,
	bench_life_cycle,
	bench_gate,
	bench_local,
	bench_priority,
	bench_ticket,
	bench_pool,
	bench_future,
	bench_event,
	bench_cond,
	bench_wait_group,
	bench_rwlock,
	bench_semaphore,
	bench_barrier,
	bench_once,
	bench_blocking,
	bench_channel,
	bench_group,
	bench_dag,
	bench_parallel_reduce,
	bench_parallel_sort,
	bench_sharing,
	bench_resources,
	bench_kernel,
	bench_fft,
	bench_ray,
	bench_merge,
	bench_b_tree,
	bench_cholesky,
	bench_simulation,
	SENNIT_BENCH_MORE bench_memory,
};

#define WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

/* Print the text after `key` and its colon in a file of such lines, once. */
static void print_field(const char *title, const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	char  line[512];
	char *value;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		value = strchr(line, ':');
		if (!value || strncmp(line, key, strlen(key)))
			continue;
		printf("# %s%s", title, value + 1);
		break;
	}
	fclose(f);
}

/* Print the first line of a file, if it has one. */
static void print_file(const char *title, const char *path)
{
	FILE *f = fopen(path, "r");
	char  line[256];

	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		printf("# %s %s", title, line);
	fclose(f);
}

static void print_header(void)
{
	/* From the environment: the program does not contain the commit, so
	 * that it is the same without git. */
	const char    *commit = getenv("SENNIT_BENCH_COMMIT");
	struct utsname u;

	print_field("cpu:", "/proc/cpuinfo", "model name");
	printf("# cores: %u\n", sennit_cpu_count());
	print_file("governor:", "/sys/devices/system/cpu/cpu0/cpufreq/"
				"scaling_governor");
	if (!uname(&u))
		printf("# system: %s %s %s\n", u.sysname, u.release, u.machine);
	print_file("load:", "/proc/loadavg");
	puts("# compiler: " BENCH_COMPILER);
	puts("# flags: " SENNIT_BENCH_FLAGS);
	printf("# version: %d.%d.%d\n", SENNIT_VERSION_MAJOR,
	       SENNIT_VERSION_MINOR, SENNIT_VERSION_PATCH);
	if (commit)
		printf("# commit: %s\n", commit);
	puts("# workload\tvariant\tworkers\tn\tmedian_ns\tmin_ns\tmax_ns"
	     "\tbytes");
}

static int run(char *const prefixes[])
{
	int failures = 0;

	print_header();
	for (size_t i = 0; i < WORKLOADS; i++)
		for (const struct bench_row *r = workloads[i]; r->run; r++)
			failures += bench_run_row(r, prefixes);
	return failures != 0;
}

static int list(char *const prefixes[])
{
	for (size_t i = 0; i < WORKLOADS; i++)
		for (const struct bench_row *r = workloads[i]; r->run; r++)
			bench_list_row(r, prefixes);
	return 0;
}

int main(int argc, char **argv)
{
	int taken;

	if (argc > 1 && !strcmp(argv[1], "--list"))
		return list(argv + 2);
	taken = bench_take_options(argc, argv);
	if (taken < 0 || (argv[taken + 1] && argv[taken + 1][0] == '-')) {
		fputs("usage: sennit-bench [--limit SECONDS]"
		      " [--workers MOST | --with WORKERS]\n"
		      "                    [--placement 1|2]\n"
		      "                    [--affinity 1|2|4] [PREFIX...]\n"
		      "       sennit-bench --list [PREFIX...]\n",
		      stderr);
		return 2;
	}
	return run(argv + taken + 1);
}
