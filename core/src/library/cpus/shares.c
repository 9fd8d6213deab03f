/* SPDX-License-Identifier: Apache-2.0 */
#include "cpus/shares.h"

void sn_shares_init(struct shares *s, uint32_t n)
{
	*s = (struct shares){ .held = 0 };
	a_init(&s->slots, n);
	a_init(&s->wanted, 0);
	a_init(&s->urgent, 0);
}

/* Not raced: the caller holds the lock. */
static uint32_t slot_count(const struct shares *s)
{
	return a_load_rlx(&s->slots);
}

/* --- virtual time ------------------------------------------------------- */

static struct sharer *sharer_of(struct link *l)
{
	return container_of(l, struct sharer, link);
}

static bool sharer_is_busy(const struct sharer *p)
{
	return p->held || p->waiting;
}

/* Times wrap around after centuries, so only differences are compared. */
static int64_t virtual_lead(const struct sharer *p, const struct sharer *other)
{
	return (int64_t)(p->virtual - other->virtual);
}

static void count_time(struct sharer *p, sennit_time now)
{
	if (now > p->counted)
		p->virtual += p->running * (now - p->counted) / p->weight;
	p->counted = now;
}

/* The busy sharer, except `not`, with the lowest virtual time. NULL: none is
 * busy. */
static struct sharer *find_last_sharer(struct shares *s,
				       const struct sharer * not )
{
	struct sharer *last = NULL;

	for (struct link *l = s->sharers; l; l = sn_link_after(l, s->sharers)) {
		struct sharer *p = sharer_of(l);

		if (p != not &&sharer_is_busy(p) &&
		    (!last || virtual_lead(p, last) < 0))
			last = p;
	}
	return last;
}

static void limit_lead(struct sharer *p, const struct sharer *last)
{
	if (virtual_lead(p, last) > (int64_t)SHARES_LAG)
		p->virtual = last->virtual + SHARES_LAG;
}

static void count_all(struct shares *s, sennit_time now)
{
	for (struct link *l = s->sharers; l; l = sn_link_after(l, s->sharers))
		count_time(sharer_of(l), now);
}

/* Update the virtual times of all sharers before a slot changes hands. */
static void update_virtual_times(struct shares *s, sennit_time now)
{
	struct sharer *last;

	count_all(s, now);
	last = find_last_sharer(s, NULL);
	for (struct link *l = s->sharers; l; l = sn_link_after(l, s->sharers))
		limit_lead(sharer_of(l), last);
}

/* p was not busy and becomes busy. It gets no credit for the time it was
 * idle. */
static void catch_up_sharer(struct shares *s, struct sharer *p, sennit_time now)
{
	struct sharer *last;

	count_all(s, now);
	last = find_last_sharer(s, p);
	if (!last)
		return;
	if (virtual_lead(p, last) < 0)
		p->virtual = last->virtual;
	limit_lead(p, last);
}

/* --- claims ------------------------------------------------------------- */

static void add_to_hint(a_u32 *hint, uint32_t more)
{
	/* Not raced: the caller holds the lock. */
	a_store_rlx(hint, a_load_rlx(hint) + more);
}

/* Update the hints after a change of p's numbers. */
static void update_hints(struct shares *s, struct sharer *p)
{
	bool urgent = p->waiting && p->held < p->min;
	bool excess = p->held > p->max;

	if (urgent != p->urgent)
		add_to_hint(&s->urgent, urgent ? 1 : UINT32_MAX);
	p->urgent = urgent;
	s->excessive += (uint32_t)excess - p->excess;
	p->excess = excess;
	a_store_rlx(&s->wanted,
		    s->waiting || s->excessive || s->held > slot_count(s));
	/* A hint: a holder that misses it looks again at its next safe
	 * point. */
	a_store_rlx(&p->lends, p->held > p->min);
}

static void grant_claim(struct shares *s, struct claim *c)
{
	struct sharer *p = c->sharer;

	c->state = CLAIM_GRANTED;
	p->held++;
	if (++s->held > s->held_most)
		s->held_most = s->held;
	update_hints(s, p);
}

static void release_claim(struct shares *s, struct claim *c, sennit_time now)
{
	struct sharer *p = c->sharer;

	count_time(p, now);
	p->running -= c->state == CLAIM_HELD;
	c->state = CLAIM_NONE;
	p->held--;
	s->held--;
	update_hints(s, p);
}

static void enqueue_claim(struct shares *s, struct claim *c)
{
	struct sharer *p = c->sharer;

	c->state = CLAIM_WAITING;
	sn_link_join(&p->queue, &c->link);
	p->waiting++;
	s->waiting++;
	update_hints(s, p);
}

