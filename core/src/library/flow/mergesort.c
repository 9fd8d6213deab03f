/* SPDX-License-Identifier: Apache-2.0 */
/* mergesort.c - a stable merge sort, and the split of a merge into two that can
 * run in parallel. */
#include "flow/graph.h"

#include "base/compiler.h"

#include <string.h>

/* The length of the runs that insertion sort makes. */
#define INSERTED 8

/* Shorter runs are merged from the front only. */
#define TWO_ENDED 4

/* Minimum number of elements for which it pays to test whether one run lies
 * wholly before the other. */
#define LOOKED_AT 64

/* The functions below are compiled once for each common element size and once
 * for all others: `size` is a constant where they are inlined. */

static ALWAYS_INLINE bool is_less(const struct order *o, const char *x,
				  const char *y)
{
	return o->compare(x, y, o->context) < 0;
}

/* --- runs --------------------------------------------------------------- */

static ALWAYS_INLINE void insertion_sort(const struct order *o,
					 const char *from, char *to, size_t n,
					 size_t size)
{
	for (size_t i = 0; i < n; i++) {
		const char *x = from + i * size;
		char       *hole = to + i * size;

		for (; hole > to && is_less(o, x, hole - size); hole -= size)
			memcpy(hole, hole - size, size);
		memcpy(hole, x, size);
	}
}

/* Make sorted runs of INSERTED elements, within `data` or from `data` into
 * `other`. */
static ALWAYS_INLINE void make_runs(const struct order *o, char *data,
				    char *other, size_t n, bool into_other,
				    size_t size)
{
	for (size_t i = 0; i < n; i += INSERTED) {
		size_t count = n - i < INSERTED ? n - i : INSERTED;
		size_t at = i * size;

		insertion_sort(o, data + at, other + at, count, size);
		if (!into_other)
			memcpy(data + at, other + at, count * size);
	}
}

/* --- merging ------------------------------------------------------------ */

/* The rest of two runs, and the output space for it. */
struct ends {
	const char *a, *a_end;
	const char *b, *b_end;
	char       *to, *to_end;
};

/* Take that many steps. Returns false if the ends have crossed; *e is then
 * unchanged. */
static ALWAYS_INLINE bool from_both_ends(const struct order *o, struct ends *e,
					 size_t steps, size_t size)
{
	struct ends n = *e;

	while (steps--) {
		size_t first = is_less(o, n.b, n.a);
		size_t last = is_less(o, n.b_end - size, n.a_end - size);

		memcpy(n.to, first ? n.b : n.a, size);
		n.a += (first ^ 1) * size;
		n.b += first * size;
		n.to += size;
		n.to_end -= size;
		memcpy(n.to_end, (last ? n.a_end : n.b_end) - size, size);
		n.a_end -= last * size;
		n.b_end -= (last ^ 1) * size;
	}
	if (unlikely(n.a > n.a_end || n.b > n.b_end))
		return false;
	*e = n;
	return true;
}

static ALWAYS_INLINE void from_front(const struct order *o, struct ends *e,
				     size_t size)
{
	while (e->a < e->a_end && e->b < e->b_end) {
		const char **next = is_less(o, e->b, e->a) ? &e->b : &e->a;

		memcpy(e->to, *next, size);
		*next += size;
		e->to += size;
	}
}

/* The number of steps that both ends can take without a bounds check. */
static ALWAYS_INLINE size_t steps(const struct ends *e, size_t size)
{
	size_t a = (size_t)(e->a_end - e->a);
	size_t b = (size_t)(e->b_end - e->b);

	return (a < b ? a : b) / size;
}

static ALWAYS_INLINE bool merge(const struct order *o, struct ends e,
				size_t size)
{
	bool   agrees = true;
	size_t n;

	while (agrees && (n = steps(&e, size)) >= TWO_ENDED)
		agrees = from_both_ends(o, &e, n, size);
	if (likely(agrees))
		from_front(o, &e, size);
	memcpy(e.to, e.a, (size_t)(e.a_end - e.a));
	memcpy(e.to + (e.a_end - e.a), e.b, (size_t)(e.b_end - e.b));
	return agrees;
}

