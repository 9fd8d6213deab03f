/* SPDX-License-Identifier: Apache-2.0 */
/* lent.c - memory that a caller passes to a call is not read after the call
 * has returned, or, where the header says so, after the object is destroyed.
 * Here such memory becomes inaccessible at that moment.
 */
#include "testing/with_workers.h"
#include "sennit/dag.h"
#include "sennit/domain.h"
#include "sennit/metrics.h"
#include "sennit/shared.h"

#include <errno.h>
#include <sys/mman.h>

/* --- lending -------------------------------------------------------------- */

enum { PAGES = 24 };

static struct {
	char  *pages; /* what is lent has a page of its own */
	size_t size;  /* of a page */
	size_t count;
} loans;

/* A copy of *what, of `size` bytes. */
static void *lend(const void *what, size_t size)
{
	char *page;

	if (!loans.pages) {
		loans.size = (size_t)sysconf(_SC_PAGESIZE);
		loans.pages = mmap(NULL, PAGES * loans.size,
				   PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(loans.pages, MAP_FAILED);
	}
	assert_true(loans.count < PAGES && size <= loans.size);
	page = loans.pages + loans.count++ * loans.size;
	return memcpy(page, what, size);
}

#define LEND(type, ...) ((type *)lend(&(type)__VA_ARGS__, sizeof(type)))

/* From now on an access to what was lent ends the process. */
static void take_back(void)
{
	EXPECT(!mprotect(loans.pages, loans.count * loans.size, PROT_NONE));
}

static void end_loans(void)
{
	take_back();
	munmap(loans.pages, PAGES * loans.size);
	loans.pages = NULL;
	loans.count = 0;
}

/* The allocator's context is lent until the scheduler or the object is gone. */
struct purse {
	atomic_long live;
};

static void *pay(void *purse, size_t size, size_t alignment)
{
	void *memory;

	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (posix_memalign(&memory, alignment, size))
		return NULL;
	atomic_fetch_add(&((struct purse *)purse)->live, 1);
	return memory;
}

/* Slow for the last block, so that a call that returned early would be seen. */
static void pay_back(void *purse, void *memory, size_t size)
{
	struct purse *p = purse;

	if (memory && atomic_load(&p->live) == 1)
		for (int i = 0; i < 100; i++)
			sched_yield();
	if (memory)
		atomic_fetch_sub(&p->live, 1);
	free(memory);
}

static const sennit_allocator *lend_allocator(void)
{
	struct purse *p = LEND(struct purse, { 0 });

	return LEND(sennit_allocator,
		    { .allocate = pay, .release = pay_back, .context = p });
}

/* The allocator itself is copied. Its context is the page before. */
static void take_back_all_but_context(void)
{
	EXPECT(!mprotect(loans.pages + loans.size,
			 (loans.count - 1) * loans.size, PROT_NONE));
}

/* --- schedulers ----------------------------------------------------------- */

static const char *lend_name(void)
{
	return lend("borrowed", sizeof("borrowed"));
}

static atomic_uint ran;

static void count(void *unused)
{
	atomic_fetch_add(&ran, 1);
}

/* Its page is the third. */
static sennit_config *lend_config(uint32_t workers)
{
	const sennit_allocator *a = lend_allocator();
	sennit_config           c = { .size = sizeof(c),
				      .workers = workers,
				      .allocator = a,
				      .name = lend_name() };

	if (workers != SENNIT_WORKERS_NONE) {
		const uint32_t *cpu = LEND(uint32_t, { 0 });

		c.affinity = SENNIT_AFFINITY_ANY_OF;
		c.masks = LEND(sennit_cpu_mask, { cpu, 1 });
		c.mask_count = 1;
	}
	return lend(&c, sizeof(c));
}

static void use(sennit_scheduler *s)
{
	FILE *nowhere = fopen("/dev/null", "w");

	for (int i = 0; i < 40; i++)
		must_schedule(count, NULL);
	sennit_report_print(s, fileno(nowhere));
	EXPECT(!sennit_metrics_write(s, fileno(nowhere),
				     SENNIT_METRICS_OPENMETRICS));
	sennit_scheduler_trim(s);
	fclose(nowhere);
}

TEST_WITH_COUNTS(a_config_is_read_by_the_creation_alone)
{
	sennit_config    *c = lend_config(w->workers);
	sennit_scheduler *s;

	assert_int_equal(sennit_scheduler_create(&s, c), 0);
	take_back_all_but_context();
	assert_int_equal(sennit_thread_bind(s), 0);
	use(s);
	sennit_thread_unbind();
	assert_int_equal(sennit_scheduler_shutdown(s, SENNIT_NEVER), 0);
	end_loans();
}

/* --- a program ------------------------------------------------------------ */

struct inner {
	unsigned tasks;
};

static int run_inner(void *argument)
{
	struct inner *i = argument;

	for (unsigned n = 0; n < i->tasks; n++)
		must_schedule(count, NULL);
	return 7;
}

static int call_main(void *workers)
{
	sennit_config *c = lend_config(*(const uint32_t *)workers);
	struct inner  *i = LEND(struct inner, { 3 });
	int            result;
	const int      err = sennit_run(run_inner, i, c, &result);

	take_back();
	EXPECT(!err && result == 7);
	return 0;
}

static void call_main_in_task(void *workers)
{
	(void)call_main(workers);
	for (int i = 0; i < 100; i++)
		sched_yield(); /* a thread that was late would be here */
	end_loans();
}

TEST_WITH_THREAD_COUNTS(a_program_leaves_what_a_thread_lent)
{
	for (int i = 0; i < 20; i++)
		call_main_in_task(&w->workers);
}

TEST_WITH_THREAD_COUNTS(a_program_leaves_what_a_bound_thread_lent)
{
	sennit_scheduler *s = start_with(SENNIT_CONFIG(.workers = 1));

	assert_int_equal(sennit_thread_bind(s), 0);
	for (int i = 0; i < 20; i++)
		call_main_in_task(&w->workers);
	sennit_thread_unbind();
	end_scheduler(s);
}

TEST_WITH_THREAD_COUNTS(a_program_leaves_what_a_task_lent)
{
	sennit_scheduler *s = start_with(SENNIT_CONFIG(.workers = 1));

	for (int i = 0; i < 20; i++)
		assert_int_equal(
			sennit_scheduler_run(s, call_main_in_task, &w->workers),
			0);
	end_scheduler(s);
}

/* --- tasks ---------------------------------------------------------------- */

static sennit_event started;

static void wait_to_start(void *value)
{
	EXPECT(!sennit_event_wait(&started));
	EXPECT(*(const int *)value == 1);
	atomic_fetch_add(&ran, 1);
}

static int be_a_member(void *value)
{
	wait_to_start(value);
	return 0;
}

static void name_and_wait(void *value)
{
	sennit_task_set_name(value);
	atomic_fetch_add(&ran, 1);
	wait_to_start((int[]){ 1 });
}

static void schedule_one(sennit_scheduler *s, const sennit_task *t)
{
	EXPECT(!sennit_schedule_task(t));
}

static void schedule_on(sennit_scheduler *s, const sennit_task *t)
{
	EXPECT(!sennit_schedule_task_on(s, t));
}

static void schedule_many(sennit_scheduler *s, const sennit_task *t)
{
	EXPECT(!sennit_schedule_many(t, 1));
}

static void schedule_many_on(sennit_scheduler *s, const sennit_task *t)
{
	EXPECT(!sennit_schedule_many_on(s, t, 1));
}

static void schedule_copy(sennit_scheduler *s, const sennit_task *t)
{
	EXPECT(!sennit_schedule_copy(t->run, t->argument, sizeof(int)));
}

static void schedule_in_domain(sennit_scheduler *s, const sennit_task *t)
{
	sennit_domain *d;

	EXPECT(!sennit_domain_create(&d, s, NULL, NULL));
	EXPECT(!sennit_domain_schedule_task(d, t));
	sennit_domain_release(d);
}

static sennit_group group;

static void spawn_copy(sennit_scheduler *s, const sennit_task *t)
{
	EXPECT(!sennit_group_spawn_copy(&group, be_a_member, t->argument,
					sizeof(int)));
}

static void (*const kinds[])(sennit_scheduler *s, const sennit_task *t) = {
	schedule_one,  schedule_on,        schedule_many, schedule_many_on,
	schedule_copy, schedule_in_domain, spawn_copy,
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

TEST_WITH_WORKERS(a_task_has_copies_of_what_was_lent)
{
	sennit_event_init(&started, SENNIT_EVENT_MANUAL);
	atomic_store(&ran, 0);
	sennit_group_init(&group, SENNIT_NEVER, 0);
	for (int i = 0; i < KINDS; i++) {
		int *value = LEND(int, { 1 });

		kinds[i](w->s, LEND(sennit_task, { .run = wait_to_start,
						   .argument = value,
						   .copy_size = sizeof(int) }));
	}
	take_back();
	sennit_event_set(&started);
	assert_int_equal(sennit_group_wait(&group), 0);
	while (atomic_load(&ran) < KINDS)
		sennit_yield();
	end_loans();
}

TEST_WITH_WORKERS(a_fiber_has_a_copy_of_its_name)
{
	FILE *nowhere = fopen("/dev/null", "w");

	sennit_event_init(&started, SENNIT_EVENT_MANUAL);
	atomic_store(&ran, 0);
	must_schedule_here(name_and_wait, lend("lent", sizeof("lent")));
	while (!atomic_load(&ran))
		sennit_yield();
	take_back();
	sennit_report_print(w->s, fileno(nowhere));
	fclose(nowhere);
	sennit_event_set(&started);
	while (atomic_load(&ran) < 2)
		sennit_yield();
	end_loans();
}

/* --- objects -------------------------------------------------------------- */

static void make_channel(const sennit_allocator *a)
{
	sennit_channel c;
	int            value = 1;

	EXPECT(!sennit_channel_init(&c, 4, sizeof(int), a));
	take_back_all_but_context();
	EXPECT(!sennit_channel_send(&c, &value));
	EXPECT(!sennit_channel_receive(&c, &value));
	sennit_channel_destroy(&c);
}

static void make_pool(const sennit_allocator *a)
{
	sennit_pool p;
	void       *item;

	EXPECT(!sennit_pool_init(&p, LEND(sennit_pool_config,
					  { .size = sizeof(sennit_pool_config),
					    .item_size = 24,
					    .allocator = a })));
	take_back_all_but_context();
	EXPECT(!sennit_pool_borrow(&p, &item));
	sennit_pool_return(&p, item);
	sennit_pool_destroy(&p);
}

static int pass(void *data, void *argument)
{
	return 0;
}

static void make_dag(const sennit_allocator *a)
{
	sennit_dag_builder b;
	sennit_dag        *d;
	uint32_t           node;

	EXPECT(!sennit_dag_builder_init(&b, a));
	EXPECT(!sennit_dag_builder_add(&b, pass, NULL, lend_name(), &node));
	EXPECT(!sennit_dag_build(&d, &b, NULL, 0));
	take_back_all_but_context();
	EXPECT(!sennit_dag_run(d, NULL, NULL, SENNIT_NEVER));
	sennit_dag_destroy(d);
	sennit_dag_builder_destroy(&b);
}

static void make_shared(const sennit_allocator *a)
{
	sennit_event *e = sennit_shared_create(sizeof(*e), NULL, a);

	EXPECT(e);
	take_back_all_but_context();
	sennit_event_set(e);
	EXPECT(!sennit_event_wait(e));
	sennit_shared_release(e);
}

static void make_resources(const sennit_allocator *a)
{
	sennit_resources *r;
	sennit_scheduler *s;

	EXPECT(!sennit_resources_create(&r, 2, a));
	take_back_all_but_context();
	s = start_with(SENNIT_CONFIG(.workers = 1, .resources = r));
	end_scheduler(s);
	sennit_resources_release(r);
}

static void (*const makers[])(const sennit_allocator *a) = {
	make_channel, make_pool, make_dag, make_shared, make_resources,
};

TEST_WITH_WORKERS(an_object_has_a_copy_of_its_allocator)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		const sennit_allocator *a = lend_allocator();
		const struct purse     *p = a->context;

		makers[i](a);
		EXPECT(!atomic_load(&p->live));
		end_loans();
	}
}

/* --- lists of objects ----------------------------------------------------- */

TEST_WITH_WORKERS(a_wait_for_several_leaves_the_list)
{
	sennit_event   first, second;
	sennit_future  future;
	sennit_event **events;
	size_t         which;

	sennit_event_init(&first, SENNIT_EVENT_AUTO);
	sennit_event_init(&second, SENNIT_EVENT_AUTO);
	sennit_future_init(&future);
	events = lend((sennit_event *[]){ &first, &second },
		      2 * sizeof(void *));
	EXPECT(sennit_event_wait_any_until(events, 2, &which,
					   sennit_after(1000)) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_all_until(events, 2, sennit_after(1000)) ==
	       -ETIMEDOUT);
	take_back();
	sennit_event_set(&first);
	sennit_event_set(&second);
	sennit_future_set(&future, NULL);
	end_loans();
}
