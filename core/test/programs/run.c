/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a world with its objects and actors, from the first call to the last,
 * and what must be so meanwhile. */
#include "sennit/fork_join.h" /* before a variable has the name `run` */

#include "run.h"

#include "base/torture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* LATE: ns; timers end in batches of five ticks (queue/timers.h). */
enum { PAGE = 4096, ROUNDS = 100, LATE = 120000 };

/* Whether a deadline should have ended by now what began `since`. */
static bool has_passed(uint64_t deadline, uint64_t since, uint64_t now)
{
	return deadline < SENNIT_UNCANCELLED &&
	       (deadline > since ? deadline : since) + LATE <= now;
}

struct run       run;
struct coverage *coverage;

static void *run_actor(void *actor);

/* --- failures ----------------------------------------------------- */

void program_failed(const char *what, ...)
{
	va_list list;

	va_start(list, what);
	fprintf(stderr, "program %" PRIu64 " failed: ", run.p->seed);
	vfprintf(stderr, what, list);
	fprintf(stderr, "\n");
	va_end(list);
	fflush(stderr);
	abort();
}

/* --- memory that is counted, and refused -------------------------- */

static void *counted_allocate(void *context, size_t size, size_t alignment)
{
	void     *memory = NULL;
	const int n = atomic_fetch_add(&run.allocations, 1) + 1;

	(void)context;
	if (run.refusing && !(n % run.p->world.refusals)) {
		atomic_fetch_add(&run.refused, 1);
		return NULL;
	}
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (posix_memalign(&memory, alignment, size))
		return NULL;
	atomic_fetch_add(&run.live, 1);
	return memory;
}

static void counted_release(void *context, void *memory, size_t size)
{
	(void)context;
	if (!memory)
		return;
	memset(memory, 0xa5, size);
	free(memory);
	atomic_fetch_sub(&run.live, 1);
}

static const sennit_allocator allocator = { counted_allocate, counted_release,
					    NULL };

/* --- histories ---------------------------------------------------- */

struct record *note(struct actor *a, uint8_t object, unsigned effect,
		    int32_t value)
{
	const unsigned i = atomic_fetch_add(&run.records, 1);
	struct record *r = &run.record[i];

	if (i >= RECORDS)
		return NULL;
	r->object = object;
	r->actor = a->index;
	r->effect = (uint8_t)effect;
	r->value = value;
	r->begin = atomic_fetch_add(&run.clock, 1) + 1;
	return r;
}

struct record *note_wait(struct actor *a, uint8_t object, unsigned wanted,
			 int32_t value)
{
	struct record *r = note(a, object, IN_VAIN, value);

	if (r) {
		r->wanted = (uint8_t)wanted;
		r->waits = wanted != NO_EFFECT;
	}
	return r;
}

void note_end(struct record *r, unsigned effect, int32_t value)
{
	if (!r)
		return;
	r->effect = (uint8_t)effect;
	r->value = value;
	r->end = atomic_fetch_add(&run.clock, 1) + 1;
}

static bool has_history(unsigned kind)
{
	return kind == EVENT || kind == MUTEX || kind == SEMAPHORE ||
	       kind == RWLOCK || kind == CHANNEL || kind == FUTURE ||
	       kind == WAIT_GROUP || kind == POOL;
}

static void check_history(unsigned i, bool quiet)
{
	const struct object_plan *o = &run.p->object[i];
	const size_t              count = atomic_load(&run.records);

	if (!has_history(o->kind) || (o->kind == POOL && !o->value))
		return;
	if (count >= RECORDS) {
		coverage->undecided++;
		return;
	}
	switch (history_check(o, (uint8_t)i, run.record, count, quiet)) {
	case UNDECIDED:
		coverage->undecided++;
		break;
	case IMPOSSIBLE:
		history_print(o, (uint8_t)i, run.record, count);
		program_failed("object %u: %s", i,
			       quiet ? "a wake was lost, or a result was wrong"
				     : "results that no order explains");
	default:
		break;
	}
}

/* --- objects ------------------------------------------------------ */

static void count_domain_end(void *known)
{
	atomic_fetch_add(&((struct known *)known)->ended, 1);
}

static int construct_item(void *known, void *item)
{
	atomic_fetch_add(&((struct known *)known)->ran, 1);
	atomic_init((atomic_int *)item, -1);
	return 0;
}

static void destroy_item(void *known, void *item)
{
	atomic_fetch_sub(&((struct known *)known)->ran, 1);
	CHECK(atomic_load((atomic_int *)item) == -1);
}

