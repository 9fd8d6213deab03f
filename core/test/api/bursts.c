/* SPDX-License-Identifier: Apache-2.0 */
/* bursts.c - when many tasks wait at the same time, the first worker that wakes
 * does not begin all of them: neither if all tasks wait, nor if every k-th does
 * and the others end.
 *
 * The order is forced: the test replaces syscall(), and sleeping workers do not
 * return from its version. When all tasks are queued and all workers sleep, the
 * test releases the worker that was woken first. That worker begins what it
 * takes until it sleeps again, however long that takes.
 * core/test/explore/bursts.c tests orders that a seed chooses, and what the
 * other workers get.
 */
#include "next_syscall.h"
#include "testing/with_workers.h"

enum { WAITING = 40, MOST_EVERY = 8, MOST_WORKERS = 8, NOBODY = MOST_WORKERS };

static _Thread_local uint32_t my_worker = NOBODY;

/* --- workers that stay asleep ------------------------------------------- */

static atomic_uint endless; /* number of workers that sleep without a
			     * deadline */
static atomic_bool held;    /* sleeping workers stay asleep, except let_go */
static atomic_uint let_go;  /* this worker may return; NOBODY: none */
static atomic_uint first;   /* the worker that was woken first since this was
			     * NOBODY */

static struct {
	atomic_uint sleeps; /* how many times it fell asleep */
	atomic_long word;   /* the word on which it sleeps */
} workers[MOST_WORKERS];

static void note_wake(const struct call *c)
{
	unsigned nobody = NOBODY;

	for (unsigned i = 0; i < MOST_WORKERS; i++)
		if (atomic_load(&workers[i].word) == c->arguments[0])
			atomic_compare_exchange_strong(&first, &nobody, i);
}

static long fall_asleep(const struct call *c)
{
	const bool is_last = is_endless(c);
	long       result;

	atomic_store(&workers[my_worker].word, c->arguments[0]);
	atomic_fetch_add(&workers[my_worker].sleeps, 1);
	atomic_fetch_add(&endless, is_last);
	result = make_call(c);
	while (atomic_load(&held) && atomic_load(&let_go) != my_worker)
		sched_yield();
	atomic_fetch_sub(&endless, is_last);
	return result;
}

long syscall(long number, ...)
{
	struct call c;
	va_list     arguments;

	va_start(arguments, number);
	c = call_of(number, arguments);
	va_end(arguments);
	if (is_wake(&c))
		note_wake(&c);
	return my_worker != NOBODY && is_sleep(&c) ? fall_asleep(&c)
						   : make_call(&c);
}

static void note_worker(void *unused, uint32_t index)
{
	my_worker = index;
}

/* Wait, with this thread and not its fiber, until the claim holds. False: it
 * does not hold in time. */
#define HAPPENS(claim)                                     \
	__extension__({                                    \
		sennit_time spent_ = 0;                    \
		bool        happened_;                     \
		while (!(happened_ = (claim)) &&           \
		       count_pause(&spent_, sennit_now())) \
			;                                  \
		happened_;                                 \
	})

/* Wait until all workers sleep, and keep them asleep. */
static void hold(uint32_t count)
{
	assert_true(HAPPENS(atomic_load(&endless) == count));
	atomic_store(&first, NOBODY);
	atomic_store(&let_go, NOBODY);
	atomic_store(&held, true);
}

/* Let the worker that was woken first run until it sleeps again. Returns its
 * index. */
static unsigned let_first_go(void)
{
	unsigned who, slept;

	assert_true(HAPPENS(atomic_load(&first) != NOBODY));
	who = atomic_load(&first);
	slept = atomic_load(&workers[who].sleeps);
	atomic_store(&let_go, who);
	assert_true(HAPPENS(atomic_load(&workers[who].sleeps) > slept));
	return who;
}

/* --- bursts ------------------------------------------------------------- */

struct burst {
	sennit_scheduler *s;
	bool              at_once;
	unsigned          every; /* every so many-th task waits; the others end
				  * at once */
	atomic_uint       begun[MOST_WORKERS]; /* tasks that wait, by the index
						* of their worker */
	sennit_event      open;
	sennit_wait_group waiting, done;
};