/* Concatenate the two runs if one lies wholly before the other. */
static ALWAYS_INLINE bool concatenate_runs(const struct order *o,
					   const struct runs *r, char *to,
					   size_t size)
{
	size_t a = r->a_count * size;
	size_t b = r->b_count * size;

	if (!is_less(o, r->b, r->a + a - size)) {
		memcpy(to, r->a, a);
		memcpy(to + a, r->b, b);
	} else if (is_less(o, r->b + b - size, r->a)) {
		memcpy(to, r->b, b);
		memcpy(to + b, r->a, a);
	} else {
		return false;
	}
	return true;
}

static ALWAYS_INLINE bool merge_runs(const struct order *o,
				     const struct runs *r, char *to,
				     size_t size)
{
	const size_t      a = r->a_count * size;
	const size_t      b = r->b_count * size;
	const struct ends e = {
		r->a, r->a + a, r->b, r->b + b, to, to + a + b
	};

	return (a && b && r->a_count + r->b_count >= LOOKED_AT &&
		concatenate_runs(o, r, to, size)) ||
	       merge(o, e, size);
}

/* Merge each pair of neighbouring runs of `run` elements. */
static ALWAYS_INLINE bool merge_pairs(const struct order *o, const char *from,
				      char *to, size_t n, size_t run,
				      size_t size)
{
	bool agrees = true;

	for (size_t i = 0; i < n; i += 2 * run) {
		const char *a = from + i * size;
		size_t      left = n - i;
		struct runs r = { a, a + run * size, run, left - run };

		if (left <= run)
			r = (struct runs){ a, a, left, 0 };
		else if (r.b_count > run)
			r.b_count = run;
		agrees &= merge_runs(o, &r, to + i * size, size);
	}
	return agrees;
}

static ALWAYS_INLINE bool sort_elements(const struct order *o, char *data,
					char *other, size_t n, bool into_other,
					size_t size)
{
	bool there = into_other, agrees = true;

	for (size_t run = INSERTED; run < n; run *= 2)
		there = !there;
	make_runs(o, data, other, n, there, size);
	for (size_t run = INSERTED; run < n; run *= 2) {
		agrees &= merge_pairs(o, there ? other : data,
				      there ? data : other, n, run, size);
		there = !there;
	}
	return agrees;
}

/* --- for each size ------------------------------------------------------ */

/* Elements of 32 bytes are copied by calls of memcpy, like all other sizes. */
#define FOR_SIZES(o, call)                     \
	switch ((o)->size) {                   \
	case 4: {                              \
		const size_t size = 4;         \
		return call;                   \
	}                                      \
	case 8: {                              \
		const size_t size = 8;         \
		return call;                   \
	}                                      \
	case 16: {                             \
		const size_t size = 16;        \
		return call;                   \
	}                                      \
	default: {                             \
		const size_t size = (o)->size; \
		return call;                   \
	}                                      \
	}

bool sn_mergesort(const struct order *o, char *data, char *other, size_t n,
		  bool into_other)
{
	FOR_SIZES(o, sort_elements(o, data, other, n, into_other, size))
}

bool sn_mergesort_merge(const struct order *o, struct runs r,
			char *to){ FOR_SIZES(o, merge_runs(o, &r, to, size)) }

/* --- splitting a merge -------------------------------------------------- */

size_t sn_mergesort_split(const struct order *o, const struct runs *r, size_t n)
{
	size_t low = n > r->b_count ? n - r->b_count : 0;
	size_t high = n < r->a_count ? n : r->a_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_less(o, r->b + (n - middle - 1) * o->size,
			    r->a + middle * o->size))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