static sennit_pool_config config_of_pool(struct known             *k,
					 const struct object_plan *o)
{
	return (sennit_pool_config){ .size = sizeof(sennit_pool_config),
				     .item_size = sizeof(int),
				     .count = o->value,
				     .policy = o->set,
				     .construct = construct_item,
				     .destroy = destroy_item,
				     .context = k,
				     .allocator = &allocator };
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

/* What the last release of a shared object calls: it is misuse, which aborts,
 * if anyone waits in it. */
#define ENDS(noun)                               \
	static void end_##noun(void *object)     \
	{                                        \
		sennit_##noun##_destroy(object); \
	}

ENDS(event)
ENDS(mutex)
ENDS(cond)
ENDS(semaphore)
ENDS(rwlock)
ENDS(barrier)
ENDS(ticket_queue)
ENDS(future)
ENDS(wait_group)
ENDS(channel)
ENDS(pool)

static sennit_shared_end_fn *const ends[] = {
	[EVENT] = end_event,
	[MUTEX] = end_mutex,
	[COND] = end_cond,
	[SEMAPHORE] = end_semaphore,
	[RWLOCK] = end_rwlock,
	[BARRIER] = end_barrier,
	[LINE] = end_ticket_queue,
	[FUTURE] = end_future,
	[WAIT_GROUP] = end_wait_group,
	[CHANNEL] = end_channel,
	[POOL] = end_pool,
};

static int open_in_place(struct known *k, const struct object_plan *o)
{
	const sennit_pool_config pool = config_of_pool(k, o);

	switch (o->kind) {
	case EVENT:
		sennit_event_init(&k->at->event,
				  o->value | (o->set ? SENNIT_EVENT_SET : 0));
		return 0;
	case MUTEX:
		sennit_mutex_init(&k->at->mutex);
		return 0;
	case COND:
		sennit_cond_init(&k->at->cond);
		return 0;
	case SEMAPHORE:
		sennit_semaphore_init(&k->at->semaphore, o->value);
		return 0;
	case RWLOCK:
		sennit_rwlock_init(&k->at->rwlock);
		return 0;
	case BARRIER:
		sennit_barrier_init(&k->at->barrier, o->value);
		return 0;
	case ONCE:
		sennit_once_init(&k->at->once);
		return 0;
	case LINE:
		sennit_ticket_queue_init(&k->at->line);
		return 0;
	case FUTURE:
		sennit_future_init(&k->at->future);
		return 0;
	case WAIT_GROUP:
		sennit_wait_group_init(&k->at->wait_group, o->value);
		return 0;
	case CHANNEL:
		return sennit_channel_init(
			&k->at->channel,
			o->value == 3 ? SENNIT_CHANNEL_UNBOUNDED : o->value,
			sizeof(int), &allocator);
	case POOL:
		return sennit_pool_init(&k->at->pool, &pool);
	case DOMAIN:
		sennit_event_init(&k->at->domain_end, SENNIT_EVENT_MANUAL);
		CHECK(!sennit_domain_create(&k->domain, run.s, count_domain_end,
					    k));
		CHECK(!sennit_domain_on_end(k->domain, set_event,
					    &k->at->domain_end));
		return 0;
	default:
		return 0;
	}
}

void object_open(unsigned i)
{
	const struct object_plan *o = &run.p->object[i];
	struct known             *k = &run.known[i];

	k->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(k->page != MAP_FAILED);
	k->at = k->page;
	k->opener = k->around = -1;
	if (o->kind == WAIT_GROUP)
		atomic_store(&k->count, o->value);
	if (o->shared) {
		k->at = sennit_shared_create(sizeof(*k->at), ends[o->kind],
					     &allocator);
		CHECK(k->at);
	}
	CHECK(!open_in_place(k, o));
}

void object_retain(unsigned i)
{
	struct object *at = run.known[i].at;

	if (at == run.known[i].page)
		return;
	CHECK(sennit_shared_retain(at) == at);
}

void object_release(unsigned i)
{
	struct object *at = run.known[i].at;

	if (at == run.known[i].page)
		return;
	sennit_shared_release(at);
}

/* It is misuse, which aborts, if anyone waits in it. */
static void destroy(struct known *k, unsigned kind)
{
	switch (kind) {
	case EVENT:
		sennit_event_destroy(&k->at->event);
		break;
	case MUTEX:
		sennit_mutex_destroy(&k->at->mutex);
		break;
	case COND:
		sennit_cond_destroy(&k->at->cond);
		break;
	case SEMAPHORE:
		sennit_semaphore_destroy(&k->at->semaphore);
		break;
	case RWLOCK:
		sennit_rwlock_destroy(&k->at->rwlock);
		break;
	case BARRIER:
		sennit_barrier_destroy(&k->at->barrier);
		break;
	case ONCE:
		sennit_once_destroy(&k->at->once);
		break;
	case LINE:
		sennit_ticket_queue_destroy(&k->at->line);
		break;
	case FUTURE:
		sennit_future_destroy(&k->at->future);
		break;
	case WAIT_GROUP:
		sennit_wait_group_destroy(&k->at->wait_group);
		break;
	case CHANNEL:
		sennit_channel_destroy(&k->at->channel);
		break;
	case POOL:
		sennit_pool_destroy(&k->at->pool);
		break;
	default:
		break;
	}
}

/* What must be so of an object when all actors have ended. */
static void check_known(unsigned i)
{
	const struct object_plan *o = &run.p->object[i];
	struct known             *k = &run.known[i];

	switch (o->kind) {
	case SEMAPHORE:
	case EVENT:
	case MUTEX:
		break;
	case BARRIER:
		CHECK(atomic_load(&k->passed) ==
		      atomic_load(&k->last) * o->value);
		break;
	case LINE:
		CHECK(atomic_load(&k->drawn) == atomic_load(&k->served));
		break;
	case GROUP:
		CHECK(k->state != 1);
		break;
	default:
		break;
	}
}

void object_close(unsigned i)
{
	const unsigned kind = run.p->object[i].kind;
	struct known  *k = &run.known[i];

	check_known(i);
	check_history(i, false);
	if (kind == DOMAIN)
		CHECK(atomic_load(&k->ended) == 1);
	if (k->at != k->page)
		object_release(i);
	else if (atomic_load(&k->end) == ALIVE)
		destroy(k, kind);
	if (kind == POOL) /* items */
		CHECK(!atomic_load(&k->ran));
	munmap(k->page, PAGE);
}

/* Whether all permits that the semaphore has had, and gets by calls under way,
 * have been taken. */
static bool are_all_taken(unsigned i)
{
	int32_t left = run.p->object[i].value;

	for (unsigned j = 0; j < atomic_load(&run.records); j++) {
		const struct record *r = &run.record[j];

		if (r->object == i && r->effect == GIVEN)
			left += r->value;
		if (r->object == i && r->effect == TAKEN && r->end)
			left -= r->value;
	}
	return !left;
}

/* The number of calls with this effect; `after`: of those that have not ended
 * before that time. */
static int count_calls(unsigned i, unsigned effect, uint32_t after)
{
	int n = 0;

	for (unsigned j = 0; j < atomic_load(&run.records); j++) {
		const struct record *r = &run.record[j];

		n += r->object == i && r->effect == effect &&
		     (!r->end || r->end >= after);
	}
	return n;
}

/* Whether the calls under way that release waiters have done so, as *mine
 * shows, which has ended: then the header allows to free the object. */
static bool is_released(unsigned i, const struct record *mine)
{
	const struct object_plan *o = &run.p->object[i];

	switch (o->kind) {
	case EVENT:
	case FUTURE: /* by the only call that has set it */
		return !o->set && count_calls(i, SET, 0) == 1 &&
		       count_calls(i, SET, UINT32_MAX) == 1;
	case WAIT_GROUP: /* no call has added since, so all have subtracted */
		return !count_calls(i, ADDED, mine->begin);
	case SEMAPHORE:
		return are_all_taken(i);
	case MUTEX: /* by its owners before this one, the last */
	case RWLOCK:
		return !count_calls(i, LOCKED, mine->begin) &&
		       !count_calls(i, READ, mine->begin);
	default:
		return false;
	}
}

/* The one wait for an auto event that can have taken what was set since
 * `began`; or NULL. A clear may have taken it, too. */
static const struct record *only_wait(uint8_t i, uint32_t began)
{
	const struct record *only = NULL;

	for (unsigned j = 0; j < atomic_load(&run.records); j++) {
		const struct record *r = &run.record[j];

		if (r->object != i || (r->end && r->end < began))
			continue;
		if (r->effect == CLEAR ||
		    (r->end ? r->effect == AWAITED : r->effect == SET))
			return NULL;
		if (r->end)
			continue;
		if (only || !r->waits || r->begin > began)
			return NULL;
		only = r;
	}
	return only;
}

/* The caller has set it, since `began`. If it is clear again, the wait under
 * way has taken it, and "the event that is reported may be freed at once". */
void perhaps_free_taken(uint8_t i, uint32_t began)
{
	struct known        *k = &run.known[i];
	const struct record *r;
	const struct step   *waits;

	if (!sennit_explore_is_possible() || atomic_load(&k->end) == FREED ||
	    !run.p->object[i].value || k->at != k->page ||
	    atomic_load(&run.records) >= RECORDS ||
	    atomic_load(&k->uses) != 2 || atomic_load(&k->leaving) ||
	    sennit_event_is_set(&k->at->event))
		return;
	r = only_wait(i, began);
	waits = r ? run.actor[r->actor].step : NULL;
	if (!waits || waits->call != CALL_await_any)
		return;
	atomic_store(&k->end, FREED);
	CHECK(!mprotect(k->page, PAGE, PROT_NONE));
}

void perhaps_free(uint8_t i, const struct record *r, int own)
{
	struct known *k = &run.known[i];
	const int     calls = atomic_load(&k->leaving);

	if (!sennit_explore_is_possible() || atomic_load(&k->end) == FREED ||
	    k->at != k->page || atomic_load(&run.records) >= RECORDS ||
	    atomic_load(&k->uses) != own + calls ||
	    (calls && !is_released(i, r)))
		return;
	atomic_store(&k->end, FREED);
	destroy(k, run.p->object[i].kind);
	CHECK(!mprotect(k->page, PAGE, PROT_NONE));
}

/* --- waits -------------------------------------------------------- */

bool may_wait_long(const struct actor *a)
{
	return !atomic_load(&a->place->held);
}

sennit_time deadline_of(struct actor *a, unsigned limit)
{
	const bool real = !sennit_explore_is_possible();

	if (limit >= EVER && !may_wait_long(a))
		limit = FAR;
	switch (limit) {
	case TRY:
		return 0;
	case PAST:
		return sennit_now() - 1;
	case NOW:
		return sennit_now();
	case TICK:
		return sennit_after(20 * SENNIT_MICROSECOND);
	case SOON:
		return sennit_after(SENNIT_MILLISECOND);
	case FAR:
		return sennit_after(real ? 10 * SENNIT_MILLISECOND
					 : 10 * SENNIT_SECOND);
	case UNCANCELLED:
		return SENNIT_UNCANCELLED;
	default:
		return SENNIT_NEVER;
	}
}

void begin_wait(struct actor *a, sennit_time deadline, bool cancellable)
{
	a->deadline = deadline;
	a->cancellable = cancellable;
	a->since = sennit_now();
	a->waits = true;
}

void end_wait(struct actor *a, int err)
{
	bool cancelled = false, late = sennit_now() >= a->deadline;

	a->waits = false;
	if (err != -ETIMEDOUT && err != -ECANCELED)
		return;
	for (int g = a->group; g >= 0; g = run.known[g].around) {
		cancelled |= atomic_load(&run.known[g].cancels) > 0 ||
			     run.known[g].draining;
		late |= sennit_now() >= run.known[g].deadline;
	}
	if (err == -ECANCELED && !(cancelled && a->cancellable))
		program_failed("actor %u: a wait was cancelled by nobody",
			       a->index);
	if (err == -ETIMEDOUT && !late)
		program_failed("actor %u: a wait timed out too early",
			       a->index);
}

/* --- when no thread can run --------------------------------------- */

static bool must_be_over(const struct known *group, uint64_t since,
			 uint64_t now)
{
	if (since < group->changed)
		since = group->changed;
	return atomic_load(&group->cancels) ||
	       (group->draining && has_passed(group->drained_at, since, now)) ||
	       has_passed(group->deadline, since, now);
}

static void check_wait(const struct actor *a, uint64_t now)
{
	const struct step *s = a->step;

	if (!a->waits)
		return;
	if (s && is_ticket_due(a))
		program_failed("actor %u waits for a ticket that is due",
			       a->index);
	/* It has ended, and waits for the mutex. */
	if (s && s->call == CALL_await_notify &&
	    run.known[mutex_of_cond()].holder)
		return;
	if (has_passed(a->deadline, a->since, now))
		program_failed("actor %u waits beyond its deadline", a->index);
	for (int g = a->cancellable ? a->group : -1; g >= 0;
	     g = run.known[g].around)
		if (must_be_over(&run.known[g], a->since, now))
			program_failed("actor %u waits in group %d, which is "
				       "cancelled or past its deadline",
				       a->index, g);
}

/* Whether a task may be left where it is while all threads wait. If memory for
 * a stack is refused, the worker tries again later. */
static bool may_stay(const struct actor *a)
{
	/* A continuation that is set off by one that runs in its setter runs
	 * after that one. */
	if (a->plan->kind == INLINE_CONTINUATION ||
	    (a->plan->kind == CONTINUATION && a->parent->in_setter))
		return true;
	return atomic_load(&run.refused) || a->plan->kind == CALLED ||
	       a->plan->kind == BLOCKING;
}

static void check_actor(const struct actor *a, uint64_t now)
{
	switch (atomic_load(&a->state)) {
	case RUNNING:
		check_wait(a, now);
		break;
	case SCHEDULED:
		if (!may_stay(a))
			program_failed("actor %u (kind %u) does not start",
				       a->index, a->plan->kind);
		break;
	default:
		break;
	}
}

/* Whether an actor waits in a step of this call for this object. */
static int waiters_of(unsigned call, unsigned object)
{
	int n = 0;

	for (unsigned i = 0; i < run.p->actors; i++) {
		const struct actor *a = &run.actor[i];

		n += atomic_load(&a->state) == RUNNING && a->waits && a->step &&
		     a->step->call == call && a->step->name[0] == object;
	}
	return n;
}

static void check_order(unsigned i)
{
	const size_t         count = atomic_load(&run.records);
	const struct record *r;

	if (!has_history(kind_of((uint8_t)i)) || count >= RECORDS)
		return;
	r = history_passed(&run.p->object[i], (uint8_t)i, run.record, count,
			   atomic_fetch_add(&run.clock, 1) + 1);
	if (!r)
		return;
	history_print(&run.p->object[i], (uint8_t)i, run.record, count);
	program_failed("object %u: actor %u has waited longer", i, r->actor);
}

static void check_object(unsigned i)
{
	const struct object_plan *o = &run.p->object[i];
	struct known             *k = &run.known[i];

	if (atomic_load(&k->end) != ALIVE)
		return;
	switch (o->kind) {
	case BARRIER:
		if (atomic_load(&k->arrived) - atomic_load(&k->passed) >=
		    o->value)
			program_failed("barrier %u is full and does not open",
				       i);
		break;
	case ONCE:
		if (waiters_of(CALL_attempt, i) && !atomic_load(&k->running))
			program_failed("once %u: nobody runs, others wait", i);
		break;
	case GROUP:
		if (k->state == 1 && !atomic_load(&k->members) &&
		    (waiters_of(CALL_end_group, i) ||
		     waiters_of(CALL_await_members, i)))
			program_failed("group %u is empty and does not end", i);
		break;
	case COND:
		if (!k->loose && k->notified > 0 &&
		    !run.known[mutex_of_cond()].holder)
			program_failed("cond %u: a waiter was notified and "
				       "waits",
				       i);
		break;
	default:
		check_history(i, true);
		check_order(i);
	}
}

static void check_all_events(const struct actor *a)
{
	if (atomic_load(&a->state) != RUNNING || !a->waits || !a->step ||
	    a->step->call != CALL_await_all)
		return;
	for (unsigned i = 0; i < a->step->count; i++)
		if (!sennit_event_is_set(
			    &run.known[a->step->name[i]].at->event))
			return;
	program_failed("actor %u: all its events are set", a->index);
}

/* Some threads are held, by tasks that compute. If a worker is free, it has
 * started what any worker may run. */
static void check_free_workers(void)
{
	if (!run.p->world.workers || run.resources ||
	    atomic_load(&run.refused) ||
	    (uint32_t)atomic_load(&run.holding) >=
		    sennit_scheduler_workers(run.s))
		return;
	for (unsigned i = 0; i < run.p->actors; i++) {
		const struct actor *a = &run.actor[i];
		const unsigned      kind = a->plan->kind;

		if (atomic_load(&a->state) == SCHEDULED &&
		    (kind == TASK || kind == COPY || kind == MANY ||
		     kind == ON || kind == MEMBER || kind == MEMBER_COPY ||
		     kind == OUTCOME || kind == IN_DOMAIN))
			program_failed("actor %u (kind %u) does not start on a "
				       "free worker",
				       a->index, kind);
	}
}

static void check_when_idle(void *unused, uint64_t now)
{
	(void)unused;
	if (!run.p || !atomic_load(&run.left) || run.p->world.max_fibers)
		return;
	if (atomic_load(&run.holding)) {
		check_free_workers();
		return;
	}
	for (unsigned i = 0; i < run.p->actors; i++)
		check_actor(&run.actor[i], now);
	for (unsigned i = 0; i < run.p->objects; i++)
		check_object(i);
	for (unsigned i = 0; i < run.p->actors; i++)
		check_all_events(&run.actor[i]);
}

static void watch_idle(void (*watch)(void *unused, uint64_t now))
{
#ifdef SENNIT_DETERMINISTIC
	sn_deterministic_watch(watch, NULL);
#else
	(void)watch;
#endif
}

/* --- places ------------------------------------------------------- */

static uintptr_t place_key(void)
{
	const sennit_fiber *f = sennit_fiber_current();

	return f ? (uintptr_t)f : (uintptr_t)pthread_self() | 1;
}

static struct place *enter_place(void)
{
	const uintptr_t key = place_key();

	for (unsigned i = 0; i < PLACES; i++)
		if (atomic_load(&run.place[i].key) == key) {
			atomic_fetch_add(&run.place[i].actors, 1);
			return &run.place[i];
		}
	for (unsigned i = 0; i < PLACES; i++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&run.place[i].key, &none,
						   key)) {
			atomic_store(&run.place[i].actors, 1);
			return &run.place[i];
		}
	}
	program_failed("no place left");
}

