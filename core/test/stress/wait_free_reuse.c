/* SPDX-License-Identifier: Apache-2.0 */
/* wait_free_reuse.c - the object of a wait is overwritten and reused as soon as
 * the wait returns. A signaller that still accesses it causes a changed
 * pattern, a lost wake or a sanitizer's report. */
#include "deadlines.h"
#include "testing/crowd.h"
#include "testing/random.h"
#include "passing.h"

enum {
	NOTHING,
	EVENT,
	GROUP,
	FUTURE,
	RWLOCK,
	SHARED,
	SEMAPHORE,
	BARRIER,
	ONCE,
	KINDS
};

union thing {
	sennit_event      event;
	sennit_wait_group group;
	sennit_future     future;
	sennit_rwlock     rwlock;
	sennit_semaphore  semaphore;
	sennit_barrier    barrier;
	sennit_once       once;
	unsigned char     bytes[64];
};

/* One task waits, one serves. The server comes first where it must. */
struct cell {
	union thing  thing;
	sennit_event asked; /* auto: serve `kind`, or it is over */
	sennit_event ready; /* auto: the lock is held, or the function runs */
	unsigned     kind;
	unsigned     rounds;
	atomic_uint  roles;
	uint64_t     random; /* of the waiter */
	uint64_t     server; /* of the server */

	sennit_continuation sequel; /* of the future, sometimes */
	atomic_uint         sequels;
};

static void dawdle(uint64_t *random)
{
	unsigned pauses = random_below(random, 4);

	while (pauses--)
		sennit_yield();
}

/* --- the server --------------------------------------------------------- */

static void be_ready(void *argument)
{
	struct cell *c = argument;

	sennit_event_set(&c->ready);
	dawdle(&c->server);
}

static void serve(struct cell *c, unsigned kind)
{
	switch (kind) {
	case EVENT:
		be_ready(c);
		sennit_event_set(&c->thing.event);
		break;
	case GROUP:
		be_ready(c);
		sennit_wait_group_done(&c->thing.group);
		break;
	case FUTURE:
		be_ready(c);
		sennit_future_set(&c->thing.future, c);
		break;
	case RWLOCK:
		sennit_rwlock_lock(&c->thing.rwlock);
		be_ready(c);
		sennit_rwlock_unlock(&c->thing.rwlock);
		break;
	case SHARED:
		sennit_rwlock_lock_shared(&c->thing.rwlock);
		be_ready(c);
		sennit_rwlock_unlock_shared(&c->thing.rwlock);
		break;
	case SEMAPHORE:
		be_ready(c);
		sennit_semaphore_release(&c->thing.semaphore, 2);
		break;
	case BARRIER:
		be_ready(c);
		(void)sennit_barrier_wait(&c->thing.barrier);
		break;
	default:
		sennit_once_call(&c->thing.once, be_ready, c);
	}
}

/* --- the waiter --------------------------------------------------------- */

static void must_not_run(void *argument)
{
	EXPECT(false);
}

static int must_not_attempt(void *argument)
{
	must_not_run(argument);
	return 0;
}

static void count_sequel(void *argument, void *value, int error)
{
	struct cell *c = argument;

	EXPECT(value == c && error == 0);
	atomic_fetch_add(&c->sequels, 1);
}

/* Its continuation may run when the future is gone. */
static void attach_sequel(struct cell *c)
{
	c->sequel = (sennit_continuation){ .run = count_sequel, .argument = c };
	if (random_below(&c->random, 2))
		c->sequel.flags = SENNIT_CONTINUATION_INLINE;
	sennit_future_then(&c->thing.future, &c->sequel);
}

static void make(struct cell *c, unsigned kind)
{
	union thing *t = &c->thing;

	memset(t, 0, sizeof(*t));
	if (kind == EVENT && random_below(&c->random, 2))
		sennit_event_init(&t->event, SENNIT_EVENT_AUTO);
	else if (kind == GROUP)
		sennit_wait_group_init(&t->group, 1);
	else if (kind == FUTURE)
		attach_sequel(c);
	else if (kind == BARRIER)
		sennit_barrier_init(&t->barrier, 2);
}

static void wait_for_future(struct cell *c, sennit_time deadline)
{
	sennit_future        never = SENNIT_FUTURE_INIT;
	sennit_future *const both[] = { &never, &c->thing.future };
	size_t               which = 7;
	void                *value = NULL;

	switch (random_below(&c->random, 3)) {
	case 0:
		EXPECT(!sennit_future_get_until(both[1], &value, deadline));
		EXPECT(value == c);
		break;
	case 1:
		while (!sennit_future_is_set(both[1]))
			let_others_run();
		break;
	default:
		EXPECT(!sennit_future_wait_any_until(both, 2, &which,
						     deadline));
		EXPECT(which == 1);
	}
}

