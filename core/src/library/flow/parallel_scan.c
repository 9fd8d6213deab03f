/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_scan.c - an inclusive scan of a range that is split in blocks, in
 * two passes over them.
 *
 *	pass 1   block 0: put out   blocks 1.., except the last: accumulated
 *	between  the sum before each block: combined in sequence
 *	pass 2                      blocks 1..: put out, from that sum on
 *
 * With P workers and P + 1 blocks, each pass processes P blocks in parallel. So
 * a scan takes 2/(P + 1) of the time that one worker needs. No division into
 * equal blocks takes less.
 */
#include "flow/parallel.h"
#include "group/group.h"

#include <string.h>

#define SCAN_CALL "sennit_parallel_scan"

/* Deterministic mode: the number of blocks. */
#define BLOCKS 64

/* The largest piece of a block is 1/STRIDES of it; in deterministic mode, where
 * pieces must not depend on the clock, each one is. */
#define STRIDES 64

struct scan_call {
	struct parallel     parallel;
	const sennit_scan  *how;     /* fixed */
	void               *context; /* fixed */
	size_t              begin;   /* fixed */
	size_t              end;     /* fixed */
	size_t              block;   /* fixed: size of all blocks except the
				     * last */
	size_t              blocks;  /* fixed */
	size_t              stride;  /* fixed: bytes of an accumulator */
	char               *memory;  /* one accumulator per block, then one
				     * more */
	const sennit_group *pass;    /* fixed during a pass: all blocks that are
				     * cut off join it */
};

typedef int accumulate_fn(void *context, void *accumulator, size_t begin,
			  size_t end);

static void *accumulator(const struct scan_call *c, size_t block)
{
	return c->memory + block * c->stride;
}

/* Report an error to the group, so that all blocks stop. */
static int report_scan_error(struct scan_call *c, int err)
{
	if (err)
		sn_group_fail(&c->parallel.group, err);
	return err;
}

/* --- blocks ------------------------------------------------------------- */

/* A block that is accumulated or put out. */
struct scan_turn {
	struct scan_call *call;
	accumulate_fn    *run;
	void             *accumulator;
};

static int run_scan_piece(void *context, size_t begin, size_t end)
{
	const struct scan_turn *t = context;

	return t->run(t->call->context, t->accumulator, begin, end);
}

static int run_block(struct scan_call *c, size_t block, accumulate_fn *run)
{
	struct scan_turn  t = { c, run, accumulator(c, block) };
	const size_t      most = sn_parallel_divide(c->block, STRIDES);
	const size_t      begin = c->begin + block * c->block;
	const struct loop l = {
		.group = &c->parallel.group,
		.body = run_scan_piece,
		.context = &t,
		.call = SCAN_CALL,
		.grain = c->parallel.deterministic ? most : 0,
		.most = most,
	};
	struct range r = sn_parallel_range(
		&l, begin,
		c->end - begin < c->block ? c->end : begin + c->block);
	int err;

	r.cuts = c->pass;
	do
		err = sn_parallel_step(&l, &r, sn_self);
	while (!err && r.begin != r.end);
	return report_scan_error(c, err);
}

static void make_scan_identity(const struct scan_call *c, void *empty)
{
	const sennit_reduction *r = &c->how->reduction;

	if (r->identity)
		r->identity(c->context, empty);
	else
		memset(empty, 0, r->accumulator_size);
}

static int first_pass(void *context, size_t begin, size_t end)
{
	struct scan_call *c = context;
	accumulate_fn    *add = c->how->reduction.accumulate;
	int               err = 0;

	for (size_t i = begin; i < end && !err; i++) {
		make_scan_identity(c, accumulator(c, i));
		err = run_block(c, i, i ? add : c->how->put_out);
	}
	return err;
}

static int second_pass(void *context, size_t begin, size_t end)
{
	struct scan_call *c = context;
	int               err = 0;

	for (size_t i = begin; i < end && !err; i++)
		err = run_block(c, i, c->how->put_out);
	return err;
}

/* --- passes ------------------------------------------------------------- */