static void leave_place(struct place *p)
{
	if (atomic_fetch_sub(&p->actors, 1) == 1) {
		CHECK(!atomic_load(&p->held));
		atomic_store(&p->key, 0);
	}
}

/* --- actors ------------------------------------------------------- */

static void count_uses(const struct step *s, int by)
{
	const unsigned mask = program_objects(run.p, s);

	for (unsigned i = 0; i < run.p->objects; i++)
		if (mask >> i & 1)
			atomic_fetch_add(&run.known[i].uses, by);
}

static bool is_step(const struct step *s)
{
	return s->call < STEP_KINDS;
}

bool is_inside(const struct actor *a, int group)
{
	if (run.known[group].state != 1)
		return false;
	if (run.known[group].opener == a->index)
		return true;
	for (int g = a->group; g >= 0; g = run.known[g].around)
		if (g == group)
			return true;
	return false;
}

static void one_less(void)
{
	if (atomic_fetch_sub(&run.left, 1) == 1)
		sennit_event_set(&run.over);
}

static void one_domain_task_less(const struct actor *a)
{
	struct known *k = &run.known[a->plan->name];

	if (a->plan->kind == IN_DOMAIN && atomic_fetch_sub(&k->drawn, 1) == 1)
		sennit_domain_release(k->domain);
}

