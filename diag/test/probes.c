/* SPDX-License-Identifier: Apache-2.0 */
/* probes.c - after a dump of all stacks a tracer still reaches the semaphores
 * of the static probes.
 *
 * A tracer knows the position of a semaphore in the file. The kernel increments
 * the word at that position in the first private, writable mapping of the file
 * (find_ref_ctr_vma in kernel/events/uprobes.c). This test does the same.
 */
#include "testing/with_workers.h"

#include "observe/observe.h"

#include "sennit/stacks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#ifdef SENNIT_HAVE_SDT
#define SEMAPHORE ((uintptr_t)&sennit_wait_semaphore)
#else
static unsigned short none;
#define SEMAPHORE ((uintptr_t)&none)
#endif

/* A line of /proc/self/maps. */
struct mapping {
	uintptr_t low, high;
	uint64_t  offset, inode;
	char      rights[5];
	char      device[16];
};

static FILE *open_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");

	assert_non_null(maps);
	return maps;
}

static bool read_mapping(FILE *maps, struct mapping *m)
{
	char line[4352];

	return fgets(line, sizeof(line), maps) &&
	       sscanf(line,
		      "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %15s %" SCNu64,
		      &m->low, &m->high, m->rights, &m->offset, m->device,
		      &m->inode) == 6;
}

static struct mapping find_semaphore(void)
{
	FILE          *maps = open_maps();
	struct mapping m;

	while (read_mapping(maps, &m))
		if (SEMAPHORE - m.low < m.high - m.low)
			break;
	assert_true(SEMAPHORE - m.low < m.high - m.low);
	fclose(maps);
	return m;
}

static bool is_like(const struct mapping *m, const struct mapping *home)
{
	return m->inode == home->inode && !strcmp(m->device, home->device) &&
	       m->rights[1] == 'w' && m->rights[3] == 'p';
}

/* Store the addresses that a tracer may use as the semaphore. Returns their
 * number. */
static unsigned find_places(uintptr_t places[8])
{
	const struct mapping home = find_semaphore();
	const uint64_t       wanted = home.offset + (SEMAPHORE - home.low);
	FILE                *maps = open_maps();
	struct mapping       m;
	unsigned             count = 0;

	while (count < 8 && read_mapping(maps, &m))
		if (is_like(&m, &home) && wanted - m.offset < m.high - m.low)
			places[count++] =
				(uintptr_t)(m.low + (wanted - m.offset));
	fclose(maps);
	return count;
}

static void add(uintptr_t place, int much)
{
	int            file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	unsigned short word;

	assert_true(file >= 0);
	assert_int_equal(pread(file, &word, sizeof(word), (off_t)place),
			 sizeof(word));
	word = (unsigned short)(word + much);
	assert_int_equal(pwrite(file, &word, sizeof(word), (off_t)place),
			 sizeof(word));
	close(file);
}

static void print_stacks(sennit_scheduler *s)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_int_equal(sennit_stacks_print(s, nowhere, SENNIT_STACKS_TEXT),
			 0);
	close(nowhere);
}

/* Symptom: bpftrace counted 3,676 events before a dump, and none after it. */
TEST_WITH_ONE(a_tracer_reaches_the_probes_after_a_dump)
{
	uintptr_t places[8];

#ifndef SENNIT_HAVE_SDT
	skip();
#endif
	print_stacks(w->s);
	assert_int_equal(find_places(places), 1);
	assert_false(sn_probes_wanted());
	add(places[0], 1);
	assert_true(sn_probes_wanted());
	add(places[0], -1);
	assert_false(sn_probes_wanted());
}