static void wait_at_once(void *burst)
{
	struct burst *b = burst;

	atomic_fetch_add(&b->begun[my_worker], 1);
	sennit_wait_group_done(&b->waiting);
	EXPECT(!sennit_event_wait(&b->open));
	sennit_wait_group_done(&b->done);
}

static void end_at_once(void *burst)
{
	struct burst *b = burst;

	sennit_wait_group_done(&b->done);
}

static void send_all(void *burst)
{
	struct burst  *b = burst;
	sennit_task    tasks[WAITING * MOST_EVERY] = { { .run = NULL } };
	const unsigned count = WAITING * b->every;

	for (unsigned i = 0; i < count; i++)
		tasks[i] = (sennit_task){ .run = (i + 1) % b->every
							 ? end_at_once
							 : wait_at_once,
					  .argument = b };
	if (b->at_once)
		EXPECT(!sennit_schedule_many_on(b->s, tasks, count));
	for (unsigned i = 0; i < count && !b->at_once; i++)
		EXPECT(!sennit_schedule_task_on(b->s, &tasks[i]));
}

typedef void sender(struct burst *b);

static void from_here(struct burst *b)
{
	send_all(b);
}

static void from_a_task(struct burst *b)
{
	const sennit_task task = { .run = send_all, .argument = b };

	EXPECT(!sennit_schedule_task_on(b->s, &task));
}

static void from_a_thread(struct burst *b)
{
	pthread_join(start_on_thread(send_all, b), NULL);
}

/* The most waiting tasks that the first worker may begin: its own share, half
 * as much again, and those that it had begun before it knew that the others
 * wait. */
static unsigned most_of(const struct world *w)
{
	return WAITING / w->workers + WAITING / w->workers / 2 + 4;
}

static void assert_shared_of(struct world *w, uint32_t placement, bool at_once,
			     sender *send, unsigned every)
{
	struct burst b = { .at_once = at_once, .every = every };
	unsigned     who, begun;

	b.s = move_to(SENNIT_CONFIG(.workers = w->workers,
				    .placement = placement,
				    .trim_ms = SENNIT_TRIM_NEVER,
				    .thread_init = note_worker));
	sennit_event_init(&b.open, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&b.waiting, WAITING);
	sennit_wait_group_init(&b.done, WAITING * every);
	hold(w->workers);
	send(&b);
	who = let_first_go();
	begun = atomic_load(&b.begun[who]);
	atomic_store(&held, false);
	sennit_wait_group_wait(&b.waiting);
	sennit_event_set(&b.open);
	sennit_wait_group_wait(&b.done);
	move_back(w, b.s);
	assert_in_range(begun, 0, most_of(w));
}

static void assert_shared(struct world *w, uint32_t placement, bool at_once,
			  sender *send)
{
	for (unsigned every = 1; every <= MOST_EVERY; every++)
		assert_shared_of(w, placement, at_once, send, every);
}

TEST_WITH_SEVERAL(bursts_are_left_to_idle_workers)
{
	assert_shared(w, SENNIT_PLACEMENT_LOCAL, false, from_here);
	assert_shared(w, SENNIT_PLACEMENT_LOCAL, false, from_a_task);
	assert_shared(w, SENNIT_PLACEMENT_LOCAL, false, from_a_thread);
}

TEST_WITH_SEVERAL(batches_are_left_to_idle_workers)
{
	assert_shared(w, SENNIT_PLACEMENT_LOCAL, true, from_here);
	assert_shared(w, SENNIT_PLACEMENT_LOCAL, true, from_a_task);
	assert_shared(w, SENNIT_PLACEMENT_LOCAL, true, from_a_thread);
}

TEST_WITH_SEVERAL(so_are_those_of_placement_spread)
{
	assert_shared(w, SENNIT_PLACEMENT_SPREAD, false, from_here);
	assert_shared(w, SENNIT_PLACEMENT_SPREAD, false, from_a_task);
	assert_shared(w, SENNIT_PLACEMENT_SPREAD, true, from_a_task);
}
