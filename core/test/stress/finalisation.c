/* SPDX-License-Identifier: Apache-2.0 */
/* finalisation.c - schedulers whose last references are released in every way
 * at once: by tasks, by bound threads and by unbound threads, which still
 * enqueue and wake until they release theirs, and which a task takes again
 * while no reference is left. Each scheduler must end once, with all work done.
 * After all of them, the process must have no more threads, mappings, files or
 * bytes than before.
 */
#include "testing/with_workers.h"
#include "testing/proc_self.h"
#include "testing/random.h"
#include "testing/counting_allocator.h"

enum { VISITORS = 2, WAITERS = 3 };

struct life {
	sennit_scheduler *s;
	sennit_event      ended;
	atomic_uint       ends;
	atomic_uint       due; /* number of enqueued tasks */
	atomic_uint       ran;
	sennit_event      doors[WAITERS]; /* a visitor opens each of them */
	sennit_event      revived;        /* a task may take a reference
					   * again */
};

/* --- resources of the process ------------------------------------------- */

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

/* --- tasks -------------------------------------------------------------- */

static void note_end(void *argument)
{
	struct life *l = argument;

	EXPECT(atomic_load(&l->ran) == atomic_load(&l->due));
	atomic_fetch_add(&l->ends, 1);
	sennit_event_set(&l->ended);
}

static void just_run(void *argument)
{
	struct life *l = argument;

	atomic_fetch_add(&l->ran, 1);
}

static void nap_and_run(void *argument)
{
	sennit_sleep(1);
	just_run(argument);
}

static void release_and_run(void *argument)
{
	struct life *l = argument;

	just_run(l);
	sennit_scheduler_release(l->s);
}

/* By then this task may be the only thing that keeps the scheduler alive. */
static void nap_and_revive(void *argument)
{
	struct life *l = argument;

	sennit_sleep(20 * SENNIT_MICROSECOND);
	sennit_scheduler_retain(l->s);
	just_run(l);
	sennit_event_set(&l->revived);
}

struct door {
	struct life *life;
	unsigned     number;
};

static void wait_at_door(void *argument)
{
	const struct door *d = argument;

	EXPECT(!sennit_event_wait(&d->life->doors[d->number]));
	just_run(d->life);
}

static void send(struct life *l, sennit_task_fn *run)
{
	const sennit_task t = { .run = run, .argument = l };

	atomic_fetch_add(&l->due, 1);
	EXPECT(sennit_schedule_task_on(l->s, &t) == 0);
}

static void send_to_door(struct life *l, unsigned number)
{
	struct door       d = { l, number };
	const sennit_task t = { .run = wait_at_door,
				.argument = &d,
				.copy_size = sizeof(d) };

	atomic_fetch_add(&l->due, 1);
	EXPECT(sennit_schedule_task_on(l->s, &t) == 0);
}

static void send_some(struct life *l, uint64_t *random)
{
	unsigned n = random_below(random, 6);

	for (; n; n--)
		send(l, random_below(random, 2) ? just_run : nap_and_run);
}

/* --- holders of references ---------------------------------------------- */

/* A thread of the program that takes part in all lives. */
struct visitor {
	pthread_t    thread;
	unsigned     index;
	uint64_t     random;
	sennit_event come; /* auto */
	sennit_event gone; /* auto */
	struct life *life; /* NULL: end */
};

/* Release one reference as the last action. */
static void let_go(struct life *l, uint64_t *random)
{
	switch (random_below(random, 3)) {
	case 0:
		sennit_scheduler_release(l->s);
		break;
	case 1:
		send(l, release_and_run);
		break;
	default:
		EXPECT(sennit_thread_bind(l->s) == 0);
		sennit_scheduler_release(l->s);
		send_some(l, random); /* its binding counts as a reference */
		sennit_thread_unbind();
	}
}

/* Work and wake while holding the reference. A door may be opened after that,
 * because waking needs no reference. */
static void visit(struct visitor *v, struct life *l)
{
	bool late = random_below(&v->random, 2);

	send_some(l, &v->random);
	if (late)
		let_go(l, &v->random);
	for (unsigned i = v->index; i < WAITERS; i += VISITORS)
		sennit_event_set(&l->doors[i]);
	if (!late)
		let_go(l, &v->random);
}

