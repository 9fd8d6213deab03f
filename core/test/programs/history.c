/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64, HELD_VALUES = 20, SEEN = 1 << 13, UNBOUNDED = 3 };

/* What an object is between two calls. */
struct state {
	int32_t n; /* set; owner; permits, readers, count */
	int32_t m; /* the writer; closed */
	uint8_t length, value[HELD_VALUES];
};

struct search {
	const struct object_plan *o;
	const struct record      *record[MOST];
	size_t                    count;
	uint64_t                  needed; /* of the calls that have ended */
	bool                      quiet;
	size_t                    seen_count;
	bool                      gave_up;
	struct seen {
		uint64_t     mask; /* 0: free */
		struct state state;
	} seen[SEEN];
};

static struct search search;

static uint8_t capacity(const struct object_plan *o)
{
	return o->value == UNBOUNDED ? HELD_VALUES : o->value;
}

static struct state at_first(const struct object_plan *o)
{
	struct state s;

	memset(&s, 0, sizeof(s));
	if (o->kind == EVENT)
		s.n = o->set;
	else if (o->kind == SEMAPHORE || o->kind == WAIT_GROUP ||
		 o->kind == POOL)
		s.n = o->value;
	return s;
}

/* --- what each call needs and does -------------------------------- */

/* Whether a wait of this effect has something to take. */
static bool is_possible(const struct object_plan *o, const struct state *s,
			unsigned effect, int32_t value)
{
	switch (effect) {
	case AWAITED:
		return o->kind == WAIT_GROUP ? s->n == 0 : s->n == 1;
	case LOCKED:
		return !s->n && !s->m;
	case READ:
		return !s->m;
	case TAKEN:
		return s->n >= value;
	case SENT:
		return s->m || s->length < capacity(o);
	case RECEIVED:
		return s->m || s->length;
	default:
		return false;
	}
}

static bool apply_send(const struct object_plan *o, struct state *s,
		       int32_t value)
{
	const uint8_t room = capacity(o) ? capacity(o) : 1;

	if (s->m || s->length >= room)
		return false;
	s->value[s->length++] = (uint8_t)value;
	return true;
}

static bool apply_receive(struct state *s, int32_t value)
{
	if (!s->length || s->value[0] != (uint8_t)value)
		return false;
	memmove(s->value, s->value + 1, --s->length);
	s->value[s->length] = 0;
	return true;
}

static bool swap(int32_t *n, int32_t from, int32_t to)
{
	if (*n != from)
		return false;
	*n = to;
	return true;
}

/* Whether the call can have come in this state; it changes the state. */
static bool apply(const struct object_plan *o, struct state *s,
		  const struct record *r)
{
	/* A value that no channel holds goes to a receiver at once. */
	if (o->kind == CHANNEL && !o->value && s->length &&
	    r->effect != RECEIVED)
		return false;
	switch (r->effect) {
	case SET:
		if (o->kind == FUTURE)
			return swap(&s->n, 0, 1);
		s->n = 1;
		return true;
	case CLEAR:
		s->n = 0;
		return true;
	case SEEN_SET:
	case REFUSED_SET:
		return s->n == 1;
	case SEEN_CLEAR:
		return s->n == 0;
	case AWAITED:
		if (!is_possible(o, s, AWAITED, 0))
			return false;
		if (o->kind == EVENT && o->value)
			s->n = 0;
		return true;
	case LOCKED:
		if (s->n || s->m)
			return false;
		return swap(o->kind == MUTEX ? &s->n : &s->m, 0, r->value);
	case UNLOCKED:
		return swap(o->kind == MUTEX ? &s->n : &s->m, r->value, 0);
	case READ:
		s->n++;
		return !s->m;
	case UNREAD:
		return s->n-- > 0;
	case TAKEN:
		s->n -= r->value;
		return s->n >= 0;
	case GIVEN:
	case ADDED:
		s->n += r->value;
		return true;
	case DONE:
		return --s->n >= 0 && (s->n == 0) == r->value;
	case SENT:
		return apply_send(o, s, r->value);
	case RECEIVED:
		return apply_receive(s, r->value);
	case CLOSED:
		s->m = 1;
		return true;
	case SENT_TO_CLOSED:
		return s->m;
	case RECEIVED_NONE:
		return s->m && !s->length;
	case IN_VAIN:
		return !is_possible(o, s, r->wanted, r->value);
	default:
		return true;
	}
}

