/* SPDX-License-Identifier: Apache-2.0 */
/* failing.h - runs a scenario in which the k-th request to the system fails,
 * for every k. A request is an allocation, a mapping, a guard or a thread. Then
 * it runs again with a range of requests failing from the k-th on, and with all
 * of them.
 *
 * Accepted work must run once, refused work must return an error, waits must
 * end, and nothing may be left behind. The loop ends when k exceeds the number
 * of requests of the scenario.
 */
#ifndef SN_TEST_FAILING_H
#define SN_TEST_FAILING_H

#include "testing/next_create.h"
#include "testing/random.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

static struct {
	atomic_uint asked;
	unsigned    first, last; /* range of failing requests; fixed during a
				  * run */
	atomic_uint failed;
	atomic_long live, mapped;
} faults;

static inline bool fails(void)
{
	const unsigned n = atomic_fetch_add(&faults.asked, 1) + 1;

	if (n < faults.first || n > faults.last)
		return false;
	atomic_fetch_add(&faults.failed, 1);
	return true;
}

enum { TRIES = 5000 };

#define ALL UINT32_MAX

/* --- replaced functions -------------------------------------------------- */

static inline void *take(void *unused, size_t size, size_t alignment)
{
	void *memory;

	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (fails() || posix_memalign(&memory, alignment, size))
		return NULL;
	memset(memory, 0xa5, size);
	atomic_fetch_add(&faults.live, 1);
	return memory;
}

static inline void give(void *unused, void *memory, size_t size)
{
	memset(memory, 0x5a, size);
	free(memory);
	atomic_fetch_sub(&faults.live, 1);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	return fails() ? EAGAIN
		       : next_create()(thread, attributes, run, argument);
}

/* Sanitizers replace these functions themselves. */
#if !defined(SN_ASAN) && !defined(SN_TSAN)
typedef void *mmap_fn(void *, size_t, int, int, int, off_t);
typedef int   munmap_fn(void *, size_t);
typedef int   advise_fn(void *, size_t, int);

void *mmap(void *address, size_t size, int protection, int flags, int fd,
	   off_t offset)
{
	static mmap_fn *next;
	void           *memory;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mmap");
	if (!(flags & MAP_STACK))
		return next(address, size, protection, flags, fd, offset);
	memory = fails() ? MAP_FAILED
			 : next(address, size, protection, flags, fd, offset);
	if (memory == MAP_FAILED)
		errno = ENOMEM;
	else if (!(flags & MAP_FIXED)) /* replaces memory that is already
				        * counted */
		atomic_fetch_add(&faults.mapped, (long)size);
	return memory;
}

int munmap(void *address, size_t size)
{
	static munmap_fn *next;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "munmap");
	atomic_fetch_sub(&faults.mapped, (long)size);
	return next(address, size);
}

/* Single guards. Batches use a system call without a libc function.
 * MADV_NORMAL asks whether there is a hole. */
int madvise(void *address, size_t size, int advice)
{
	static advise_fn *next;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "madvise");
	if (advice == MADV_NORMAL || !fails())
		return next(address, size, advice);
	errno = ENOMEM;
	return -1;
}

int mprotect(void *address, size_t size, int protection)
{
	static advise_fn *next;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mprotect");
	if (!fails())
		return next(address, size, protection);
	errno = ENOMEM;
	return -1;
}
#endif

/* --- runs --------------------------------------------------------------- */

static const sennit_allocator failing_allocator = { .allocate = take,
						    .release = give };

/* What the scenario was promised, and the results. */
static struct {
	atomic_uint accepted, ran;
} account;

static inline void ran_one(void)
{
	atomic_fetch_add(&account.ran, 1);
}

/* For an operation that runs and counts itself if it was accepted. */
static inline bool accept(int err)
{
	EXPECT(!err || err == -ENOMEM);
	if (!err)
		atomic_fetch_add(&account.accepted, 1);
	return !err;
}

/* The scenario, which each test file defines. It ends everything that it
 * creates. */
static void perform(void);

/* The slab of stacks that the process keeps has its guards: with it a scheduler
 * would not ask for any. */
static inline void drop_kept_slab(void)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE));

	sennit_scheduler_trim(s);
	end_scheduler(s);
}

/* Returns false if no request failed. */
static inline bool try_with(unsigned first, unsigned last)
{
	drop_kept_slab();
	memset(&account, 0, sizeof(account));
	atomic_store(&faults.mapped, 0);
	atomic_store(&faults.asked, 0);
	atomic_store(&faults.failed, 0);
	faults.first = first;
	faults.last = last;
	perform();
	faults.first = faults.last = 0;
	drop_kept_slab();
	if (atomic_load(&broken_claims) ||
	    atomic_load(&account.ran) != atomic_load(&account.accepted) ||
	    atomic_load(&faults.live) || atomic_load(&faults.mapped))
		fail_msg("requests %u to %u fail: %u accepted, %u ran, "
			 "%ld allocations and %ld bytes of mappings left",
			 first, last, atomic_load(&account.accepted),
			 atomic_load(&account.ran), atomic_load(&faults.live),
			 atomic_load(&faults.mapped));
	return atomic_load(&faults.failed);
}

/* Fail each single request; or `row` requests from every `step`-th on; or all
 * from there on. */
static inline void fail_each(unsigned row, unsigned step)
{
	unsigned k = 1;

	while (k < TRIES && try_with(k, row == ALL ? ALL : k + row - 1))
		k += step;
	assert_in_range(k, 20, TRIES - 1);
}

/* --- test cases ---------------------------------------------------------- */

TEST(any_one_request_may_fail)
{
	fail_each(1, 1);
}

TEST(any_ten_in_a_row_may_fail)
{
	fail_each(10, 3);
}

/* A system that refuses for good: a limit, or a filter of system calls. */
TEST(all_requests_may_fail_from_any_on)
{
	fail_each(ALL, 1);
}

/* The calling thread keeps the signal stack that it gets when it is first
 * bound. */
static int bind_once(void)
{
	sennit_scheduler *s;

	alarm(600);
	EXPECT(!sennit_scheduler_create(
		       &s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)) &&
	       !sennit_thread_bind(s));
	sennit_thread_unbind();
	sennit_scheduler_release(s);
	atomic_store(&faults.mapped, 0);
	return 0;
}

BEFORE_ALL(bind_once);

#endif
