/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_reduce.c - a worker that cuts a range offers the second half to
 * others, accumulates the first half itself, waits for the second, and combines
 * the two.
 *
 * Each cut has a group, on the stack of the cutting worker. At most as many
 * exist at once as a range can be halved. The second half has an accumulator of
 * its own while it is accumulated, so that it does not share a cache line with
 * the first.
 *
 * If there is no memory for an accumulator, there is no cut. Where a cut is
 * needed to get the same result (deterministic mode), one worker processes both
 * halves in sequence. It uses a reserve that was allocated in advance and is
 * large enough for one worker at a time. So nothing fails for lack of memory
 * once a function of the program has been called.
 */
#include "flow/parallel.h"
#include "group/group.h"

#include <string.h>

#define REDUCE_CALL "sennit_parallel_reduce"

/* Accumulators of up to this many bytes lie on stacks. */
#define SMALL 64

/* Alignment of accumulators on stacks. */
#define ALIGNED 16

/* Deterministic mode without a grain: the number of parts of the range. */
#define PARTS 256

struct reduce_call {
	struct parallel         parallel;
	const sennit_reduction *how;     /* fixed */
	void                   *context; /* fixed */
	struct loop             loop;    /* fixed, except for its context */
	size_t                  stride;  /* fixed: bytes of an accumulator */
	size_t                  levels;  /* fixed: number of accumulators in the
					  * reserve */
	char                   *reserve; /* under `alone` */
	sennit_mutex            alone;
};

/* A part of the range that is accumulated separately and stored in *to. */
struct part {
	struct reduce_call *call;
	struct range        range;
	void               *to;
};

/* Memory for one accumulator. */
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

static void make_reduce_identity(const struct reduce_call *c, void *accumulator)
{
	if (c->how->identity)
		c->how->identity(c->context, accumulator);
	else
		memset(accumulator, 0, c->how->accumulator_size);
}

static int fold(struct reduce_call *c, struct range *r, void *accumulator);

/* --- parts -------------------------------------------------------------- */

/* A small accumulator is copied only at the end to `to`, where another worker
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
	make_reduce_identity(c, own.memory);
	err = fold(c, &r, own.memory);
	if (!err && own.memory == own.small)
		memcpy(p->to, own.small, c->how->accumulator_size);
	return err;
}

/* Process *r in two halves, the second one as a member of *g. */
static int fold_both(struct reduce_call *c, struct range *r, void *accumulator,
		     struct part *second, sennit_group *g)
{
	bool offered = sn_parallel_offer(g, run_part, second);
	int  err, other;

	r->end = second->range.begin;
	r->cuts = g;
	err = fold(c, r, accumulator);
	other = sennit_group_wait(g);
	if (!offered && !err)
		other = run_part(second);
	if (err || other)
		return err ? err : other;
	c->how->combine(c->context, accumulator, second->to);
	return 0;
}

/* Process *r in two halves. If there is no memory for a second accumulator, *r
 * is left unchanged for the caller. */
static NOINLINE int halve(struct reduce_call *c, struct range *r,
			  void *accumulator)
{
	struct part  second = { .call = c };
	struct room  room;
	sennit_group g;
	int          err;

	if (!take_room(&room, c))
		return 0;
	second.to = room.memory;
	second.range = sn_parallel_rest(&c->loop, r);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = fold_both(c, r, accumulator, &second, &g);
	give_room(&room, c);
	r->begin = r->end;
	return err;
}

/* --- in sequence -------------------------------------------------------- */

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

/* Whether the stack has room for one more cut, and other workers need it. */
static bool is_cut_wanted(const struct range *r, struct worker *w)
{
	return (char *)__builtin_frame_address(0) >= w->home.current->shallow &&
	       sn_parallel_is_wanted(r, w);
}

/* Cut *r as often as other workers need it. */
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

/* Process a range that is not longer than a piece. */
static int fold_piece(const struct loop *l, struct range *r)
{
	sn_parallel_give_way(sn_self, r->cuts);
	return sn_parallel_pieces(l, r, sn_self);
}

/* Like fold_as_told, with `reserve` for the second halves. The first half has
 * ended when the second one begins, so both can use the rest of the reserve. */
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
	make_reduce_identity(c, reserve);
	err = fold_alone(c, &second, reserve, reserve + c->stride);
	if (!err)
		c->how->combine(c->context, accumulator, reserve);
	return err;
}

/* Cut *r until no part is longer than the grain. */
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

/* Accumulate *r into *accumulator. An error stops all other parts at once. */
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
		.call = REDUCE_CALL,
		.opened = c->parallel.opened,
		.grain = c->parallel.grain,
		.most = sn_parallel_most(&c->parallel, n),
	};
	if (c->parallel.deterministic && !c->loop.grain)
		c->loop.grain = sn_parallel_divide(n, PARTS);
}

/* How often the second half of a second half, and so on, is cut. A first half
 * is cut no more often: it is not longer, and a multiple of the grain. */
static size_t count_levels(const struct loop *l, struct range r)
{
	size_t levels = 0;

	for (; r.end - r.begin > r.piece; levels++)
		r.begin = sn_parallel_middle(l, &r);
	return levels;
}

/* Allocate the reserve for cuts that must not fail. */
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

/* Reduce [begin, end), which is not empty, into *accumulator. */
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
			   void *result, const sennit_parallel_options *options,
			   sennit_time deadline)
{
	struct reduce_call c = { .how = how, .context = context };
	struct room        room;
	int err = sn_parallel_init(&c.parallel, options, deadline, REDUCE_CALL);

	if (err || !how || !how->accumulator_size || !how->accumulate ||
	    !how->combine || how->reserved_)
		return err ? err : -EINVAL;
	if (how->accumulator_size > SIZE_MAX - ALIGNED)
		return -ENOMEM;
	c.stride = sn_parallel_divide(how->accumulator_size, ALIGNED) * ALIGNED;
	if (!take_room(&room, &c))
		return -ENOMEM;
	if (begin < end)
		err = reduce(&c, begin, end, room.memory);
	else
		make_reduce_identity(&c, room.memory);
	if (!err)
		memcpy(result, room.memory, how->accumulator_size);
	give_room(&room, &c);
	return err;
}