static struct claim *dequeue_claim(struct shares *s, struct sharer *p)
{
	struct claim *c = container_of(p->queue, struct claim, link);

	sn_link_leave(&p->queue, &c->link);
	c->state = CLAIM_NONE;
	p->waiting--;
	s->waiting--;
	update_hints(s, p);
	return c;
}

/* --- the choice of the next claim --------------------------------------- */

/* Whether p comes before the other in the choice. */
static bool precedes(const struct sharer *p, const struct sharer *other)
{
	return p->urgent != other->urgent ? p->urgent
					  : virtual_lead(p, other) < 0;
}

/* The sharer that gets the next slot. NULL: no waiting sharer may have one. */
static struct sharer *choose_sharer(struct shares *s)
{
	struct sharer *best = NULL;

	for (struct link *l = s->sharers; l; l = sn_link_after(l, s->sharers)) {
		struct sharer *p = sharer_of(l);

		if (p->waiting && p->held < p->max &&
		    (!best || precedes(p, best)))
			best = p;
	}
	return best;
}

/* The sharer to which p yields a slot. NULL: p keeps it. */
static struct sharer *choose_heir(struct shares *s, struct sharer *p, bool over)
{
	struct sharer *best = choose_sharer(s);

	if (best && best != p && p->held > p->min &&
	    (best->urgent || (over && virtual_lead(p, best) > 0)))
		return best;
	return over && p->waiting ? p : NULL;
}

/* --- the calls ---------------------------------------------------------- */

bool sn_shares_join(struct shares *s, struct sharer *p)
{
	if (p->min > slot_count(s) - s->promised)
		return false;
	s->promised += p->min;
	s->count++;
	sn_link_join(&s->sharers, &p->link);
	return true;
}

static void update_all_hints(struct shares *s)
{
	for (struct link *l = s->sharers; l; l = sn_link_after(l, s->sharers))
		update_hints(s, sharer_of(l));
}

bool sn_shares_resize(struct shares *s, uint32_t n)
{
	if (s->promised > n)
		return false;
	a_store_rlx(&s->slots, n); /* not raced: the lock is held */
	update_all_hints(s);
	return true;
}

bool sn_shares_change(struct shares *s, struct sharer *p, uint32_t min,
		      uint32_t max, uint32_t weight, sennit_time now)
{
	if (min > slot_count(s) - (s->promised - p->min))
		return false;
	count_all(s, now);
	s->promised += min - p->min;
	p->min = min;
	p->max = max;
	p->weight = weight;
	update_hints(s, p);
	return true;
}

void sn_shares_leave(struct shares *s, struct sharer *p)
{
	s->promised -= p->min;
	s->count--;
	sn_link_leave(&s->sharers, &p->link);
}

bool sn_shares_take(struct shares *s, struct claim *c, sennit_time now)
{
	struct sharer *p = c->sharer;

	if (!sharer_is_busy(p))
		catch_up_sharer(s, p, now);
	if (s->held < slot_count(s) && p->held < p->max) {
		grant_claim(s, c);
		sn_shares_begin(s, c, now);
		return true;
	}
	enqueue_claim(s, c);
	return false;
}

void sn_shares_begin(struct shares *s, struct claim *c, sennit_time now)
{
	(void)s;
	count_time(c->sharer, now);
	c->state = CLAIM_HELD;
	c->sharer->running++;
}

struct claim *sn_shares_give(struct shares *s, struct claim *c, sennit_time now)
{
	release_claim(s, c, now);
	return sn_shares_grant(s, now);
}

struct claim *sn_shares_grant(struct shares *s, sennit_time now)
{
	struct sharer *p;
	struct claim  *next;

	if (!s->waiting || s->held >= slot_count(s))
		return NULL;
	update_virtual_times(s, now);
	p = choose_sharer(s);
	if (!p)
		return NULL;
	next = dequeue_claim(s, p);
	grant_claim(s, next);
	return next;
}

bool sn_shares_yield(struct shares *s, struct claim *c, bool over,
		     sennit_time now, struct claim **next)
{
	struct sharer *heir;

	update_virtual_times(s, now);
	*next = NULL;
	if (s->held > slot_count(s) || c->sharer->excess) {
		release_claim(s, c, now);
		enqueue_claim(s, c);
		*next = sn_shares_grant(s, now);
		return true;
	}
	heir = choose_heir(s, c->sharer, over);
	if (!heir)
		return false;
	*next = dequeue_claim(s, heir);
	release_claim(s, c, now);
	grant_claim(s, *next);
	enqueue_claim(s, c);
	s->moves++;
	return true;
}

struct claim *sn_shares_drop(struct shares *s, struct sharer *p)
{
	return p->queue ? dequeue_claim(s, p) : NULL;
}
