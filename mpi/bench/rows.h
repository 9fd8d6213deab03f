/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - what the rows of sennit-bench-mpi share. */
#ifndef BENCH_MPI_ROWS_H
#define BENCH_MPI_ROWS_H

#include <mpi.h>
#include <sennit.h>
#include <sennit/mpi.h>
#include <stdbool.h>
#include <time.h>

extern int               rank, other;
extern sennit_scheduler *scheduler;

/* Whether this row is asked for. */
bool wants(const char *name);

/* Print a row, on process 0. */
void show(const char *name, double value, const char *unit);

double seconds(clockid_t clock);

/* A task that calls *function, a pointer to a void (*)(void). */
int run_in_fiber(void *function);

void measure_halos(void);

#endif