/* The actor, and those that it would start, will not run. */
static void drop_actor(struct actor *a)
{
	atomic_store(&a->state, DROPPED);
	for (unsigned i = a->index + 1u; i < run.p->actors; i++)
		if (run.actor[i].parent == a &&
		    atomic_load(&run.actor[i].state) == UNBORN) {
			one_domain_task_less(&run.actor[i]);
			drop_actor(&run.actor[i]);
		}
	for (unsigned i = 0; i < STEPS; i++)
		if (is_step(&a->plan->steps[i]))
			count_uses(&a->plan->steps[i], -1);
	one_less();
}

/* --- what an actor is as a function ------------------------------- */

static void act(struct actor *a);

static void as_task(void *a)
{
	act(a);
}

static void as_copy(void *copy)
{
	act(*(struct actor **)copy);
}

static int as_member(void *argument)
{
	struct actor *a = argument;
	const int     g = a->group;
	struct known *k = &run.known[g];

	act(a);
	if (a->plan->error)
		atomic_store(&k->failed, 1);
	if (a->plan->error &&
	    !(run.p->object[g].value & SENNIT_GROUP_KEEP_GOING))
		atomic_fetch_add(&k->cancels, 1);
	atomic_fetch_sub(&k->members, 1);
	one_less();
	return a->plan->error ? -EIO : 0;
}