static int run_scan_pass(struct scan_call *c, sennit_range_fn *run,
			 size_t first, size_t end)
{
	sennit_group      g;
	const struct loop l = { .group = &g,
				.body = run,
				.context = c,
				.call = SCAN_CALL,
				.grain = 1 };
	int               err, other;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	c->pass = &g;
	err = report_scan_error(c, sn_parallel_loop(&l, first, end));
	other = report_scan_error(c, sennit_group_wait(&g));
	return err ? err : other;
}

/* Set the accumulator of each block except the first to the sum of all blocks
 * before it. The first keeps its own. */
static void combine_blocks(struct scan_call *c)
{
	size_t size = c->how->reduction.accumulator_size;
	void  *sum = accumulator(c, c->blocks);

	memcpy(sum, accumulator(c, 0), size);
	for (size_t i = 1; i + 1 < c->blocks; i++) {
		c->how->reduction.combine(c->context, sum, accumulator(c, i));
		memcpy(accumulator(c, i), sum, size);
	}
	for (size_t i = c->blocks - 1; i > 0; i--)
		memcpy(accumulator(c, i), accumulator(c, i - 1), size);
}

static int scan(void *argument)
{
	struct scan_call *c = argument;
	size_t            all_but_last = c->blocks > 1 ? c->blocks - 1 : 1;
	int               err = run_scan_pass(c, first_pass, 0, all_but_last);

	if (err || c->blocks == 1)
		return err;
	combine_blocks(c);
	return run_scan_pass(c, second_pass, 1, c->blocks);
}

/* --- the call ----------------------------------------------------------- */

/* The maximum number of blocks for n indices. */
static size_t choose_blocks(const struct scan_call *c, size_t n)
{
	size_t workers = c->parallel.workers;
	size_t blocks = workers > 1 ? workers + 1 : 1;
	size_t most = c->parallel.grain ? n / c->parallel.grain : n;

	if (c->parallel.deterministic)
		blocks = BLOCKS;
	if (blocks > most)
		blocks = most;
	return blocks ? blocks : 1;
}

static void divide(struct scan_call *c, size_t n)
{
	c->block = sn_parallel_divide(n, choose_blocks(c, n));
	c->blocks = sn_parallel_divide(n, c->block);
}

/* Each accumulator lies on cache lines of its own. */
static int take_memory(struct scan_call *c)
{
	const sennit_allocator *a = &c->parallel.scheduler->memory;
	size_t                  size = c->how->reduction.accumulator_size;

	if (size > SIZE_MAX - CACHE_LINE)
		return -ENOMEM;
	c->stride = sn_parallel_divide(size, CACHE_LINE) * CACHE_LINE;
	if (c->stride > SIZE_MAX / (c->blocks + 1))
		return -ENOMEM;
	c->memory = a->allocate(a->context, (c->blocks + 1) * c->stride,
				CACHE_LINE);
	return c->memory ? 0 : -ENOMEM;
}

static void give_memory(const struct scan_call *c)
{
	const sennit_allocator *a = &c->parallel.scheduler->memory;

	a->release(a->context, c->memory, (c->blocks + 1) * c->stride);
}

static int scan_with_memory(struct scan_call *c, void *result)
{
	int err = 0;

	if (c->begin < c->end)
		err = sn_parallel_run(&c->parallel, scan, c);
	else
		make_scan_identity(c, accumulator(c, 0));
	if (!err && result)
		memcpy(result, accumulator(c, c->blocks - 1),
		       c->how->reduction.accumulator_size);
	return err;
}

int sennit_parallel_scan(size_t begin, size_t end, const sennit_scan *how,
			 void *context, void *result,
			 const sennit_parallel_options *options,
			 sennit_time                    deadline)
{
	struct scan_call c = {
		.how = how, .context = context, .begin = begin, .end = end
	};
	int err = sn_parallel_init(&c.parallel, options, deadline, SCAN_CALL);

	if (err || !how || !how->put_out || !how->reduction.accumulator_size ||
	    !how->reduction.accumulate || !how->reduction.combine ||
	    how->reduction.reserved_ || how->reserved_)
		return err ? err : -EINVAL;
	divide(&c, begin < end ? end - begin : 1);
	err = take_memory(&c);
	if (err)
		return err;
	err = scan_with_memory(&c, result);
	give_memory(&c);
	return err;
}
