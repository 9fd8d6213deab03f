/* SPDX-License-Identifier: Apache-2.0 */
/* generate.c - the program of a seed. */
#include "program.h"

#include "base/torture.h"

#include <string.h>

static struct seeded_random chance;

/* Bytes of a fuzzer, which take the place of the seed as long as they last. */
static const uint8_t *given, *given_end;

static uint32_t draw(uint32_t limit)
{
	uint32_t n;

	if (given == given_end)
		return sn_seeded_random_below(&chance, limit);
	n = *given++;
	if (limit > UINT8_MAX && given < given_end)
		n = n << 8 | *given++;
	return n % limit;
}

static uint8_t below(uint32_t limit)
{
	return (uint8_t)draw(limit);
}

static bool one_in(uint32_t n)
{
	return !below(n);
}

/* What a program does often, and what it leaves out: programs in which
 * everything is as likely as everywhere else are all alike. (Swarm testing:
 * A. Groce and others, 2012.) */
static struct {
	uint8_t call[STEP_KINDS];
	uint8_t actor[ACTOR_KINDS];
	bool    of_workers, of_groups;
	bool    narrow; /* few objects, of one kind */
	bool    hasty;  /* short waits */
} taste;

/* --- the world ---------------------------------------------------- */

static void make_world(struct world_plan *w)
{
	w->workers = taste.of_workers ? (uint8_t)(1 + below(3)) : below(4);
	w->max_workers = w->workers;
	if (w->workers && one_in(2))
		w->max_workers = (uint8_t)(w->max_workers + below(3));
	w->main = below(MAIN_KINDS);
	w->fifo = one_in(4);
	w->lazy = one_in(3);
	w->spread = one_in(5);
	w->retire = one_in(3);
	w->min_workers = one_in(2);
	w->max_fibers = one_in(10);
	w->calls = one_in(4) ? (uint8_t)(1 + below(2)) : 0;
	w->refusals = one_in(8) ? (uint8_t)(1 + below(20)) : 0;
	w->second = one_in(4) ? (uint8_t)(1 + below(2)) : 0;
	w->cpus = w->workers && one_in(5) ? (uint8_t)(1 + below(2)) : 0;
	w->clients = one_in(4);
	w->hold = one_in(3);
}

/* --- objects ------------------------------------------------------ */

static void make_object(struct object_plan *o, unsigned kind)
{
	o->kind = (uint8_t)kind;
	switch (kind) {
	case EVENT:
		o->value = below(2);
		o->set = one_in(4);
		break;
	case SEMAPHORE:
	case WAIT_GROUP:
		o->value = below(3);
		break;
	case BARRIER:
		o->value = (uint8_t)(1 + below(3));
		break;
	case CHANNEL:
		o->value = below(4); /* 3: unbounded */
		break;
	case POOL:
		o->value = below(3);
		o->set = below(2);
		break;
	case GROUP:
		o->value = one_in(3) ? below(4) : 0;
		o->set = one_in(2) ? (uint8_t)EVER : below(EVER);
		break;
	default:
		break;
	}
	o->shared = kind != ONCE && kind < GROUP && one_in(5);
}

static void make_objects(struct program *p)
{
	const unsigned favourite = taste.of_workers ? EVENT
						    : below(OBJECT_KINDS);

	p->objects = (uint8_t)(1 + below(taste.narrow ? 3 : OBJECTS));
	for (unsigned i = 0; i < p->objects; i++) {
		unsigned kind = taste.of_workers || taste.narrow || one_in(3)
					? favourite
					: below(OBJECT_KINDS);

		/* Groups are how calls are ended from outside. */
		if (one_in(6) || (taste.of_workers && !i) ||
		    (taste.of_groups && one_in(2)))
			kind = GROUP;
		make_object(&p->object[i], kind);
	}
	/* A condition variable needs a mutex. */
	if (p->object[0].kind == COND && p->objects < OBJECTS)
		make_object(&p->object[p->objects++], MUTEX);
}

