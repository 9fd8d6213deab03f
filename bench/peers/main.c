/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program of a peer: runs the named rows, or all. */
#include "peer.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic(sennit_time) ran; /* 0: not yet */

void ran_now(void)
{
	ran = sennit_now();
}

void sample_wakes(struct bench_run *r, void (*wake)(void))
{
	static uint64_t samples[SAMPLES];
	sennit_time     begin;

	for (unsigned i = 0; i < SAMPLES; i++) {
		ran = 0;
		bench_pause(GAP);
		begin = sennit_now();
		wake();
		while (!ran)
			bench_pause(GAP);
		samples[i] = ran - begin;
	}
	r->value[0] = bench_percentile(samples, SAMPLES, 50);
	r->value[1] = bench_percentile(samples, SAMPLES, 99);
}

void run_afresh(struct bench_run *r, bench_fn *run)
{
	int   ends[2];
	pid_t pid;

	bench_check(!pipe(ends), "no pipe");
	pid = fork();
	bench_check(pid >= 0, "no process");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(r);
		_exit(write(ends[1], r, sizeof(*r)) != (ssize_t)sizeof(*r));
	}
	close(ends[1]);
	bench_check(read(ends[0], r, sizeof(*r)) == (ssize_t)sizeof(*r),
		    "no answer from a process");
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

void report_sleeps(struct bench_run *r, uint64_t late[], uint64_t cpu)
{
	set_value(r, 0, bench_cpu_ns() - cpu);
	r->value[1] = bench_percentile(late, r->n, 50);
	r->value[2] = bench_percentile(late, r->n, 99);
}

void report_memory(struct bench_run *r, uint64_t before)
{
	uint64_t after = bench_resident();

	r->value[2] = NAN;
	if (after > before)
		r->bytes = (double)(after - before) / (double)r->n;
}

int main(int argc, char **argv)
{
	int taken = bench_take_options(argc, argv);
	int failures = 0;

	if (taken < 0) {
		fputs("usage: PEER [--limit SECONDS] [--workers MOST]"
		      " [PREFIX...]\n",
		      stderr);
		return 2;
	}
	printf("# peer: %s\n", peer_version());
	for (const struct bench_row *row = peer_rows; row->run; row++)
		failures += bench_run_row(row, argv + taken + 1);
	return failures != 0;
}
