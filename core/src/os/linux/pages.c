/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - os.h on Linux: memory mappings and guard pages of stacks. */
#include "base/compiler.h"
#include "os/os.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	GUARD_INSTALL = 102,      /* MADV_GUARD_INSTALL, since Linux 6.13 */
	POPULATE_WRITE = 23,      /* MADV_POPULATE_WRITE, since Linux 5.14 */
	SELF = -10000,            /* PIDFD_SELF_THREAD, since a later version */
	DEFAULT_MAPPINGS = 65530, /* the kernel's default max_map_count */
};

size_t os_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Disables huge pages: with them the first touch of a stack would cost 2
 * MiB. */
static void *map(void *at, size_t size, int flags)
{
	void *memory = mmap(at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				    MAP_STACK | flags,
			    -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

void *os_map(size_t size)
{
	return map(NULL, size, 0);
}

void os_unmap(void *memory, size_t size)
{
	munmap(memory, size);
}

/* MADV_NORMAL changes nothing, but fails if part of the range is not mapped. */
static bool has_hole(void *memory, size_t size)
{
	return madvise(memory, size, MADV_NORMAL) && errno == ENOMEM;
}

/* Kernels before 6.12 unmap the old pages before all steps that can fail are
 * done: the check of the overcommit limit, and kernel allocations. In later
 * kernels only the second remains: a few hundred bytes, which the kernel gives
 * to any process that it does not kill. The unmapping frees memory, so a second
 * attempt usually succeeds. */
bool os_map_anew(void *memory, size_t size)
{
	if (map(memory, size, MAP_FIXED))
		return true;
	if (!has_hole(memory, size))
		return false;
	CHECK(map(memory, size, MAP_FIXED),
	      "the system unmapped idle stacks and cannot map them again");
	return true;
}

bool os_discard(void *memory, size_t size)
{
	uintptr_t page = os_page_size();
	uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);

	return first >= end ||
	       !madvise((void *)first, end - first, MADV_DONTNEED);
}

/* Emulators accept advice that they do not know, so check that an access fails.
 * A futex call reads the word and needs no signal handler: it fails with EAGAIN
 * if the word is not 1, and with EFAULT if the page is guarded. */
static bool is_page_guarded(void *page)
{
	return syscall(SYS_futex, page, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1,
		       NULL, NULL, 0) &&
	       errno == EFAULT;
}

static bool has_cheap_guards(void)
{
	size_t page = os_page_size();
	void  *scratch = os_map(page);
	bool   works;

	if (!scratch)
		return false;
	works = !madvise(scratch, page, GUARD_INSTALL) &&
		is_page_guarded(scratch);
	os_unmap(scratch, page);
	return works;
}

enum os_guard os_guard_kind(void)
{
	static a_u32 known; /* any; kind + 1, or 0: unknown. Two threads may ask
			     * at once; both get the same answer. */
	uint32_t     kind = a_load_rlx(&known);

	if (!kind) {
		kind = 1 +
		       (has_cheap_guards() ? OS_GUARD_CHEAP : OS_GUARD_MAPPING);
		a_store_rlx(&known, kind);
	}
	return (enum os_guard)(kind - 1);
}

/* Whether this system cannot take one advice for many ranges. The first refusal
 * sets it; retrying would make some tools print a line per call. */
static a_u32 is_batch_refused; /* any; may be set late */

/* Ranges of one system call, which are listed in the scratch memory. */
#define BATCH (OS_SCRATCH / sizeof(struct iovec))

/* Give this advice for the first ranges, by one system call. Returns how many
 * took it: fewer than `count`, or 0, when the system refuses. */
static size_t advise_batch(int advice, char *low, size_t pitch, size_t count,
			   size_t size, struct iovec ranges[BATCH])
{
	ssize_t advised;

	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct iovec){ low + i * pitch, size };
	advised = syscall(SYS_process_madvise, SELF, ranges, count, advice, 0);
	if (advised < 0 &&
	    (errno == ENOSYS || errno == EBADF || errno == EPERM))
		a_store_rlx(&is_batch_refused, 1);
	return advised > 0 ? (size_t)advised / size : 0;
}

/* The same in batches. Returns how many ranges took the advice. */
static size_t advise_batches(int advice, char *low, size_t pitch, size_t count,
			     size_t size, void *scratch)
{
	size_t done = 0;

	while (count - done > 1 && !a_load_rlx(&is_batch_refused)) {
		size_t some = count - done < BATCH ? count - done : BATCH;
		size_t advised = advise_batch(advice, low + done * pitch, pitch,
					      some, size, scratch);

		done += advised;
		if (advised < some)
			break;
	}
	if (count > 1)
		memset(scratch, 0, OS_SCRATCH);
	return done;
}

static int guard_one(enum os_guard kind, void *low, size_t size)
{
	int failed = kind == OS_GUARD_CHEAP ? madvise(low, size, GUARD_INSTALL)
					    : mprotect(low, size, PROT_NONE);

	return failed ? -errno : 0;
}

int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size)
{
	size_t done = 0;
	int    err = 0;

	if (kind == OS_GUARD_CHEAP)
		done = advise_batches(GUARD_INSTALL, low, pitch, count, size,
				      (char *)low + pitch - os_page_size());
	for (; done < count && !err; done++)
		err = guard_one(kind, (char *)low + done * pitch, size);
	return err;
}

void os_populate(void *low, size_t pitch, size_t count, size_t size)
{
	advise_batches(POPULATE_WRITE, low, pitch, count, size, low);
}

size_t os_mapping_limit(void)
{
	FILE              *f = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long long limit = 0;
	char               text[32];

	if (f) {
		if (fgets(text, sizeof(text), f))
			limit = strtoull(text, NULL, 10);
		fclose(f);
	}
	return limit ? (size_t)limit : DEFAULT_MAPPINGS;
}
