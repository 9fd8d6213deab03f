/* SPDX-License-Identifier: Apache-2.0 */
/* in_fiber.c - preloaded before libsennit-mpi into an MPI program that knows
 * nothing of sennit: its main() runs in a fiber, so its calls suspend that.
 *
 * MPI begins before main() and ends after it, on the first thread. What the
 * program asks about that is answered as if it did both itself. exit() in main
 * is a return from it. A program that ends without MPI_Finalize ends without
 * it here, too.
 *
 * Process 0 says at the end how often fibers have waited, in all processes: it
 * appends a line to the file $SENNIT_WAITS.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <sennit.h>
#include <sennit/fiber.h>
#include <sennit/metrics.h>
#include <sennit/mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef int main_fn(int argc, char **argv, char **environment);

/* The size of main's stack, in bytes, where the system sets no limit or a
 * larger one. */
#define STACK_MOST ((size_t)64 << 20)

static struct {
	main_fn      *main;
	int           argc;
	char        **argv, **environment;
	int           status;
	bool          begun, over; /* as the program believes */
	sennit_fiber *fiber;
	jmp_buf       end;
} program;

/* --- what the program asks ------------------------------------------------ */

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	(void)argc;
	(void)argv;
	(void)required;
	program.begun = true;
	return PMPI_Query_thread(provided);
}

int MPI_Init(int *argc, char ***argv)
{
	int provided;

	return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int MPI_Initialized(int *flag)
{
	*flag = program.begun;
	return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
	program.over = true;
	return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
	*flag = program.over;
	return MPI_SUCCESS;
}

void exit(int status)
{
	void *libc_exit = dlsym(RTLD_NEXT, "exit");

	if (program.fiber && program.fiber == sennit_fiber_current()) {
		program.status = status;
		longjmp(program.end, 1);
	}
	(*(void (**)(int)) & libc_exit)(status);
	abort();
}

/* --- main in a fiber ------------------------------------------------------ */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "in_fiber: %s\n", what);
	PMPI_Abort(MPI_COMM_WORLD, 1);
}

static void count_waits(void *sum, const sennit_metric *m)
{
	if (!strcmp(m->name, "sennit_waits"))
		*(uint64_t *)sum += m->value;
}

static void report_waits(sennit_scheduler *s)
{
	uint64_t    waits = 0, all = 0;
	const char *name = getenv("SENNIT_WAITS");
	int         rank;
	FILE       *f;

	sennit_metrics_visit(s, count_waits, &waits);
	PMPI_Reduce(&waits, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	f = rank || !name ? NULL : fopen(name, "a");
	if (f) {
		fprintf(f, "%" PRIu64 "\n", all);
		fclose(f);
	}
}

static void run(void *unused)
{
	(void)unused;
	program.fiber = sennit_fiber_current();
	if (!setjmp(program.end))
		program.status = program.main(program.argc, program.argv,
					      program.environment);
	program.fiber = NULL;
}

static size_t stack_size(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > STACK_MOST)
		return STACK_MOST;
	return (size_t)limit.rlim_cur;
}

static int run_all(int argc, char **argv, char **environment)
{
	sennit_scheduler *s;
	int               provided;

	program.argc = argc;
	program.argv = argv;
	program.environment = environment;
	PMPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	must(!sennit_scheduler_create(
		     &s,
		     SENNIT_CONFIG(.workers = 1, .stack_size = stack_size())),
	     "no scheduler");
	must(!sennit_mpi_start(s, NULL), "MPI does not start");
	must(!sennit_scheduler_run(s, run, NULL), "no task");
	if (!program.over)
		return program.status;
	must(!sennit_mpi_stop(s, SENNIT_NEVER), "MPI does not stop");
	report_waits(s);
	must(!sennit_scheduler_shutdown(s, SENNIT_NEVER), "no end");
	PMPI_Barrier(MPI_COMM_WORLD); /* see "Limits of MPICH" */
	PMPI_Finalize();
	return program.status;
}

typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void),
		     void (*fini)(void), void (*unload)(void), void *stack);

/* What the C library begins a program with. */
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*unload)(void), void *stack);

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*unload)(void), void *stack)
{
	void *start = dlsym(RTLD_NEXT, "__libc_start_main");

	program.main = main;
	return (*(start_fn **)&start)(run_all, argc, argv, init, fini, unload,
				      stack);
}
