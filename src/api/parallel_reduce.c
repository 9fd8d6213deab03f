/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_reduce.c - whoever cuts a range has the second half accumulated by
 * somebody, goes on with the first, waits for the other, and combines the two.
 *
 * A cut costs a group, on the stack of whoever cuts; there are at most as many
 * at once as a range can be halved. The accumulator of the second half is its
 * own while it is accumulated, so as not to be on a line with the first.
 *
 * Where there is no memory for one there is no cut; where there must be, to
 * have the same result, both halves are done by one worker, one after the
 * other, in a reserve that was allocated beforehand. It is enough for one at a
 * time. So nothing fails for want of memory once anything has been called.
 */
#include "api/parallel.h"
#include "base/memory.h"
#include "wait/group_join.h"

#include <string.h>

#define CALL "sennit_parallel_reduce"

/* Accumulators up to this size lie on stacks. */
#define SMALL 64

/* Where they lie. */
#define ALIGNED 16

/* Deterministic, without a grain: how many parts of the whole. */
#define PARTS 256

struct reduce_call {
	struct parallel         parallel;
	const sennit_reduction *how;     /* fixed */
	void                   *context; /* fixed */
	struct loop             loop;    /* fixed, but for a context */
	size_t                  stride;  /* fixed: bytes of an accumulator */
	size_t                  levels;  /* fixed: accumulators in it: */
	char                   *reserve; /* under alone */
	sennit_mutex            alone;
};

/* A part of the range that is accumulated on its own, and stored in *to. */
struct part {
	struct reduce_call *call;
	struct range        range;
	void               *to;
};

/* Room for an accumulator. */
struct room {
	_Alignas(ALIGNED) unsigned char small[SMALL];
	void *memory;
};

static bool take_room(struct room *r, const struct reduce_call *c)
{
	const sennit_allocator *a = &c->parallel.scheduler->memory;

	r->memory = r->small;
	if (c->stride > SMALL)
		r->memory = a->allocate(a->context, c->stride, CACHE_LINE);
	return r->memory;
}

static void give_room(struct room *r, const struct reduce_call *c)
{
	const sennit_allocator *a = &c->parallel.scheduler->memory;

	if (r->memory != r->small)
		a->release(a->context, r->memory, c->stride);
}

static void make_identity(const struct reduce_call *c, void *accumulator)
{
	if (c->how->identity)
		c->how->identity(c->context, accumulator);
	else
		memset(accumulator, 0, c->how->size);
}

static int fold(struct reduce_call *c, struct range *r, void *accumulator);

/* --- parts -------------------------------------------------------------- */

/* What is added up in small accumulators goes only in the end to where another
 * waits for it. */
static int run_part(void *argument)
{
	const struct part  *p = argument;
	struct reduce_call *c = p->call;
	struct range        r = p->range;
	struct room         own = { .memory = p->to };
	int                 err;

	if (c->stride <= SMALL)
		own.memory = own.small;
	make_identity(c, own.memory);
	err = fold(c, &r, own.memory);
	if (!err && own.memory == own.small)
		memcpy(p->to, own.small, c->how->size);
	return err;
}

/* Do *r in two halves, the second as a member of *g. */
static int fold_both(struct reduce_call *c, struct range *r, void *accumulator,
		     struct part *second, sennit_group *g)
{
	bool offered = sn_parallel_offer(g, run_part, second);
	int  err, other;

	r->end = second->range.begin;
	err = fold(c, r, accumulator);
	other = sennit_group_wait(g);
	if (!offered && !err)
		other = run_part(second);
	if (err || other)
		return err ? err : other;
	c->how->combine(c->context, accumulator, second->to);
	return 0;
}

/* Do *r in two halves. Where there is no room for a second accumulator, *r
 * stays as it is, for the caller to do. */
static NOINLINE int halve(struct reduce_call *c, struct range *r,
			  void *accumulator)
{
	struct part  second = { c, *r, NULL };
	struct room  room;
	sennit_group g;
	int          err;

	if (!take_room(&room, c))
		return 0;
	second.to = room.memory;
	second.range.begin = sn_parallel_middle(&c->loop, r);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = fold_both(c, r, accumulator, &second, &g);
	give_room(&room, c);
	r->begin = r->end;
	return err;
}

/* --- one after the other ------------------------------------------------ */

struct fold {
	const struct reduce_call *call;
	void                     *accumulator;
};

static int accumulate(void *context, size_t begin, size_t end)
{
	const struct fold *f = context;

	return f->call->how->accumulate(f->call->context, f->accumulator, begin,
					end);
}

/* Whether there is stack for one more cut, and who would do it. */
static bool is_cut_wanted(const struct range *r, struct worker *w)
{
	return (char *)__builtin_frame_address(0) >= w->home.current->shallow &&
	       sn_parallel_is_wanted(r, w);
}

/* Cutting it as often as is wanted. */
static int fold_as_wanted(struct reduce_call *c, const struct loop *l,
			  struct range *r, void *accumulator)
{
	struct worker *w = sn_self;
	int            err = 0;

	if (is_cut_wanted(r, w))
		err = halve(c, r, accumulator);
	while (!err && r->begin != r->end) {
		err = sn_parallel_pieces(l, r, w);
		if (!err && r->begin != r->end && is_cut_wanted(r, w))
			err = halve(c, r, accumulator);
	}
	return err;
}

