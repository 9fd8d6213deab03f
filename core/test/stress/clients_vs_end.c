/* SPDX-License-Identifier: Apache-2.0 */
/* clients_vs_end.c - threads wait for the end of a scheduler, with and without
 * deadlines, revive it through weak handles, and register for notification, all
 * at once and repeatedly. Each scheduler must end once, with all work done,
 * every client must be notified once, and nothing may be left.
 */
#include "testing/with_workers.h"
#include "testing/proc_self.h"
#include "testing/random.h"
#include "testing/counting_allocator.h"
#include "sennit/end.h"

#include <errno.h>

enum { VISITORS = 4 };

struct life {
	sennit_scheduler      *s;
	sennit_weak_scheduler *weak;
	atomic_uint            ends;
	atomic_uint            due; /* number of enqueued tasks */
	atomic_uint            ran;
	atomic_uint            asked; /* number of requested notifications */
	atomic_uint            told;
	sennit_event           last; /* set by the last notification */
};

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

static void note_end(void *argument)
{
	struct life *l = argument;

	EXPECT(atomic_load(&l->ran) == atomic_load(&l->due));
	atomic_fetch_add(&l->ends, 1);
}

static void note(void *argument)
{
	struct life *l = argument;

	EXPECT(atomic_load(&l->ends) == 1);
	atomic_fetch_add(&l->told, 1);
}

static void just_run(void *argument)
{
	struct life *l = argument;

	atomic_fetch_add(&l->ran, 1);
}

static void send(struct life *l, sennit_scheduler *s)
{
	const sennit_task t = { .run = just_run, .argument = l };

	atomic_fetch_add(&l->due, 1);
	EXPECT(sennit_schedule_task_on(s, &t) == 0);
}

static void ask(struct life *l)
{
	atomic_fetch_add(&l->asked, 1);
	EXPECT(sennit_weak_scheduler_on_end(l->weak, note, l) == 0);
}

/* Release one reference in one of several ways. */
static void let_go(struct life *l, sennit_scheduler *s, uint64_t *random)
{
	unsigned patience = random_below(random, 50);

	switch (random_below(random, 4)) {
	case 0:
		sennit_scheduler_release(s);
		return;
	case 1:
		EXPECT(sennit_scheduler_shutdown(s, SENNIT_NEVER) == 0);
		EXPECT(atomic_load(&l->ends) == 1);
		return;
	default:
		if (sennit_scheduler_shutdown(
			    s, sennit_after(patience * SENNIT_MICROSECOND)))
			sennit_scheduler_release(s);
		else
			EXPECT(atomic_load(&l->ends) == 1);
	}
}

static void revive(struct life *l, uint64_t *random)
{
	sennit_scheduler *s;

	if (sennit_weak_scheduler_lock(l->weak, &s)) {
		EXPECT(sennit_weak_scheduler_lock(l->weak, &s) == -ESHUTDOWN);
		return;
	}
	EXPECT(s == l->s);
	if (random_below(random, 2))
		send(l, s);
	let_go(l, s, random);
}

static void visit(struct life *l, uint64_t *random)
{
	bool owns = true; /* whether it holds a reference */

	for (unsigned i = random_below(random, 6); i; i--) {
		if (random_below(random, 3) == 0)
			ask(l);
		else if (!owns)
			revive(l, random);
		else if (random_below(random, 2))
			send(l, l->s);
		else {
			owns = false;
			let_go(l, l->s, random);
		}
	}
	if (owns)
		let_go(l, l->s, random);
	sennit_weak_scheduler_release(l->weak);
}

struct visitor {
	pthread_t    thread;
	uint64_t     random;
	sennit_event come; /* auto */
	sennit_event gone; /* auto */
	struct life *life; /* NULL: end */
};

static struct visitor visitors[VISITORS];

static void *visit_all(void *argument)
{
	struct visitor *v = argument;

	for (;;) {
		EXPECT(!sennit_event_wait(&v->come));
		if (!v->life)
			return NULL;
		visit(v->life, &v->random);
		sennit_event_set(&v->gone);
	}
}

static void start_visitors(uint64_t *random)
{
	for (unsigned i = 0; i < VISITORS; i++) {
		struct visitor *v = &visitors[i];

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

static void end_visitors(void)
{
	call_visitors(NULL);
	for (unsigned i = 0; i < VISITORS; i++)
		pthread_join(visitors[i].thread, NULL);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void live(uint64_t *random)
{
	struct life l = { .s = NULL };

	sennit_event_init(&l.last, SENNIT_EVENT_MANUAL);
	l.s = start_with(SENNIT_CONFIG(.workers = 1 + random_below(random, 3),
				       .allocator = &counting,
				       .on_shutdown = note_end,
				       .on_shutdown_context = &l));
	l.weak = sennit_scheduler_weak(l.s);
	for (unsigned i = 0; i < VISITORS; i++) {
		sennit_scheduler_retain(l.s);
		sennit_weak_scheduler_retain(l.weak);
	}
	call_visitors(&l);
	let_go(&l, l.s, random);
	for (unsigned i = 0; i < VISITORS; i++)
		EXPECT(!sennit_event_wait(&visitors[i].gone));
	EXPECT(sennit_weak_scheduler_on_end(l.weak, set_event, &l.last) == 0);
	EXPECT(!sennit_event_wait(&l.last));
	EXPECT(atomic_load(&l.ends) == 1);
	EXPECT(atomic_load(&l.told) == atomic_load(&l.asked));
	sennit_weak_scheduler_release(l.weak);
}

#if defined(SN_TSAN)
enum { LIVES = 300 };
#elif defined(SN_ASAN)
enum { LIVES = 1500 };
#else
enum { LIVES = 6000 };
#endif

TEST_ALONE(each_client_is_told_once)
{
	uint64_t lives = scaled(LIVES);
	uint64_t random = random_stream(1);
	unsigned threads;

	start_visitors(&random);
	threads = threads_now();
	while (lives-- > 0 && !atomic_load(&broken_claims))
		live(&random);
	assert_soon(!atomic_load(&tally.bytes));
	assert_soon(threads_now() <= threads);
	end_visitors();
}