static int as_member_copy(void *copy)
{
	return as_member(*(struct actor **)copy);
}

static int as_outcome(void *a, void **value)
{
	act(a);
	*value = a;
	return 0;
}

/* A thread without a scheduler runs its continuations itself. */
static void as_continuation(void *argument, void *value, int error)
{
	struct actor *a = argument;

	CHECK(value == a && !error);
	a->in_setter = a->plan->kind == INLINE_CONTINUATION ||
		       !sennit_scheduler_current();
	act(a);
}

static void *as_blocking(void *a)
{
	act(a);
	return a;
}

static void *run_actor(void *argument)
{
	struct actor *a = argument;

	if (a->plan->kind == BOUND_THREAD) {
		if (sennit_thread_bind(run.s)) {
			CHECK(atomic_load(&run.refused));
			drop_actor(a);
			return NULL;
		}
		act(a);
		sennit_thread_unbind();
	} else {
		act(a);
	}
	one_less();
	return NULL;
}

static void note_nothing(void *unused)
{
	(void)unused;
}

/* --- to start it -------------------------------------------------- */

/* A thread has ended for the program when it has unbound. */
static bool counts_itself(const struct actor *a)
{
	return a->has_thread || (a->group >= 0 && a->plan->kind >= MEMBER &&
				 a->plan->kind <= MEMBER_ON);
}

static int start_thread(struct actor *a)
{
	a->has_thread = true;
#ifdef SENNIT_DETERMINISTIC
	return sn_deterministic_start(&a->thread, run_actor, a);
#else
	return pthread_create(&a->thread, NULL, run_actor, a);
#endif
}

static void join_thread(struct actor *a)
{
#ifdef SENNIT_DETERMINISTIC
	sn_deterministic_join(a->thread);
#else
	pthread_join(a->thread, NULL);
#endif
}

static int start_member(struct actor *a, int g)
{
	const uint32_t workers = run.p->world.max_workers;
	struct known  *k = &run.known[g];
	sennit_group  *group = &k->at->group;
	int            err = -ENOENT;

	a->group = g;
	atomic_fetch_add(&k->members, 1);
	if (a->plan->kind == MEMBER_COPY)
		err = sennit_group_spawn_copy(group, as_member_copy, &a,
					      sizeof(a));
	else if (a->plan->kind == MEMBER_HERE &&
		 sennit_scheduler_current() == run.s)
		err = sennit_group_spawn_task(
			group,
			SENNIT_MEMBER(.run = as_member_copy, .argument = &a,
				      .copy_size = sizeof(a),
				      .flags = SENNIT_MEMBER_SAME_THREAD));
	else if (a->plan->kind == MEMBER_ON && workers)
		err = sennit_group_spawn_task(
			group,
			SENNIT_MEMBER(.run = as_member_copy, .argument = &a,
				      .copy_size = sizeof(a),
				      .flags = SENNIT_MEMBER_ON_WORKER,
				      .worker = a->plan->count % workers));
	if (err == -ENOENT || err == -EAGAIN)
		err = sennit_group_spawn(group, as_member, a);
	if (!err)
		return 0;
	atomic_fetch_sub(&k->members, 1);
	a->group = -1;
	if (err == -ECANCELED) {
		bool cancelled = false;

		atomic_store(&k->refused, 1);
		for (; g >= 0; g = run.known[g].around)
			cancelled |= atomic_load(&run.known[g].cancels) > 0 ||
				     run.known[g].draining;
		CHECK(cancelled);
	}
	return err;
}