/* What is not longer than a piece. */
static int fold_piece(const struct loop *l, struct range *r)
{
	sn_parallel_give_way(sn_self);
	return sn_parallel_pieces(l, r, sn_self);
}

/* As fold_as_told, with `reserve` for the second halves. A first half has ended
 * when its second one begins, so both have the rest of it. */
static int fold_alone(struct reduce_call *c, const struct range *r,
		      void *accumulator, char *reserve)
{
	struct range first = *r, second = *r;
	struct fold  f = { c, accumulator };
	struct loop  l = c->loop;
	int          err;

	l.context = &f;
	if (r->end - r->begin <= r->piece)
		return fold_piece(&l, &first);
	first.end = second.begin = sn_parallel_middle(&c->loop, r);
	err = fold_alone(c, &first, accumulator, reserve);
	if (err)
		return err;
	make_identity(c, reserve);
	err = fold_alone(c, &second, reserve, reserve + c->stride);
	if (!err)
		c->how->combine(c->context, accumulator, reserve);
	return err;
}

/* Cutting it until no part is longer than the grain. */
static int fold_as_told(struct reduce_call *c, const struct loop *l,
			struct range *r, void *accumulator)
{
	int err;

	if (r->end - r->begin <= r->piece)
		return fold_piece(l, r);
	err = halve(c, r, accumulator);
	if (err || r->begin == r->end)
		return err;
	sennit_mutex_lock(&c->alone);
	err = fold_alone(c, r, accumulator, c->reserve);
	sennit_mutex_unlock(&c->alone);
	return err;
}

/* Add *r to *accumulator. An error stops all other parts at once. */
static int fold(struct reduce_call *c, struct range *r, void *accumulator)
{
	struct fold f = { c, accumulator };
	struct loop l = c->loop;
	int         err;

	l.context = &f;
	err = c->parallel.deterministic ? fold_as_told(c, &l, r, accumulator)
					: fold_as_wanted(c, &l, r, accumulator);
	if (err)
		sn_group_fail(&c->parallel.group, err);
	return err;
}

/* --- the call ----------------------------------------------------------- */

static void set_loop(struct reduce_call *c, size_t n)
{
	c->loop = (struct loop){
		.group = &c->parallel.group,
		.body = accumulate,
		.call = CALL,
		.grain = c->parallel.grain,
		.most = sn_parallel_most(&c->parallel, n),
	};
	if (c->parallel.deterministic && !c->loop.grain)
		c->loop.grain = sn_parallel_divide(n, PARTS);
}

/* How often the second half of a second half and so on is cut. A first half is
 * cut no more often: it is no longer, and a multiple of the grain. */
static size_t count_levels(const struct loop *l, struct range r)
{
	size_t levels = 0;

	for (; r.end - r.begin > r.piece; levels++)
		r.begin = sn_parallel_middle(l, &r);
	return levels;
}

/* What no cut must do without. */
static int take_reserve(struct reduce_call *c, const struct range *whole)
{
	const sennit_allocator *a = &c->parallel.scheduler->memory;

	if (c->stride <= SMALL || !c->parallel.deterministic)
		return 0;
	c->levels = count_levels(&c->loop, *whole);
	if (!c->levels)
		return 0;
	if (c->stride > SIZE_MAX / c->levels)
		return -ENOMEM;
	c->reserve = a->allocate(a->context, c->levels * c->stride, CACHE_LINE);
	return c->reserve ? 0 : -ENOMEM;
}

static void give_reserve(const struct reduce_call *c)
{
	const sennit_allocator *a = &c->parallel.scheduler->memory;

	if (c->reserve)
		a->release(a->context, c->reserve, c->levels * c->stride);
}

/* Reduce [begin, end), which is not empty, to *accumulator. */
static int reduce(struct reduce_call *c, size_t begin, size_t end,
		  void *accumulator)
{
	struct part whole = { .call = c, .to = accumulator };
	int         err;

	set_loop(c, end - begin);
	whole.range = sn_parallel_range(&c->loop, begin, end);
	err = take_reserve(c, &whole.range);
	if (err)
		return err;
	err = sn_parallel_run(&c->parallel, run_part, &whole);
	give_reserve(c);
	return err;
}

int sennit_parallel_reduce(size_t begin, size_t end,
			   const sennit_reduction *how, void *context,
			   void *result, const sennit_parallel_options *options)
{
	struct reduce_call c = { .how = how, .context = context };
	struct room        room;
	int                err = sn_parallel_open(&c.parallel, options, CALL);

	if (err || !how || !how->size || !how->accumulate || !how->combine)
		return -EINVAL;
	if (how->size > SIZE_MAX - ALIGNED)
		return -ENOMEM;
	c.stride = sn_parallel_divide(how->size, ALIGNED) * ALIGNED;
	if (!take_room(&room, &c))
		return -ENOMEM;
	if (begin < end)
		err = reduce(&c, begin, end, room.memory);
	else
		make_identity(&c, room.memory);
	if (!err)
		memcpy(result, room.memory, how->size);
	give_room(&room, &c);
	return err;
}
