/* SPDX-License-Identifier: Apache-2.0 */
/* mappings.c - a process that runs fibers has no memory that is both writable
 * and executable, and no fiber's stack is executable. */
#include "testing/with_workers.h"

#include <sys/personality.h>

/* One line of /proc/self/maps: "low-high rwxp offset ...". */
struct mapping {
	unsigned long low, high;
	char          rights[5];
};

static void check(const struct mapping *m, unsigned long inside)
{
	const bool writable = m->rights[1] == 'w';
	const bool executable = m->rights[2] == 'x';

	EXPECT(!writable || !executable);
	EXPECT(inside < m->low || inside >= m->high || !executable);
}

/* Runs on a fiber's stack. */
static void look_at_all(void *seen)
{
	FILE          *f = fopen("/proc/self/maps", "re");
	struct mapping m;
	char           line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %4s", &m.low, &m.high, m.rights) != 3)
			continue;
		check(&m, (unsigned long)(uintptr_t)line);
		++*(unsigned *)seen;
	}
	if (f)
		fclose(f);
}

TEST_WITH_WORKERS(no_memory_is_writable_and_executable)
{
	unsigned seen = 0;

	/* With READ_IMPLIES_EXEC the kernel makes all readable memory
	 * executable. */
	if (personality(0xffffffff) & READ_IMPLIES_EXEC)
		skip();
	in_a_task(look_at_all, &seen);
	assert_true(seen > 10);
}
