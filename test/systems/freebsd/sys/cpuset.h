/* SPDX-License-Identifier: Apache-2.0 */
/* cpuset.h - see tools/check-systems. */
#ifndef SN_TEST_CPUSET_H
#define SN_TEST_CPUSET_H

#include <stddef.h>
#include <stdint.h>

#include <sched.h>

#undef CPU_SETSIZE
#undef CPU_ZERO
#undef CPU_SET
#undef CPU_ISSET
#define CPU_SETSIZE 1024

typedef struct {
	long bits[CPU_SETSIZE / 64];
} cpuset_t;

void CPU_ZERO(cpuset_t *set);
void CPU_SET(size_t cpu, cpuset_t *set);
int  CPU_ISSET(size_t cpu, const cpuset_t *set);

enum { CPU_LEVEL_WHICH = 3, CPU_WHICH_TID = 1 };

int cpuset_getaffinity(int level, int which, int64_t id, size_t size,
		       cpuset_t *mask);
int cpuset_setaffinity(int level, int which, int64_t id, size_t size,
		       const cpuset_t *mask);

#endif
