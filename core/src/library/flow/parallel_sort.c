/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sort.c - a parallel merge sort. Halves are sorted by any workers,
 * from one buffer into the other. Each merge is a parallel loop over the
 * positions of its output.
 *
 * All elements must be in the array again when the sort ends, each exactly
 * once, even if the sort was cancelled. A merge only reads its input. If the
 * sort is cancelled by the time a merge has ended, a copy of its input undoes
 * it. A part that has not begun leaves the elements where they are wanted, or
 * copies them there.
 */
#include "flow/graph.h"
#include "flow/parallel.h"
#include "group/group.h"

#include <string.h>

#define SORT_CALL "sennit_parallel_sort"

/* By default and at least, one worker sorts this many elements alone. */
#define CHUNK       2048
#define CHUNK_BYTES 32768
#define CHUNK_LEAST 32

struct sort_call {
	struct parallel parallel;
	struct order    order; /* fixed */
	char           *data;  /* fixed */
	char           *other; /* fixed */
	size_t          count; /* fixed */
	size_t          chunk; /* fixed */
};

/* A range of neighbouring elements. */
struct stretch {
	struct sort_call *call;
	size_t            begin;
	size_t            count;
	bool              into_other; /* whether the result is wanted in
				       * `other` */
};

static char *element(const struct sort_call *c, bool in_other, size_t i)
{
	return (in_other ? c->other : c->data) + i * c->order.size;
}

/* Whether to give up. If so, all workers will. */
static bool stops(struct sort_call *c)
{
	int err = sn_parallel_stops(&c->parallel.group);

	if (err)
		sn_group_fail(&c->parallel.group, err);
	return err;
}

/* --- merging ------------------------------------------------------------ */

struct merge {
	struct sort_call *call;
	struct runs       runs;
	char             *to;
};

/* A cancelled sort may leave input that is not sorted. A worker that finds a
 * contradiction for that reason has already seen the cancel. */
static void must_agree(struct sort_call *c, bool agrees)
{
	MISUSE(!agrees && !stops(c), SORT_CALL,
	       "the comparison function is inconsistent");
}

static int merge_piece(void *context, size_t begin, size_t end)
{
	struct merge       *m = context;
	const struct order *o = &m->call->order;
	const struct runs  *r = &m->runs;
	size_t              a = sn_mergesort_split(o, r, begin);
	size_t              a_end = sn_mergesort_split(o, r, end);
	bool                agrees = a <= a_end && a_end - a <= end - begin;

	if (agrees) {
		const struct runs part = { r->a + a * o->size,
					   r->b + (begin - a) * o->size,
					   a_end - a,
					   end - begin - (a_end - a) };

		agrees = sn_mergesort_merge(o, part, m->to + begin * o->size);
	}
	must_agree(m->call, agrees);
	return 0;
}

/* Merge the two sorted halves of *s. The first half has n elements. */
static void merge_halves(struct stretch *s, size_t n)
{
	struct sort_call *c = s->call;
	sennit_group      g;
	struct merge      m = { .call = c };
	struct loop       l = { .group = &g,
				.body = merge_piece,
				.context = &m,
				.call = SORT_CALL,
				.grain = c->chunk };

	m.runs = (struct runs){ element(c, !s->into_other, s->begin),
				element(c, !s->into_other, s->begin + n), n,
				s->count - n };
	m.to = element(c, s->into_other, s->begin);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	(void)!sn_parallel_loop(&l, 0, s->count);
	sennit_group_wait(&g); /* cancelled: the caller checks */
}

/* --- ranges ------------------------------------------------------------- */

/* Give up: leave the elements unchanged, in the buffer where they are wanted.
 */
static void copy_unsorted(const struct stretch *s, bool is_in_other)
{
	const struct sort_call *c = s->call;

	if (s->into_other != is_in_other)
		memcpy(element(c, s->into_other, s->begin),
		       element(c, is_in_other, s->begin),
		       s->count * c->order.size);
}

static void sort_chunk(struct stretch *s)
{
	struct sort_call *c = s->call;

	sn_parallel_give_way(sn_self, NULL);
	must_agree(c, sn_mergesort(&c->order, element(c, false, s->begin),
				   element(c, true, s->begin), s->count,
				   s->into_other));
}

static int sort_stretch(void *argument);

static void sort_halves(struct stretch *s)
{
	size_t         n = s->count / 2;
	struct stretch first = { .call = s->call,
				 .begin = s->begin,
				 .count = n,
				 .into_other = !s->into_other };
	struct stretch second = first;
	sennit_group   g;
	bool           offered;

	second.begin += n;
	second.count = s->count - n;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	offered = sn_parallel_offer(&g, sort_stretch, &second);
	(void)sort_stretch(&first);
	sennit_group_wait(&g); /* cancelled: sort_stretch() checks */
	if (!offered)
		(void)sort_stretch(&second);
	if (!stops(s->call))
		merge_halves(s, n);
	if (stops(s->call))
		copy_unsorted(s, !s->into_other);
}

static int sort_stretch(void *argument)
{
	struct stretch *s = argument;

	if (stops(s->call))
		copy_unsorted(s, false);
	else if (s->count <= s->call->chunk)
		sort_chunk(s);
	else
		sort_halves(s);
	return 0;
}

/* --- the call ----------------------------------------------------------- */

static size_t choose_chunk(const struct sort_call *c)
{
	size_t chunk = CHUNK_BYTES / c->order.size;

	if (chunk > CHUNK)
		chunk = CHUNK;
	if (c->parallel.grain)
		chunk = c->parallel.grain;
	return chunk > CHUNK_LEAST ? chunk : CHUNK_LEAST;
}

static int sort_with(struct sort_call *c, void *scratch)
{
	struct stretch whole = { .call = c, .count = c->count };

	c->other = scratch;
	c->chunk = choose_chunk(c);
	return sn_parallel_run(&c->parallel, sort_stretch, &whole);
}

int sennit_parallel_sort(void *base, size_t count, size_t size,
			 sennit_compare_fn *compare, void *context,
			 void *scratch, const sennit_parallel_options *options,
			 sennit_time deadline)
{
	struct sort_call c = { .order = { size, compare, context },
			       .data = base,
			       .count = count };
	int err = sn_parallel_init(&c.parallel, options, deadline, SORT_CALL);
	const sennit_allocator *a;

	if (err || !size || !compare || count > SIZE_MAX / size)
		return err ? err : -EINVAL;
	if (count < 2)
		return 0;
	if (scratch)
		return sort_with(&c, scratch);
	a = &c.parallel.scheduler->memory;
	scratch = a->allocate(a->context, count * size, CACHE_LINE);
	if (!scratch)
		return -ENOMEM;
	err = sort_with(&c, scratch);
	a->release(a->context, scratch, count * size);
	return err;
}