static int start_called(struct actor *a)
{
	struct known *k = &run.known[a->plan->name];
	int           err;

	sennit_ticket_queue_take(&k->at->line, &a->ticket[0]);
	atomic_fetch_add(&k->drawn, 1);
	a->line[0] = a->plan->name;
	err = sennit_ticket_on_call(&a->ticket[0], as_task, a);
	if (!err)
		return 0;
	a->line[0] = -1;
	atomic_fetch_add(&k->served, 1);
	sennit_ticket_done(&a->ticket[0]);
	return err;
}

static int start_continuation(struct actor *parent, struct actor *a)
{
	const bool within = a->plan->kind == INLINE_CONTINUATION;
	const bool named = !within && run.p->world.workers &&
			   a->plan->count & 2;

	sennit_future_init(&a->birth);
	a->continuation = (sennit_continuation){
		.run = as_continuation,
		.argument = a,
		.scheduler = named ? run.s : NULL,
		.flags = within ? SENNIT_CONTINUATION_INLINE : 0
	};
	parent->nesting = a->index;
	if (a->plan->count & 1) {
		sennit_future_set(&a->birth, a);
		sennit_future_then(&a->birth, &a->continuation);
	} else {
		sennit_future_then(&a->birth, &a->continuation);
		sennit_future_set(&a->birth, a);
	}
	parent->nesting = -1;
	return 0;
}

static int start_many(struct actor *a)
{
	sennit_task tasks[4];

	for (unsigned i = 0; i < 4; i++)
		tasks[i] = (sennit_task){ .run = note_nothing };
	tasks[a->plan->count % 4] = (sennit_task){ .run = as_task,
						   .argument = a };
	return sennit_scheduler_current() == run.s
		       ? sennit_schedule_many(tasks, 4)
		       : sennit_schedule_many_on(run.s, tasks, 4);
}

static int start_with_flags(struct actor *a, uint32_t flags, bool bound)
{
	const sennit_task task = { .run = as_task,
				   .argument = a,
				   .flags = flags };

	return bound ? sennit_schedule_task(&task)
		     : sennit_schedule_task_on(run.s, &task);
}

static int start_blocking(struct actor *parent, struct actor *a)
{
	void *result = NULL;
	int   err = 0;

	parent->nesting = a->index;
	if (a->plan->count & 1)
		err = sennit_blocking_call_until(as_blocking, a, &result,
						 deadline_of(parent, FAR));
	else
		result = sennit_blocking_call(as_blocking, a);
	parent->nesting = -1;
	CHECK(err ? !result : result == a);
	return err;
}

static int start_run(struct actor *parent, struct actor *a)
{
	int err;

	parent->nesting = a->index;
	err = sennit_scheduler_run(run.s, as_task, a);
	parent->nesting = -1;
	return err;
}

static int start_first(struct actor *parent, struct actor *a)
{
	sennit_once once = SENNIT_ONCE_INIT;

	parent->nesting = a->index;
	sennit_once_call(&once, as_task, a);
	parent->nesting = -1;
	return 0;
}

SENNIT_FORK(int, act_forked, struct actor *, a)
{
	act(a);
	return a->index;
}

SENNIT_FORK(int, fork_actor, struct actor *, a)
{
	SENNIT_FORK_SPAWN(act_forked, forked, a);
	if (a->plan->count & 1)
		sennit_yield();
	return SENNIT_FORK_SYNC(act_forked, forked);
}

static int start_forked(struct actor *a)
{
	a->parent->nesting = a->index;
	CHECK(SENNIT_FORK_RUN(fork_actor, a) == a->index);
	a->parent->nesting = -1;
	return 0;
}

static int start_outcome(struct actor *a)
{
	int err;

	sennit_future_init(&a->birth);
	a->spawned = true;
	err = sennit_future_spawn(&a->birth, as_outcome, a);
	if (err)
		a->spawned = false;
	return err;
}

static int start_tied(struct actor *parent, struct actor *a)
{
	parent->has_tied = true;
	return sennit_wait_group_spawn(&parent->tied, as_task, a);
}

/* The kinds that need a bound thread, or a caller that may wait for the new
 * actor. */
static bool is_possible(const struct actor *parent, const struct actor *a,
			bool bound)
{
	switch (a->plan->kind) {
	case COPY:
	case SAME_THREAD:
	case OUTCOME:
	case CALLED:
		return bound;
	case TIED:
	case FORKED:
		return bound && may_wait_long(parent);
	case ELSEWHERE:
		return run.second;
	case BLOCKING:
	case FIRST:
		return may_wait_long(parent);
	case RUN:
		return may_wait_long(parent) && (bound || run.p->world.workers);
	case MEMBER:
	case MEMBER_COPY:
	case MEMBER_HERE:
	case MEMBER_ON:
		return is_inside(parent, a->plan->name);
	case CONTINUATION:
		return bound || run.p->world.workers;
	default:
		return true;
	}
}

static int start(struct actor *parent, struct actor *a, bool bound)
{
	switch (a->plan->kind) {
	case TASK:
		return bound ? sennit_schedule(as_task, a)
			     : start_with_flags(a, 0, false);
	case COPY:
		return sennit_schedule_copy(as_copy, &a, sizeof(a));
	case MANY:
		return start_many(a);
	case SAME_THREAD:
		return start_with_flags(a, SENNIT_TASK_SAME_THREAD, true);
	case BACKGROUND:
		return start_with_flags(a, SENNIT_TASK_BACKGROUND, bound);
	case TIED:
		return start_tied(parent, a);
	case MEMBER:
	case MEMBER_COPY:
	case MEMBER_HERE:
	case MEMBER_ON:
		return start_member(a, a->plan->name);
	case OUTCOME:
		return start_outcome(a);
	case CONTINUATION:
	case INLINE_CONTINUATION:
		return start_continuation(parent, a);
	case CALLED:
		return start_called(a);
	case IN_DOMAIN:
		return sennit_domain_schedule(run.known[a->plan->name].domain,
					      as_task, a);
	case THREAD:
	case BOUND_THREAD:
		return start_thread(a);
	case BLOCKING:
		return start_blocking(parent, a);
	case RUN:
		return start_run(parent, a);
	case FIRST:
		return start_first(parent, a);
	case FORKED:
		return start_forked(a);
	case ELSEWHERE:
		return sennit_schedule_task_on(
			run.second,
			&(sennit_task){ .run = as_task, .argument = a });
	default:
		return start_with_flags(a, 0, false);
	}
}

