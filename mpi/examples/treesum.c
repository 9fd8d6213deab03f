/* SPDX-License-Identifier: Apache-2.0 */
/* treesum.c - sums of all files below a folder, by several processes: each sums
 * its part of the tree, a fiber for each file, and sends the sums to process 0,
 * which prints them in the order of the names.
 *
 * Every process sees the same files, as on a shared file system. Process 0 sums
 * them once more alone, and must get the same.
 *
 *	mpirun -n 2 treesum [FOLDER]
 */
#include <dirent.h>
#include <inttypes.h>
#include <mpi.h>
#include <sennit.h>
#include <sennit/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST = 4096, NAME = 512 };

static char (*names)[NAME];
static int count, rank, ranks;

/* --- the tree ------------------------------------------------------------- */

static void add_folder(const char *path)
{
	struct dirent **list;
	int             n = scandir(path, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char        name[NAME];
		struct stat s;
		int         length = snprintf(name, sizeof(name), "%s/%s", path,
					      list[i]->d_name);

		if (list[i]->d_name[0] != '.' && length < NAME &&
		    lstat(name, &s) == 0) {
			if (S_ISDIR(s.st_mode))
				add_folder(name);
			else if (S_ISREG(s.st_mode) && count < MOST)
				strcpy(names[count++], name);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* FNV-1a, 64 bits. */
static uint64_t sum_of(const char *name)
{
	static _Thread_local unsigned char bytes[65536];
	uint64_t                           sum = UINT64_C(0xcbf29ce484222325);
	FILE                              *f = fopen(name, "rb");
	size_t                             n;

	while (f && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		for (size_t i = 0; i < n; i++)
			sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	if (f)
		fclose(f);
	return sum;
}

/* --- the fibers ----------------------------------------------------------- */

/* File number i is of process i modulo the processes, and i is the tag. */
static int sum_one(void *name)
{
	int      i = (int)((char(*)[NAME])name - names);
	uint64_t sum = sum_of(names[i]);

	return MPI_Send(&sum, 1, MPI_UINT64_T, 0, i, MPI_COMM_WORLD);
}

/* Sums come in any order, and are printed in order. */
static int print_all(void *wrong)
{
	for (int i = 0; i < count; i++) {
		uint64_t sum;

		MPI_Recv(&sum, 1, MPI_UINT64_T, i % ranks, i, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		printf("%016" PRIx64 "  %s\n", sum, names[i]);
		*(int *)wrong += sum != sum_of(names[i]);
	}
	return 0;
}

static void must(int err)
{
	if (err)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	sennit_group      g;
	int               provided, wrong = 0, longest;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	names = calloc(MOST, sizeof(*names));
	must(!names);
	add_folder(argc > 1 ? argv[1] : "/usr/include/linux");
	MPI_Allreduce(&count, &longest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	must(longest != count); /* they do not see the same tree */
	must(sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = 2,
				  .stack_size = SENNIT_MPI_STACK_SIZE)));
	must(sennit_mpi_start(s, NULL));
	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	if (!rank)
		must(sennit_group_spawn(&g, print_all, &wrong));
	for (int i = rank; i < count; i += ranks)
		must(sennit_group_spawn(&g, sum_one, names[i]));
	must(sennit_group_wait(&g));
	must(sennit_mpi_stop(s, SENNIT_NEVER));
	must(sennit_scheduler_shutdown(s, SENNIT_NEVER));
	if (!rank)
		printf("treesum: %d files, %d processes, %d sums differ\n",
		       count, ranks, wrong);
	must(wrong);
	free(names);
	MPI_Barrier(MPI_COMM_WORLD); /* see "Limits of MPICH" */
	MPI_Finalize();
	return 0;
}
