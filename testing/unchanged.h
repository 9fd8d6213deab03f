/* SPDX-License-Identifier: Apache-2.0 */
/* unchanged.h - whether calls that are repeated often keep anything. */
#ifndef SN_TEST_UNCHANGED_H
#define SN_TEST_UNCHANGED_H

#include "counting_allocator.h"
#include "proc_self.h"

#if defined(__GLIBC__) && !defined(SN_ASAN) && !defined(SN_TSAN)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define HAS_MALLINFO2
#endif
#endif

/* That of the schedulers. */
static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

struct counts {
	long      blocks;
	long long bytes;
	size_t    heap;
	unsigned  files, threads, mappings;
};

static inline struct counts counts_now(void)
{
	struct counts c = { .blocks = atomic_load(&tally.live),
			    .bytes = atomic_load(&tally.bytes),
			    .files = files_now(),
			    .threads = threads_now(),
			    .mappings = mappings_now() };

#ifdef HAS_MALLINFO2
	c.heap = mallinfo2().uordblks;
#endif
	return c;
}

/* Less than one in TIMES of what a call could keep, and more than what stacks,
 * pools and libc's own caches take at some time. */
static inline void expect_unchanged(const char          *name,
				    const struct counts *before)
{
	struct counts now = counts_now();

	if (now.blocks <= before->blocks + 50 &&
	    now.bytes <= before->bytes + 32768 &&
	    now.heap <= before->heap + 65536 && now.files <= before->files &&
	    now.threads <= before->threads &&
	    now.mappings <= before->mappings + 40)
		return;
	print_error("%s: from %ld to %ld blocks, %lld to %lld bytes, heap %zu "
		    "to %zu, %u to %u files, %u to %u threads, %u to %u "
		    "mappings\n",
		    name, before->blocks, now.blocks, before->bytes, now.bytes,
		    before->heap, now.heap, before->files, now.files,
		    before->threads, now.threads, before->mappings,
		    now.mappings);
	expect_at(false, "the same as before", __FILE__, __LINE__);
}

#endif