/* --- when all threads wait ---------------------------------------- */

static bool waits_for(const struct record *r, unsigned effect)
{
	return r->waits && !r->end && r->wanted == effect;
}

static bool is_anyone_waiting(const struct search *s, unsigned effect)
{
	for (size_t i = 0; i < s->count; i++)
		if (waits_for(s->record[i], effect))
			return true;
	return false;
}

/* The waiter that has waited longest may want more than there is. */
static bool may_all_take(const struct search *s, const struct state *now)
{
	bool any = false;

	for (size_t i = 0; i < s->count; i++) {
		if (!waits_for(s->record[i], TAKEN))
			continue;
		if (s->record[i]->value > now->n)
			return false;
		any = true;
	}
	return any;
}

/* A sender and a receiver that wait, and are not the same. */
static bool may_two_meet(const struct search *s)
{
	for (size_t i = 0; i < s->count; i++)
		for (size_t j = 0; j < s->count; j++)
			if (waits_for(s->record[i], SENT) &&
			    waits_for(s->record[j], RECEIVED) &&
			    s->record[i]->actor != s->record[j]->actor)
				return true;
	return false;
}

/* Whether a wait has not ended although there is what it waits for. */
static bool is_wake_lost(const struct search *s, const struct state *now)
{
	switch (s->o->kind) {
	case SEMAPHORE:
	case POOL:
		return may_all_take(s, now);
	case RWLOCK:
		if (is_anyone_waiting(s, LOCKED))
			return !now->n && !now->m;
		return is_anyone_waiting(s, READ) && !now->m;
	case CHANNEL:
		if (!s->o->value && may_two_meet(s))
			return true;
		break;
	default:
		break;
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct record *r = s->record[i];

		if (r->waits && !r->end &&
		    is_possible(s->o, now, r->wanted, r->value))
			return true;
	}
	return false;
}

/* --- the search --------------------------------------------------- */

static bool is_seen(struct search *s, uint64_t mask, const struct state *now)
{
	uint64_t hash = mask * UINT64_C(0x9e3779b97f4a7c15);
	size_t   at;

	hash ^= (uint64_t)(uint32_t)now->n * UINT64_C(0xbf58476d1ce4e5b9);
	hash ^= now->length * UINT64_C(0x94d049bb133111eb);
	at = hash >> 40;
	for (;; at++) {
		struct seen *e = &s->seen[at % SEEN];

		if (!e->mask) {
			e->mask = mask;
			e->state = *now;
			break;
		}
		if (e->mask == mask && !memcmp(&e->state, now, sizeof(*now)))
			return true;
	}
	if (++s->seen_count > SEEN / 2)
		s->gave_up = true;
	return false;
}

static bool is_an_end(const struct search *s, uint64_t mask,
		      const struct state *now)
{
	if ((mask & s->needed) != s->needed)
		return false;
	if (s->o->kind == CHANNEL && !s->o->value && now->length)
		return false;
	return !s->quiet || !is_wake_lost(s, now);
}

/* Whether a call that is left out has ended before *r began. */
static bool is_too_early(const struct search *s, uint64_t mask,
			 const struct record *r)
{
	for (size_t i = 0; i < s->count; i++)
		if (!(mask >> i & 1) && s->record[i]->end &&
		    s->record[i]->end < r->begin)
			return true;
	return false;
}

