/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - the words that workers share in a domain are not written for each
 * task.
 *
 * These words lie in the domain's head. A task makes the head's page read-only,
 * and so does each task after it. A write to the page faults; the fault is
 * counted, and the write may proceed.
 */
#include "testing/with_workers.h"

#include "group/domain.h"
#include "sennit/domain.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

enum { TASKS = 20000, MOST_RUNS = 16 };

/* The library's clock stands still, so that no task gets old. The turn of an
 * old one ends a run of newest-first tasks. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	static _Atomic(time_t) began;

	if (!atomic_load(&began)) {
		syscall(SYS_clock_gettime, clock, t);
		atomic_store(&began, t->tv_sec);
	}
	*t = (struct timespec){ .tv_sec = atomic_load(&began) };
	return 0;
}

static char                 *pages; /* the head lies at the end of the first
				     * page */
static size_t                page_size;
static volatile sig_atomic_t faults;
static volatile sig_atomic_t is_guarded;

static void open_page(int signal)
{
	if (!is_guarded)
		abort();
	faults++;
	is_guarded = 0;
	mprotect(pages, page_size, PROT_READ | PROT_WRITE);
}

static void guard_page(void)
{
	if (is_guarded)
		return;
	mprotect(pages, page_size, PROT_READ);
	is_guarded = 1;
}

/* --- the domain's memory ------------------------------------------------ */

static bool is_domains; /* whether this thread's next allocation is the
			 * domain's */

static void *take(void *context, size_t size, size_t alignment)
{
	void *memory;

	if (is_domains) {
		is_domains = false;
		return pages + page_size - sizeof(struct sennit_domain);
	}
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static void give(void *context, void *memory, size_t size)
{
	if ((char *)memory < pages || (char *)memory >= pages + page_size)
		free(memory);
}

/* --- tasks -------------------------------------------------------------- */

static unsigned       ran; /* by the one worker */
static sennit_event   ended;
static sennit_domain *domain;

static void end(void *argument)
{
	sennit_event_set(argument);
}

static void run_guarded(void *argument)
{
	guard_page();
	ran++;
}

/* The same, with copied arguments and child tasks. */
static void run_and_branch(void *argument)
{
	run_guarded(NULL);
	must_schedule(run_guarded, NULL);
	EXPECT(sennit_schedule_copy(run_guarded, argument, 8) == 0);
}

static void send_all(void *argument)
{
	uint64_t copy = 1;

	sennit_domain_release(argument);
	for (unsigned i = 0; i < TASKS; i++)
		EXPECT(sennit_schedule_copy(run_and_branch, &copy, 8) == 0);
}

TEST_ALONE(tasks_write_nothing_that_workers_share)
{
	const sennit_allocator memory = { .allocate = take, .release = give };
	struct sigaction       action = { .sa_handler = open_page }, old;
	sennit_scheduler      *s;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	s = start_with(SENNIT_CONFIG(.workers = 1, .allocator = &memory,
				     .overflow = SENNIT_OVERFLOW_SILENT));
	sigaction(SIGSEGV, &action, &old);
	is_domains = true; /* the worker is idle */
	assert_int_equal(sennit_domain_create(&domain, s, end, &ended), 0);
	assert_false(is_domains);
	assert_int_equal(sennit_domain_schedule(domain, send_all, domain), 0);
	EXPECT(!sennit_event_wait(&ended));
	sigaction(SIGSEGV, &old, NULL);
	assert_int_equal(ran, 3 * TASKS);
	assert_in_range(faults, 1, MOST_RUNS);
	end_scheduler(s);
	munmap(pages, 2 * page_size);
}