void start_actor(struct actor *parent, unsigned index)
{
	struct actor *a = &run.actor[index];
	const bool    bound = sennit_scheduler_current() == run.s;
	int           err;

	atomic_store(&a->state, SCHEDULED);
	if (!bound && !run.p->world.workers && a->plan->kind != BOUND_THREAD &&
	    a->plan->kind != INLINE_CONTINUATION && a->plan->kind != BLOCKING &&
	    a->plan->kind != FIRST)
		err = start_thread(a);
	else if (is_possible(parent, a, bound))
		err = start(parent, a, bound);
	else if (bound || run.p->world.workers)
		err = start_with_flags(a, 0, bound);
	else
		err = start_thread(a);
	one_domain_task_less(a);
	if (!err)
		return;
	if (err != -ECANCELED &&
	    !(err == -ENOMEM && atomic_load(&run.refused)) &&
	    !(err == -ETIMEDOUT && a->plan->kind == BLOCKING))
		program_failed("actor %u (kind %u) was refused: %d", index,
			       a->plan->kind, err);
	drop_actor(a);
}

/* --- its life ----------------------------------------------------- */

/* A step holds references of its own to what it uses. */
static void refer_to_all(const struct step *s, void (*refer)(unsigned i))
{
	const unsigned mask = program_objects(run.p, s);

	for (unsigned i = 0; i < run.p->objects; i++)
		if (mask >> i & 1)
			refer(i);
}

static void do_steps(struct actor *a)
{
	for (unsigned i = 0; i < STEPS; i++) {
		const struct step *s = &a->plan->steps[i];

		if (!is_step(s))
			continue;
		a->step = s;
		refer_to_all(s, object_retain);
		coverage->call[s->call]++;
		coverage->calls++;
		step_run(a, s);
		refer_to_all(s, object_release);
		count_uses(s, -1);
	}
	a->step = NULL;
}

static void close_groups(struct actor *a)
{
	for (unsigned i = 0; i < run.p->objects; i++)
		if (kind_of((uint8_t)i) == GROUP && run.known[i].state == 1 &&
		    run.known[i].opener == a->index)
			end_group(a, i, 0, 0);
}

/* "The deadline and the cancellation of a group reach its waits wherever it
 * runs." */
static bool is_forked(const struct actor *a)
{
	return a->plan->kind == FORKED && a->parent->nesting == a->index;
}

static void begin_life(struct actor *a)
{
	const struct actor *parent = a->parent;
	const struct known *g;

	CHECK(atomic_load(&a->state) == SCHEDULED);
	atomic_store(&a->state, RUNNING);
	a->place = enter_place();
	if (a->group < 0 &&
	    (a->plan->kind == INLINE_CONTINUATION || is_forked(a) ||
	     (parent->nesting == a->index && parent->place == a->place)))
		a->group = parent->group;
	if (a->plan->kind == CALLED && a->line[0] >= 0)
		atomic_fetch_add(&a->place->held, 1);
	g = a->group < 0 ? NULL : &run.known[a->group];
	if (sennit_group_current() != (g ? &g->at->group : NULL))
		program_failed("actor %u is in another group", a->index);
}

static void act(struct actor *a)
{
	begin_life(a);
	do_steps(a);
	let_all_go(a);
	for (unsigned i = a->index + 1u; i < run.p->actors; i++)
		if (run.actor[i].parent == a &&
		    atomic_load(&run.actor[i].state) == UNBORN)
			start_actor(a, i);
	if (a->has_tied)
		sennit_wait_group_wait(&a->tied);
	close_groups(a);
	leave_place(a->place);
	atomic_store(&a->state, ENDED);
	if (!counts_itself(a))
		one_less();
}

/* --- the main part ------------------------------------------------ */

/* Do as many tasks run at once as there are workers? If not, all threads sleep
 * for ever, which is found. */
static struct {
	uint32_t          held, expected;
	sennit_wait_group done;
} holders;

static void hold_thread(void *unused)
{
	uint32_t seen;

	(void)unused;
	if (++holders.held == holders.expected)
		sennit_explore_wake(&holders.held);
	while ((seen = holders.held) < holders.expected)
		sennit_explore_sleep(&holders.held, seen, SENNIT_NEVER);
	sennit_wait_group_done(&holders.done);
}

static void hold_all_workers(void)
{
	const sennit_task task = { .run = hold_thread };

	if (!sennit_explore_is_possible() || !run.p->world.workers ||
	    run.p->world.max_fibers || run.resources)
		return;
	holders.held = 0;
	holders.expected = sennit_scheduler_workers(run.s);
	sennit_wait_group_init(&holders.done, holders.expected);
	for (uint32_t i = 0; i < holders.expected; i++)
		while (sennit_schedule_task_on(run.s, &task))
			CHECK(atomic_load(&run.refused));
	sennit_wait_group_wait(&holders.done);
}

static void supply_all(struct actor *main_part)
{
	for (unsigned i = 0; i < run.p->objects; i++) {
		atomic_fetch_add(&run.known[i].uses, 1);
		if (atomic_load(&run.known[i].end) == ALIVE)
			object_supply(main_part, i);
		atomic_fetch_sub(&run.known[i].uses, 1);
	}
}

