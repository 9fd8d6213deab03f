/* SPDX-License-Identifier: Apache-2.0 */
/* fail_each.c - a long scenario in which the k-th request to the system fails,
 * for every k: an allocation, a mapping, a guard or a thread. Then again with
 * all requests failing from the k-th on, up to some.
 *
 * What was accepted runs, once; what was not says so; waits end; and nothing is
 * left behind. Once k is beyond what the scenario asks for, all has been tried.
 */
#include "../api/next_create.h"
#include "../random.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

enum { TASKS = LOAD(800), HEAVY = 500, TRIES = 5000 };

static struct {
	atomic_uint asked;
	unsigned    first, last; /* of those that fail; fixed during a try */
	atomic_uint failed;
	atomic_long live, mapped;
} faults;

static bool fails(void)
{
	const unsigned n = atomic_fetch_add(&faults.asked, 1) + 1;

	if (n < faults.first || n > faults.last)
		return false;
	atomic_fetch_add(&faults.failed, 1);
	return true;
}

/* --- what fails ---------------------------------------------------------- */

static void *take(void *unused, size_t size, size_t alignment)
{
	void *memory;

	(void)unused;
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (fails() || posix_memalign(&memory, alignment, size))
		return NULL;
	memset(memory, 0xa5, size);
	atomic_fetch_add(&faults.live, 1);
	return memory;
}

static void give(void *unused, void *memory, size_t size)
{
	(void)unused;
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

/* Sanitizers map memory by these names themselves. */
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
	else
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

/* Guards, alone; those in batches go by a system call that has no name here. */
int madvise(void *address, size_t size, int advice)
{
	static advise_fn *next;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "madvise");
	if (!fails())
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

/* --- the scenario -------------------------------------------------------- */

static struct {
	sennit_scheduler *s;
	atomic_uint       accepted, ran;
	sennit_mutex      lock;
	sennit_event      go;
	unsigned          sum; /* under lock */
} play;

static void count(void)
{
	atomic_fetch_add(&play.ran, 1);
}

static void add_one(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&play.lock);
	play.sum++;
	sennit_mutex_unlock(&play.lock);
	count();
}

static void wait_for_go(void *unused)
{
	(void)unused;
	sennit_event_wait(&play.go);
	count();
}

static void wait_in_vain(void *unused)
{
	(void)unused;
	(void)!sennit_event_wait_until(&play.go, sennit_after(1000));
	count();
}

static void carry(void *weight)
{
	const unsigned char *bytes = weight;

	for (unsigned i = 0; i < HEAVY; i++)
		EXPECT(bytes[i] == (unsigned char)i);
	count();
}

static void try_to(int err)
{
	EXPECT(!err || err == -ENOMEM);
	if (!err)
		atomic_fetch_add(&play.accepted, 1);
}

static void spawn_some(void *unused)
{
	unsigned char weight[HEAVY];

	(void)unused;
	for (unsigned i = 0; i < HEAVY; i++)
		weight[i] = (unsigned char)i;
	for (unsigned i = 0; i < TASKS / 4; i++) {
		try_to(sennit_schedule(add_one, NULL));
		try_to(sennit_schedule(wait_for_go, NULL));
		try_to(sennit_schedule(wait_in_vain, NULL));
		try_to(sennit_schedule_copy(carry, weight, HEAVY));
	}
	count();
}

static void *call_for(void *unused)
{
	(void)unused;
	count();
	return NULL;
}

static void call_out(void *unused)
{
	(void)unused;
	(void)sennit_blocking_call(call_for, NULL);
	count();
}

static void act(sennit_scheduler *s, bool bound)
{
	const sennit_task some = { .run = spawn_some };
	const sennit_task out = { .run = call_out };
	int               err;

	try_to(sennit_enqueue(s, &some));
	err = sennit_enqueue(s, &out);
	try_to(err);
	if (!err)
		atomic_fetch_add(&play.accepted, 1); /* the call itself */
	err = sennit_scheduler_set_workers(s, 3);
	EXPECT(!err || err == -EAGAIN || err == -ENOMEM);
	if (bound) {
		try_to(sennit_schedule(add_one, NULL));
		sennit_sleep(SENNIT_MILLISECOND / 10);
	}
	sennit_event_set(&play.go);
}

static void perform(void)
{
	const sennit_allocator a = { .allocate = take, .release = give };
	sennit_scheduler      *s = NULL;
	int                    err;

	err = sennit_scheduler_create(
		&s,
		SENNIT_CONFIG(.workers = 2, .max_workers = 3, .allocator = &a,
			      .name = "faults", .trace_events = 16));
	EXPECT(!err || err == -ENOMEM || err == -EAGAIN);
	if (err)
		return;
	err = sennit_bind(s);
	EXPECT(!err || err == -ENOMEM);
	act(s, !err);
	if (!err)
		sennit_unbind();
	EXPECT(!sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)));
}

/* False: nothing failed any more. */
static bool try_with(unsigned first, unsigned last)
{
	memset(&play, 0, sizeof(play));
	atomic_store(&faults.asked, 0);
	atomic_store(&faults.failed, 0);
	faults.first = first;
	faults.last = last;
	perform();
	faults.first = faults.last = 0;
	if (atomic_load(&broken_claims) ||
	    atomic_load(&play.ran) != atomic_load(&play.accepted) ||
	    atomic_load(&faults.live) || atomic_load(&faults.mapped))
		fail_msg("requests %u to %u fail: %u accepted, %u ran, "
			 "%ld allocations and %ld bytes of mappings left",
			 first, last, atomic_load(&play.accepted),
			 atomic_load(&play.ran), atomic_load(&faults.live),
			 atomic_load(&faults.mapped));
	return atomic_load(&faults.failed);
}

static void any_one_request_may_fail(void **state)
{
	unsigned k = 1;

	(void)state;
	while (k < TRIES && try_with(k, k))
		k++;
	assert_in_range(k, 20, TRIES - 1);
}

static void any_ten_in_a_row_may_fail(void **state)
{
	unsigned k = 1;

	(void)state;
	while (k < TRIES && try_with(k, k + 9))
		k += 3;
	assert_in_range(k, 20, TRIES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_one_request_may_fail),
		cmocka_unit_test(any_ten_in_a_row_may_fail),
	};

	alarm(600);
	return cmocka_run_group_tests_name("stress/fail_each", tests, NULL,
					   NULL);
}