/* One of the objects of this kind, or of any kind; -1: there is none. */
static int some_object(const struct program *p, unsigned kind)
{
	uint8_t  found[OBJECTS];
	unsigned n = 0;

	for (unsigned i = 0; i < p->objects; i++)
		if (kind == OBJECT_KINDS || p->object[i].kind == kind)
			found[n++] = (uint8_t)i;
	return n ? found[below(n)] : -1;
}

static bool has_object(const struct program *p, unsigned kind)
{
	for (unsigned i = 0; i < p->objects; i++)
		if (kind == OBJECT_KINDS || p->object[i].kind == kind)
			return true;
	return false;
}

/* --- steps -------------------------------------------------------- */

static const struct {
	uint8_t kind, weight;
} calls[] = {
#define STEP(name, kind, weight) { kind, weight },
	STEP_CALLS(STEP)
#undef STEP
};

static uint8_t some_weight(bool plain)
{
	if (plain)
		return 4;
	if (one_in(2))
		return 0;
	return (uint8_t)(UINT32_C(1) << below(6));
}

/* Tasks that are sent to workers, which come and go and have fibers that
 * wait. */
static void prefer_workers(void)
{
	memset(taste.call, 0, sizeof(taste.call));
	memset(taste.actor, 0, sizeof(taste.actor));
	taste.call[CALL_set_workers] = 24;
	taste.call[CALL_start] = 16;
	taste.call[CALL_await] = 4;
	taste.call[CALL_set] = 2;
	taste.call[CALL_hold] = 4;
	taste.call[CALL_sleep] = 6;
	taste.call[CALL_yield] = 2;
	taste.actor[MEMBER_ON] = 8;
	taste.actor[MEMBER_HERE] = 2;
	taste.actor[TASK] = 1;
	taste.actor[BOUND_THREAD] = 1;
}

/* Groups within groups, which are cancelled and whose deadlines move. */
static void prefer_groups(void)
{
	memset(taste.actor, 0, sizeof(taste.actor));
	taste.call[CALL_cancel] = 16;
	taste.call[CALL_set_deadline] = 16;
	taste.call[CALL_open_group] = 16;
	taste.call[CALL_end_group] = 4;
	taste.call[CALL_start] = 8;
	taste.call[CALL_await] = 4;
	taste.call[CALL_await_future] = 4;
	taste.call[CALL_receive] = 4;
	taste.actor[MEMBER] = 8;
	taste.actor[MEMBER_COPY] = 2;
	taste.actor[MEMBER_HERE] = 2;
	taste.actor[RUN] = 1;
	taste.actor[TASK] = 1;
}

static void choose_taste(void)
{
	const bool plain = one_in(3);

	taste.of_workers = one_in(8);
	taste.narrow = one_in(3);
	taste.hasty = one_in(4);
	taste.of_groups = !taste.of_workers && one_in(8);
	for (unsigned i = 0; i < STEP_KINDS; i++)
		taste.call[i] = some_weight(plain);
	for (unsigned i = 0; i < ACTOR_KINDS; i++)
		taste.actor[i] = some_weight(plain);
	taste.call[CALL_start] |= 1;
	taste.call[CALL_yield] |= 1;
	taste.actor[TASK] |= 1;
	if (taste.of_workers)
		prefer_workers();
	if (taste.of_groups)
		prefer_groups();
}

static unsigned weight_of_call(const struct program *p, unsigned i)
{
	if (!has_object(p, calls[i].kind))
		return 0;
	return (unsigned)calls[i].weight * taste.call[i];
}

static unsigned some_call(const struct program *p)
{
	unsigned sum = 0;
	unsigned at;

	for (unsigned i = 0; i < STEP_KINDS; i++)
		sum += weight_of_call(p, i);
	at = draw(sum);
	for (unsigned i = 0;; i++) {
		const unsigned weight = weight_of_call(p, i);

		if (at < weight)
			return i;
		at -= weight;
	}
}