static void await_all(struct actor *main_part)
{
	const bool real = !sennit_explore_is_possible();

	for (unsigned round = 0;; round++) {
		const sennit_time d = sennit_after(
			real ? 100 * SENNIT_MILLISECOND : 3600 * SENNIT_SECOND);

		if (!sennit_event_wait_until(&run.over, d))
			return;
		if (round >= ROUNDS)
			program_failed("%d actors do not end",
				       atomic_load(&run.left));
		supply_all(main_part);
	}
}

static void set_actors(void)
{
	for (unsigned i = 0; i <= ACTORS; i++) {
		struct actor *a = &run.actor[i];

		a->index = (uint8_t)i;
		a->plan = &run.p->actor[i < ACTORS ? i : 0];
		a->group = a->nesting = -1;
		for (unsigned j = 0; j < TICKETS; j++)
			a->line[j] = -1;
		a->parent = i ? &run.actor[a->plan->parent] : &run.actor[MAIN];
	}
	for (unsigned i = 0; i < run.p->actors; i++) {
		const struct actor_plan *plan = &run.p->actor[i];

		if (plan->kind == IN_DOMAIN)
			atomic_fetch_add(&run.known[plan->name].drawn, 1);
		for (unsigned j = 0; j < STEPS; j++)
			if (is_step(&plan->steps[j]))
				count_uses(&plan->steps[j], 1);
	}
}

static void create_scheduler(void)
{
	const struct world_plan *w = &run.p->world;
	sennit_config            c = { .size = sizeof(c) };

	c.workers = w->workers ? w->workers : SENNIT_WORKERS_NONE;
	c.max_workers = w->max_workers;
	c.order = w->fifo ? SENNIT_ORDER_OLDEST : 0;
	c.start = w->lazy ? SENNIT_START_LAZY : 0;
	c.placement = w->spread ? SENNIT_PLACEMENT_SPREAD : 0;
	c.retire_ms = w->retire;
	c.min_workers = w->min_workers;
	c.max_fibers = w->max_fibers;
	c.max_blocking_threads = w->calls;
	c.allocator = &allocator;
	if (w->cpus)
		CHECK(!sennit_resources_create(&run.resources, w->cpus,
					       &allocator));
	c.resources = run.resources;
	CHECK(!sennit_scheduler_create(&run.s, &c));
	run.weak = sennit_scheduler_weak(run.s);
	if (!w->second)
		return;
	CHECK(!sennit_scheduler_create(&run.second,
				       SENNIT_CONFIG(.workers = w->second,
						     .resources = run.resources,
						     .allocator = &allocator)));
}

static void count_end(void *unused)
{
	(void)unused;
	atomic_fetch_add(&run.ends, 1);
}

static void register_clients(void)
{
	if (!run.p->world.clients)
		return;
	CHECK(!sennit_scheduler_on_end(run.s, count_end, NULL));
	CHECK(!sennit_weak_scheduler_on_end(run.weak, count_end, NULL));
	CHECK(!sennit_scheduler_on_end(run.s, set_event, &run.end_event));
	CHECK(!sennit_scheduler_on_end(run.s, set_future, &run.end_future));
}

static void end_schedulers(void)
{
	sennit_scheduler *s = NULL;

	if (run.second)
		CHECK(!sennit_scheduler_shutdown(run.second, SENNIT_NEVER));
	CHECK(!sennit_scheduler_shutdown(run.s, SENNIT_NEVER));
	if (run.resources)
		sennit_resources_release(run.resources);
	CHECK(sennit_weak_scheduler_lock(run.weak, &s) == -ESHUTDOWN && !s);
	if (run.p->world.clients) {
		CHECK(!sennit_weak_scheduler_on_end(run.weak, count_end, NULL));
		CHECK(atomic_load(&run.ends) == 3);
		CHECK(sennit_event_is_set(&run.end_event) &&
		      sennit_future_is_set(&run.end_future));
	}
	sennit_weak_scheduler_release(run.weak);
}

static void end_actors(void)
{
	for (unsigned i = 0; i < run.p->actors; i++) {
		struct actor *a = &run.actor[i];
		void         *value = NULL;

		if (a->has_thread)
			join_thread(a);
		if (a->plan->kind == OUTCOME &&
		    atomic_load(&a->state) == ENDED && a->spawned)
			CHECK(!sennit_future_get(&a->birth, &value) &&
			      value == a);
	}
}

static void await_domains(void)
{
	for (unsigned i = 0; i < run.p->objects; i++)
		if (kind_of((uint8_t)i) == DOMAIN)
			CHECK(!sennit_event_wait(&run.known[i].at->domain_end));
}

void program_run(void *program)
{
	struct actor *main_part = &run.actor[MAIN];
	bool          bound;

	memset(&run, 0, sizeof(run));
	run.p = program;
	bound = run.p->world.main == MAIN_BOUND || !run.p->world.workers;
	create_scheduler();
	register_clients();
	if (bound)
		CHECK(!sennit_thread_bind(run.s));
	for (unsigned i = 0; i < run.p->objects; i++)
		object_open(i);
	set_actors();
	for (unsigned i = 0; i < run.p->objects; i++)
		if (kind_of((uint8_t)i) == DOMAIN &&
		    !atomic_load(&run.known[i].drawn))
			sennit_domain_release(run.known[i].domain);
	sennit_event_init(&run.over, SENNIT_EVENT_MANUAL);
	main_part->place = enter_place();
	atomic_store(&run.left, run.p->actors);
	run.refusing = run.p->world.refusals;
	watch_idle(check_when_idle);
	start_actor(main_part, 0);
	await_all(main_part);
	run.refusing = false;
	watch_idle(NULL);
	end_actors();
	await_domains();
	if (run.p->world.hold)
		hold_all_workers();
	for (unsigned i = 0; i < run.p->objects; i++)
		object_close(i);
	if (bound)
		sennit_thread_unbind();
	end_schedulers();
	if (atomic_load(&run.live))
		program_failed("%d blocks of memory are left",
			       atomic_load(&run.live));
	coverage->runs++;
}