static void *visit_all(void *argument)
{
	struct visitor *v = argument;

	for (;;) {
		EXPECT(!sennit_event_wait(&v->come));
		if (!v->life)
			return NULL;
		visit(v, v->life);
		sennit_event_set(&v->gone);
	}
}

static struct visitor visitors[VISITORS];

static void start_visitors(uint64_t *random)
{
	for (unsigned i = 0; i < VISITORS; i++) {
		struct visitor *v = &visitors[i];

		v->index = i;
		v->random = random_from(random);
		sennit_event_init(&v->come, SENNIT_EVENT_AUTO);
		sennit_event_init(&v->gone, SENNIT_EVENT_AUTO);
		v->thread = must_start_thread(visit_all, v);
	}
}

static void call_visitors(struct life *l)
{
	for (unsigned i = 0; i < VISITORS; i++) {
		visitors[i].life = l;
		sennit_event_set(&visitors[i].come);
	}
}

static void await_visitors(void)
{
	for (unsigned i = 0; i < VISITORS; i++)
		EXPECT(!sennit_event_wait(&visitors[i].gone));
}

static void end_visitors(void)
{
	call_visitors(NULL);
	for (unsigned i = 0; i < VISITORS; i++)
		pthread_join(visitors[i].thread, NULL);
}

/* --- one life ----------------------------------------------------------- */

static void begin(struct life *l, uint64_t *random)
{
	sennit_event_init(&l->ended, SENNIT_EVENT_MANUAL);
	sennit_event_init(&l->revived, SENNIT_EVENT_AUTO);
	for (unsigned i = 0; i < WAITERS; i++)
		sennit_event_init(&l->doors[i], SENNIT_EVENT_MANUAL);
	l->s = start_with(SENNIT_CONFIG(.workers = 1 + random_below(random, 4),
					.spin_ns = random_below(random, 2)
							   ? SENNIT_SPIN_NONE
							   : 0,
					.allocator = &counting,
					.on_shutdown = note_end,
					.on_shutdown_context = l));
	for (unsigned i = 0; i < VISITORS; i++)
		sennit_scheduler_retain(l->s);
}

/* When on_shutdown has been called, only one memory block remains to be
 * freed. */
static void live(uint64_t *random)
{
	struct life l = { .s = NULL };
	bool        revives = random_below(random, 2);

	begin(&l, random);
	for (unsigned i = 0; i < WAITERS; i++)
		send_to_door(&l, i);
	if (revives)
		send(&l, nap_and_revive);
	call_visitors(&l);
	let_go(&l, random);
	if (revives) {
		EXPECT(!sennit_event_wait(&l.revived));
		send_some(&l, random);
		let_go(&l, random);
	}
	await_visitors();
	EXPECT(sennit_event_wait_until(&l.ended, sennit_after(GIVE_UP)) == 0);
	EXPECT(atomic_load(&l.ends) == 1);
}

static void live_often(uint64_t lives, uint64_t *random)
{
	while (lives-- > 0 && !atomic_load(&broken_claims))
		live(random);
}

/* --- all lives ---------------------------------------------------------- */

#if defined(SN_TSAN)
enum { LIVES = 300 };
#elif defined(SN_ASAN)
enum { LIVES = 2000 };
#else
enum { LIVES = 10000 };
#endif

TEST_ALONE(each_ends_once_and_leaves_nothing)
{
	const uint64_t lives = scaled(LIVES);
	uint64_t       random = random_stream(1);
	unsigned       threads, files, mappings;

	start_visitors(&random);
	threads = threads_now();
	live_often(50, &random); /* libc keeps some stacks and arenas */
	assert_soon(!atomic_load(&tally.bytes));
	assert_soon(threads_now() <= threads);
	files = files_now();
	mappings = mappings_now();
	live_often(lives, &random);
	assert_soon(!atomic_load(&tally.bytes));
	assert_soon(threads_now() <= threads);
	assert_int_equal(files_now(), files);
#if !defined(SN_ASAN) && !defined(SN_TSAN)
	/* Much less than one mapping per life. */
	assert_in_range(mappings_now(), 1, mappings + 40);
#else
	(void)mappings;
#endif
	end_visitors();
}
