/* SPDX-License-Identifier: Apache-2.0 */
/* sync_free_reuse.c - as wait_free_reuse.c, for reader-writer lock, semaphore,
 * barrier and once: the object of a wait is overwritten as soon as the wait
 * returns. */
#include "../api/crowd.h"
#include "../random.h"

enum { PATTERN = 0xa5 };

enum { NOTHING, RWLOCK, SHARED, SEMAPHORE, BARRIER, ONCE, KINDS };

union thing {
	sennit_rwlock    rwlock;
	sennit_semaphore semaphore;
	sennit_barrier   barrier;
	sennit_once      once;
	unsigned char    bytes[64];
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
		sennit_semaphore_give(&c->thing.semaphore, 2);
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
	(void)argument;
	EXPECT(false);
}

static int must_not_attempt(void *argument)
{
	must_not_run(argument);
	return 0;
}

static void make(union thing *t, unsigned kind)
{
	memset(t, 0, sizeof(*t));
	if (kind == BARRIER)
		sennit_barrier_init(&t->barrier, 2);
}

static void wait_for_it(union thing *t, unsigned kind, sennit_time deadline)
{
	switch (kind) {
	case RWLOCK:
	case SHARED:
		EXPECT(!sennit_rwlock_lock_until(&t->rwlock, deadline));
		break;
	case SEMAPHORE:
		EXPECT(!sennit_semaphore_take_until(&t->semaphore, 2,
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
	unsigned                      i;

	memset(&c->thing, PATTERN, sizeof(c->thing));
	dawdle(&c->random);
	for (i = 0; i < sizeof(c->thing); i++)
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

	make(&c->thing, kind);
	ask(c, kind);
	EXPECT(!sennit_event_wait(&c->ready));
	wait_for_it(&c->thing, kind, t);
	if (kind == RWLOCK || kind == SHARED)
		reuse_held(c);
	else
		reuse(c);
}

static void wait_in_rounds(struct cell *c)
{
	unsigned i;

	for (i = 0; i < c->rounds; i++)
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
	unsigned     i;

	memset(cells, 0, sizeof(cells));
	for (i = 0; i < 4; i++) {
		sennit_event_init(&cells[i].asked, SENNIT_EVENT_AUTO, false);
		sennit_event_init(&cells[i].ready, SENNIT_EVENT_AUTO, false);
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
	for (i = 0; i < 4; i++)
		disperse(&crowds[i]);
}
