/* SPDX-License-Identifier: Apache-2.0 */
/* shared_release_vs_signal.c - several tasks share an object, each through one
 * reference. Some wait, one signals, and each releases its reference as soon as
 * it is done. The last one frees the object. Its memory is overwritten at once,
 * and must not be accessed later.
 */
#include "testing/crowd.h"
#include "testing/random.h"

enum { EVENT, AUTO_EVENT, WAIT_GROUP, SEMAPHORE, COND, KINDS };
enum { WAITERS = 3, SHARERS = WAITERS + 1, POISON = 0x5a, KEPT = 64 };

/* --- an allocator that overwrites, and checks before it frees ------------ */

struct grave {
	unsigned char *bytes;
	size_t         size;
};

static struct {
	pthread_mutex_t lock;
	struct grave    kept[KEPT]; /* under lock */
	unsigned        next;       /* under lock */
	atomic_long     live;
} graves = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *take(void *unused, size_t size, size_t alignment)
{
	void *memory;

	if (posix_memalign(&memory, alignment, size))
		return NULL;
	atomic_fetch_add(&graves.live, 1);
	return memory;
}

static void free_grave(struct grave *g)
{
	for (size_t i = 0; i < g->size; i++)
		EXPECT(g->bytes[i] == POISON);
	free(g->bytes);
	*g = (struct grave){ NULL, 0 };
}

static void give(void *unused, void *memory, size_t size)
{
	memset(memory, POISON, size);
	atomic_fetch_sub(&graves.live, 1);
	pthread_mutex_lock(&graves.lock);
	free_grave(&graves.kept[graves.next % KEPT]);
	graves.kept[graves.next++ % KEPT] = (struct grave){ memory, size };
	pthread_mutex_unlock(&graves.lock);
}

static const sennit_allocator allocator = { take, give, NULL };

/* --- the shared objects -------------------------------------------------- */

struct thing {
	unsigned           kind;
	sennit_event      *event;
	sennit_wait_group *group;
	sennit_semaphore  *permits;
	sennit_mutex      *lock;
	sennit_cond       *changed;
};

static void *make_one(size_t size)
{
	void *object = sennit_shared_create(size, NULL, &allocator);

	EXPECT(object);
	return object;
}

static struct thing make(unsigned kind)
{
	struct thing t = { .kind = kind };

	switch (kind) {
	case EVENT:
		t.event = make_one(sizeof(*t.event));
		break;
	case AUTO_EVENT:
		t.event = make_one(sizeof(*t.event));
		sennit_event_init(t.event, SENNIT_EVENT_AUTO);
		break;
	case WAIT_GROUP:
		t.group = make_one(sizeof(*t.group));
		sennit_wait_group_init(t.group, 1);
		break;
	case SEMAPHORE:
		t.permits = make_one(sizeof(*t.permits));
		break;
	default:
		t.lock = make_one(sizeof(*t.lock));
		t.changed = make_one(sizeof(*t.changed));
	}
	return t;
}

static void for_each(const struct thing *t, void (*call)(void *object))
{
	void *const all[] = { t->event, t->group, t->permits, t->changed,
			      t->lock };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i])
			call(all[i]);
}

static void retain_one(void *object)
{
	sennit_shared_retain(object);
}

static void retain(const struct thing *t)
{
	for_each(t, retain_one);
}

static void release(const struct thing *t)
{
	for_each(t, sennit_shared_release);
}

/* A round, which outlives its object. */
struct round {
	struct thing thing;  /* fixed */
	bool         open;   /* under thing.lock */
	atomic_uint  comers; /* arrivals in the round: one of them signals */
};

static void signal_all(struct round *r, const struct thing *t)
{
	switch (t->kind) {
	case EVENT:
		sennit_event_set(t->event);
		break;
	case AUTO_EVENT: /* each waiter sets it for the next one */
		sennit_event_set(t->event);
		break;
	case WAIT_GROUP:
		EXPECT(sennit_wait_group_done(t->group));
		break;
	case SEMAPHORE:
		sennit_semaphore_release(t->permits, WAITERS);
		break;
	default:
		sennit_mutex_lock(t->lock);
		r->open = true;
		sennit_cond_notify_all(t->changed);
		sennit_mutex_unlock(t->lock);
	}
}

static void wait_for(struct round *r, const struct thing *t)
{
	switch (t->kind) {
	case EVENT:
		EXPECT(!sennit_event_wait(t->event));
		break;
	case AUTO_EVENT:
		EXPECT(!sennit_event_wait(t->event));
		sennit_event_set(t->event);
		break;
	case WAIT_GROUP:
		sennit_wait_group_wait(t->group);
		break;
	case SEMAPHORE:
		EXPECT(!sennit_semaphore_acquire(t->permits, 1));
		break;
	default:
		sennit_mutex_lock(t->lock);
		while (!r->open)
			EXPECT(!sennit_cond_wait(t->changed, t->lock));
		sennit_mutex_unlock(t->lock);
	}
}

/* The `signaller`-th to arrive signals, the others wait. */
static void share(struct round *r, unsigned signaller)
{
	const struct thing t = r->thing;

	if (atomic_fetch_add(&r->comers, 1) == signaller)
		signal_all(r, &t);
	else
		wait_for(r, &t);
	release(&t);
}

/* --- rounds -------------------------------------------------------------- */

struct game {
	struct round   round[2];
	sennit_barrier start;
	uint64_t       rounds;
	atomic_uint    roles;
};

static void set_up(struct round *r, uint64_t *random)
{
	r->thing = make(random_below(random, KINDS));
	r->open = false;
	atomic_store(&r->comers, 0);
	for (unsigned i = 1; i < SHARERS; i++)
		retain(&r->thing);
}

/* All take part. The first to arrive prepares the next round while the others
 * wait at the barrier. Two round objects alternate, because some tasks may
 * still be leaving the previous round. */
static void play(void *argument)
{
	struct game   *g = argument;
	const unsigned role = atomic_fetch_add(&g->roles, 1);
	uint64_t       random = random_stream(role);

	for (uint64_t i = 0; i < g->rounds; i++) {
		struct round *r = &g->round[i % 2];

		if (!role)
			set_up(r, &random);
		(void)sennit_barrier_wait(&g->start);
		share(r, (unsigned)(i / 2 % SHARERS));
	}
}

TEST_WITH_WORKERS(nobody_touches_what_the_last_has_freed)
{
	static const struct {
		unsigned tasks, bound, unbound;
	} who[] = { { 4, 0, 0 }, { 2, 1, 1 }, { 0, 2, 2 } };

	for (unsigned i = 0; i < 3; i++) {
		struct game  g = { .rounds = scaled(LOAD(3000)) };
		struct crowd c = { .s = w->s,
				   .run = play,
				   .argument = &g,
				   .tasks = who[i].tasks,
				   .bound = who[i].bound,
				   .unbound = who[i].unbound };

		sennit_barrier_init(&g.start, SHARERS);
		gather(&c);
		disperse(&c);
		assert_int_equal(atomic_load(&graves.live), 0);
	}
	for (unsigned i = 0; i < KEPT; i++)
		free_grave(&graves.kept[i]);
}