static void wait_for_it(struct cell *c, unsigned kind, sennit_time deadline)
{
	union thing *t = &c->thing;

	switch (kind) {
	case EVENT:
		EXPECT(!sennit_event_wait_until(&t->event, deadline));
		break;
	case GROUP:
		EXPECT(!sennit_wait_group_wait_until(&t->group, deadline));
		break;
	case FUTURE:
		wait_for_future(c, deadline);
		break;
	case RWLOCK:
	case SHARED:
		EXPECT(!sennit_rwlock_lock_until(&t->rwlock, deadline));
		break;
	case SEMAPHORE:
		EXPECT(!sennit_semaphore_acquire_until(&t->semaphore, 2,
						       deadline));
		break;
	case BARRIER: /* a party with a deadline could withdraw, which accesses
		       * it later */
		(void)sennit_barrier_wait(&t->barrier);
		break;
	default:
		if (deadline == SENNIT_NEVER)
			sennit_once_call(&t->once, must_not_run, NULL);
		else
			EXPECT(!sennit_once_attempt_until(
				&t->once, must_not_attempt, NULL, deadline));
	}
}

/* Overwrite, pause, check. */
static void reuse(struct cell *c)
{
	const volatile unsigned char *bytes = c->thing.bytes;

	memset(&c->thing, PATTERN, sizeof(c->thing));
	dawdle(&c->random);
	for (unsigned i = 0; i < sizeof(c->thing); i++)
		EXPECT(bytes[i] == PATTERN);
}

/* The same for the lock, which the waiter holds. It gets its bytes back,
 * because a task must not end with a lock held. */
static void reuse_held(struct cell *c)
{
	const union thing held = c->thing;

	reuse(c);
	c->thing = held;
	sennit_rwlock_unlock(&c->thing.rwlock);
}

static void ask(struct cell *c, unsigned kind)
{
	c->kind = kind;
	sennit_event_set(&c->asked);
}

static void wait_in_cell(struct cell *c)
{
	const unsigned    kind = 1 + random_below(&c->random, KINDS - 1);
	const sennit_time t = random_below(&c->random, 2)
				      ? sennit_after(100 * SENNIT_SECOND)
				      : SENNIT_NEVER;

	make(c, kind);
	ask(c, kind);
	EXPECT(!sennit_event_wait(&c->ready));
	wait_for_it(c, kind, t);
	if (kind == RWLOCK || kind == SHARED)
		reuse_held(c);
	else
		reuse(c);
	if (kind == FUTURE) {
		EXPECT_SOON(atomic_load(&c->sequels) == 1);
		atomic_store(&c->sequels, 0);
	}
}

static void wait_in_rounds(struct cell *c)
{
	for (unsigned i = 0; i < c->rounds; i++)
		wait_in_cell(c);
	ask(c, NOTHING);
}

static void serve_rounds(struct cell *c)
{
	for (;;) {
		EXPECT(!sennit_event_wait(&c->asked));
		if (!c->kind)
			return;
		serve(c, c->kind);
	}
}

static void use_cell(void *argument)
{
	struct cell *c = argument;

	if (atomic_fetch_add(&c->roles, 1))
		serve_rounds(c);
	else
		wait_in_rounds(c);
}

/* Each kind, with fibers and threads on either side. */
TEST_WITH_WORKERS(nobody_touches_what_was_waited_for)
{
	static const struct {
		unsigned tasks, bound, unbound;
	} who[] = { { 2, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 }, { 0, 1, 1 } };
	struct cell  cells[4];
	struct crowd crowds[4];

	memset(cells, 0, sizeof(cells));
	for (unsigned i = 0; i < 4; i++) {
		sennit_event_init(&cells[i].asked, SENNIT_EVENT_AUTO);
		sennit_event_init(&cells[i].ready, SENNIT_EVENT_AUTO);
		cells[i].random = random_stream(2 * i);
		cells[i].server = random_stream(2 * i + 1);
		cells[i].rounds = (unsigned)scaled(LOAD(3000));
		crowds[i] = (struct crowd){ .s = w->s,
					    .run = use_cell,
					    .argument = &cells[i],
					    .tasks = who[i].tasks,
					    .bound = who[i].bound,
					    .unbound = who[i].unbound };
		gather(&crowds[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		disperse(&crowds[i]);
}

/* --- a mutex that passes from owner to owner; the last one reuses it ---- */

struct passed {
	sennit_mutex lock;
	unsigned     owners; /* under lock */
};

static void leave(void *passed)
{
	struct passed *p = passed;
	unsigned       left;

	sennit_mutex_lock(&p->lock);
	left = --p->owners;
	sennit_mutex_unlock(&p->lock);
	if (!left)
		scrap(p, sizeof(*p));
}

static void *make_passed(void)
{
	struct passed *p = calloc(1, sizeof(*p));

	sennit_mutex_init(&p->lock);
	p->owners = 2;
	return p;
}

TEST_WITH_WORKERS(nobody_touches_a_mutex_that_was_handed_on)
{
	struct passing g = { .make = make_passed,
			     .leave = leave,
			     .rounds = (unsigned)scaled(LOAD(4000)) };

	pass_around(&g, w->s);
}