static uint8_t some_limit(void)
{
	if (taste.hasty && !one_in(3))
		return (uint8_t)(NOW + below(3));
	return one_in(2) ? (uint8_t)EVER : below(LIMITS);
}

static void make_step(const struct program *p, struct step *s)
{
	s->call = (uint8_t)some_call(p);
	for (unsigned i = 0; i < NAMES; i++)
		s->name[i] = (uint8_t)some_object(p, calls[s->call].kind);
	s->count = (uint8_t)(1 + below(NAMES));
	if (s->call == CALL_take || s->call == CALL_give || s->call == CALL_add)
		s->count = (uint8_t)(1 + below(2));
	s->limit = some_limit();
	s->flag = below(16);
}

/* Most locks are left soon after they were taken. */
static uint8_t end_of(uint8_t call)
{
	switch (call) {
	case CALL_lock:
		return CALL_unlock;
	case CALL_read_lock:
	case CALL_write_lock:
		return CALL_unlock_rw;
	case CALL_borrow:
		return CALL_give_back;
	case CALL_draw:
		return one_in(2) ? CALL_await_turn : CALL_end_turn;
	case CALL_take:
		return CALL_give;
	case CALL_await_turn:
		return CALL_end_turn;
	default:
		return STEP_KINDS;
	}
}

static void make_steps(const struct program *p, struct actor_plan *a)
{
	const unsigned n = 1 + below(STEPS - 2);
	uint8_t        closing[STEPS + 2];

	memset(closing, STEP_KINDS, sizeof(closing));
	for (unsigned i = 0; i < STEPS; i++) {
		struct step *s = &a->steps[i];

		if (i >= n) {
			s->call = STEP_KINDS;
		} else if (closing[i] != STEP_KINDS) {
			*s = a->steps[closing[i]];
			s->call = end_of(s->call);
			s->limit = some_limit();
		} else {
			make_step(p, s);
			/* What was sent has not been looked at yet. */
			if (i && a->steps[i - 1].call == CALL_start &&
			    one_in(4))
				s->call = one_in(3) ? CALL_hold
						    : CALL_set_workers;
		}
		if (s->call < STEP_KINDS && end_of(s->call) != STEP_KINDS &&
		    !one_in(4))
			closing[i + 1 + below(2)] = (uint8_t)i;
	}
}

/* --- actors ------------------------------------------------------- */

static unsigned needs(unsigned kind)
{
	switch (kind) {
	case MEMBER:
	case MEMBER_COPY:
	case MEMBER_HERE:
	case MEMBER_ON:
		return GROUP;
	case IN_DOMAIN:
		return DOMAIN;
	case CALLED:
		return LINE;
	default:
		return OBJECT_KINDS;
	}
}

static uint8_t some_actor_kind(void)
{
	unsigned sum = 0;
	unsigned at;

	if (one_in(4))
		return TASK;
	for (unsigned i = 0; i < ACTOR_KINDS; i++)
		sum += taste.actor[i];
	at = draw(sum);
	for (unsigned i = 0;; i++) {
		if (at < taste.actor[i])
			return (uint8_t)i;
		at -= taste.actor[i];
	}
}

/* A member is of use only if its parent opens the group first. */
static void open_before(struct program *p, const struct actor_plan *a)
{
	struct actor_plan *parent = &p->actor[a->parent];
	struct step        s = { .call = CALL_open_group };

	for (unsigned j = 0; j < STEPS; j++)
		if (parent->steps[j].call == CALL_open_group &&
		    parent->steps[j].name[0] == a->name)
			return;
	memset(s.name, a->name, sizeof(s.name));
	parent->steps[0] = s;
	s.call = CALL_start;
	parent->steps[1] = s;
}