static bool find_order(struct search *s, uint64_t mask, struct state now)
{
	struct state next;

	if (is_an_end(s, mask, &now))
		return true;
	if (s->gave_up || (mask && is_seen(s, mask, &now)))
		return false;
	for (size_t i = 0; i < s->count; i++) {
		const struct record *r = s->record[i];

		if ((mask >> i & 1) || (r->waits && !r->end) ||
		    is_too_early(s, mask, r))
			continue;
		next = now;
		if (apply(s->o, &next, r) &&
		    find_order(s, mask | UINT64_C(1) << i, next))
			return true;
	}
	return false;
}

enum verdict history_check(const struct object_plan *o, uint8_t object,
			   const struct record *records, size_t count,
			   bool quiet)
{
	struct search *s = &search;
	size_t         values = 0;

	memset(s, 0, sizeof(*s));
	s->o = o;
	s->quiet = quiet;
	for (size_t i = 0; i < count; i++) {
		if (records[i].object != object || !records[i].effect)
			continue;
		values += records[i].effect == SENT;
		if (s->count == MOST || values > HELD_VALUES)
			return UNDECIDED;
		if (records[i].end)
			s->needed |= UINT64_C(1) << s->count;
		s->record[s->count++] = &records[i];
	}
	if (find_order(s, 0, at_first(o)))
		return POSSIBLE;
	return s->gave_up ? UNDECIDED : IMPOSSIBLE;
}

/* --- first come, first served ------------------------------------- */

static bool has_order(const struct object_plan *o, unsigned wanted)
{
	switch (o->kind) {
	case EVENT:
		return o->value && wanted == AWAITED;
	case RWLOCK:
		return wanted == LOCKED;
	case SEMAPHORE:
	case POOL:
	case CHANNEL:
		return true;
	default:
		return false;
	}
}

static bool has_passed(const struct record *waits, const struct record *r)
{
	return r->object == waits->object && r->begin > waits->settled &&
	       r->end && r->effect == waits->wanted && r->waits;
}

const struct record *history_passed(const struct object_plan *o, uint8_t object,
				    struct record *records, size_t count,
				    uint32_t now)
{
	for (size_t i = 0; i < count; i++) {
		struct record *r = &records[i];

		if (r->object != object || !r->waits || r->end ||
		    !has_order(o, r->wanted))
			continue;
		for (size_t j = 0; r->settled && j < count; j++)
			if (has_passed(r, &records[j]))
				return r;
		if (!r->settled)
			r->settled = now;
	}
	return NULL;
}

/* --- to read ------------------------------------------------------ */

static const char *const effects[] = {
	"",
	"set",
	"clear",
	"is set",
	"is clear",
	"await",
	"lock",
	"unlock",
	"read-lock",
	"read-unlock",
	"take",
	"give",
	"send",
	"receive",
	"close",
	"send: closed",
	"receive: closed",
	"add",
	"done",
	"set: set already",
	"in vain: ",
};

void history_print(const struct object_plan *o, uint8_t object,
		   const struct record *records, size_t count)
{
	static const char *const kinds[] = {
		"event",      "mutex", "cond",    "semaphore", "rwlock",
		"barrier",    "once",  "tickets", "channel",   "future",
		"wait group", "pool",  "group",   "domain"
	};

	fprintf(stderr, "  history of object %u, a %s (value %u, set %u):\n",
		object, kinds[o->kind], o->value, o->set);
	for (size_t i = 0; i < count; i++) {
		const struct record *r = &records[i];

		if (r->object != object || !r->effect)
			continue;
		fprintf(stderr, "    %4u..", r->begin);
		if (r->end)
			fprintf(stderr, "%-4u", r->end);
		else
			fprintf(stderr, "    ");
		fprintf(stderr, " actor %u: %s%s %d%s\n", r->actor,
			effects[r->effect],
			r->effect == IN_VAIN ? effects[r->wanted] : "",
			r->value,
			r->end     ? ""
			: r->waits ? " (waits)"
				   : " (under way)");
	}
}