static void make_actor(struct program *p, unsigned i)
{
	struct actor_plan *a = &p->actor[i];
	int                name;

	a->parent = i ? below(i) : 0;
	a->kind = some_actor_kind();
	name = some_object(p, needs(a->kind));
	if (name < 0) {
		a->kind = TASK;
		name = 0;
	}
	if (!i && (a->kind == BLOCKING || a->kind == RUN || a->kind == FIRST ||
		   a->kind == TIED || a->kind == INLINE_CONTINUATION ||
		   a->kind == FORKED || a->kind == CONTINUATION))
		a->kind = TASK; /* the main part must not wait for it */
	a->name = (uint8_t)name;
	a->error = one_in(5);
	a->count = below(4);
	make_steps(p, a);
	if (i && needs(a->kind) == GROUP && !one_in(4))
		open_before(p, a);
}

static bool has_loop(const struct actor_plan *a)
{
	for (unsigned i = 0; i < STEPS; i++)
		if (a->steps[i].call == CALL_loop)
			return true;
	return false;
}

/* Few stacks, but one for each task that waits for others to start, and one
 * that each worker and bound thread may keep. */
static uint8_t few_stacks(const struct program *p)
{
	unsigned n = p->world.max_workers + 2u + below(2);
	bool     is_parent[ACTORS] = { false };

	for (unsigned i = 0; i < p->actors; i++) {
		is_parent[p->actor[i].parent] = true;
		n += p->actor[i].kind == BOUND_THREAD;
	}
	for (unsigned i = 0; i < p->actors; i++)
		n += is_parent[i] || has_loop(&p->actor[i]);
	return (uint8_t)n;
}

/* Threads for the blocking calls that wait for others, and for one more. */
static uint8_t least_calls(const struct program *p)
{
	bool     waits[ACTORS] = { false };
	unsigned n = 1;

	for (unsigned i = p->actors; i-- > 1;) {
		const struct actor_plan *a = &p->actor[i];

		waits[a->parent] |= waits[i] || a->kind == BLOCKING;
	}
	for (unsigned i = 0; i < p->actors; i++)
		n += waits[i] && p->actor[i].kind == BLOCKING;
	return (uint8_t)n;
}

static void make_program(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof(*p));
	p->seed = seed;
	sn_seeded_random_init(&chance, seed);
	for (unsigned i = 0; i < 8; i++)
		(void)sn_seeded_random_below(&chance, 2);
	choose_taste();
	make_world(&p->world);
	make_objects(p);
	p->actors = (uint8_t)(1 + below(ACTORS));
	for (unsigned i = 0; i < p->actors; i++)
		make_actor(p, i);
	if (p->world.max_fibers)
		p->world.max_fibers = few_stacks(p);
	if (p->world.calls && p->world.calls < least_calls(p))
		p->world.calls = least_calls(p);
}

void program_make(struct program *p, uint64_t seed)
{
	given = given_end = NULL;
	make_program(p, seed);
}

void program_make_from(struct program *p, const uint8_t *bytes, size_t size)
{
	given = bytes;
	given_end = bytes + size;
	make_program(p, 1);
}

unsigned program_steps(const struct program *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->actors; i++)
		for (unsigned j = 0; j < STEPS; j++)
			n += p->actor[i].steps[j].call < STEP_KINDS;
	return n;
}

unsigned program_objects(const struct program *p, const struct step *s)
{
	unsigned mask = 0;
	unsigned n = 1;

	switch (s->call) {
	case CALL_await_any:
	case CALL_await_all:
	case CALL_await_any_future:
	case CALL_await_all_futures:
	case CALL_choose_case:
		n = s->count;
		break;
	case CALL_start:
	case CALL_yield:
	case CALL_sleep:
	case CALL_ask:
	case CALL_hold:
	case CALL_set_workers:
	case CALL_trim:
	case CALL_loop:
	case CALL_refer:
	case CALL_set_cpus:
		return 0;
	default:
		break;
	}
	for (unsigned i = 0; i < n; i++)
		mask |= 1u << s->name[i];
	for (unsigned i = 0; s->call == CALL_await_notify && i < p->objects;
	     i++)
		if (p->object[i].kind == MUTEX)
			mask |= 1u << i;
	return mask;
}
