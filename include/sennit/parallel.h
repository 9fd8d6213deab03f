/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - loops over ranges of indices, done by all workers at once.
 *
 *	for      call a function for every index
 *	reduce   one result of them all: a sum, a maximum, a histogram
 *	scan     the result up to each index: prefix sums
 *	sort     an array, stably
 *
 * Each call cuts [begin, end) into pieces, has the workers of a scheduler do
 * them, and returns when all is done. A piece is a half of what somebody was
 * doing alone, cut off when nobody else has anything to take: without idle
 * workers a loop is little more than a loop. (Tzannes, Caragea, Barua, Vishkin:
 * Lazy binary-splitting, PPoPP 2010.)
 *
 *	static int change(void *context, size_t begin, size_t end)
 *	{
 *		float *x = context;
 *
 *		for (size_t i = begin; i < end; i++)
 *			x[i] = x[i] * 0.5f + 1.0f;
 *		return 0;
 *	}
 *	...
 *	err = sennit_parallel_for(0, n, change, x, NULL);
 *
 * The functions given run as members of a group inside the caller's: they may
 * wait and may call any of this again. They must not wait for another piece to
 * begin, since pieces may be done one after the other, in any order. While one
 * waits others begin, up to all there are. Between two pieces a worker looks
 * after fibers and timers that are due.
 *
 * An error, a deadline or the cancelling of a group around the caller keeps
 * pieces from beginning, and ends those waits of pieces under way that have
 * deadlines; the call returns once no piece is under way. A range that ends
 * before it begins is empty, and then nothing is called.
 */
#ifndef SENNIT_PARALLEL_H
#define SENNIT_PARALLEL_H

#include "sennit/group.h"

SENNIT_BEGIN

/* sennit_parallel_options.flags, for reduce and scan: group the elements by
 * their number and the grain alone, so that the result is the same, to the last
 * bit, with any number of workers and in every run. */
#define SENNIT_PARALLEL_DETERMINISTIC UINT32_C(1)

/* How to go about it. All zero, or NULL instead, is the usual way. */
typedef struct sennit_parallel_options {
	sennit_scheduler *scheduler; /* whose workers do it, to which the caller
				      * holds a reference; NULL: the bound
				      * scheduler's */
	size_t      grain;     /* what is worth being a piece; see each call. 0:
			       * the library chooses */
	sennit_time deadline;  /* 0 or SENNIT_NEVER: none but those of groups
			       * around the caller */
	uint32_t    flags;     /* SENNIT_PARALLEL_*, or 0 */
	uint32_t    reserved_; /* must be 0 */
} sennit_parallel_options;

/* All calls return 0 if everything was done; else the first of
 *   - what a function of the caller's returned: 0, or a negative errno value;
 *   - -ETIMEDOUT when the deadline came first, -ECANCELED when the caller's
 *     group was cancelled;
 *   - -ENOMEM: nothing was called.
 * -EINVAL: bad arguments (no function, a size of 0, unknown flags, a reserved_
 * that is not 0); nothing was called. It is misuse if no scheduler is given and
 * none bound, or if the given one has no workers and the caller is not bound to
 * it. */

/* Part of a range: the indices [begin, end), of which there is at least one. */
typedef int sennit_range_fn(void *context, size_t begin, size_t end);

/* Call body(context, ...) for pieces that make up [begin, end): each index is
 * in one piece, if nothing stops it. With a grain pieces have at most so many
 * indices and begin at multiples of it, counted from begin. Without, they grow
 * and shrink so as to take some 10 us each.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_for(
	size_t begin, size_t end, sennit_range_fn *body, void *context,
	const sennit_parallel_options *options);

/* How to reduce a range. An accumulator is `size` bytes that may be moved and
 * that own nothing, for when there is an error they are just dropped; it lies
 * at a multiple of 16. Combining must be associative, as far as that matters;
 * it need not be commutative: left and right stay what they are. */
typedef struct sennit_reduction {
	size_t size;

	/* Make *accumulator that of an empty range. NULL: all zero. */
	void (*identity)(void *context, void *accumulator);

	/* Add [begin, end), which follows what *accumulator has. */
	int (*accumulate)(void *context, void *accumulator, size_t begin,
			  size_t end);

	/* Add what *right has, which follows what *left has. */
	void (*combine)(void *context, void *left, const void *right);
} sennit_reduction;

/* Reduce [begin, end) as *how says and store the accumulator in *result, which
 * is untouched on error. Pieces as in sennit_parallel_for; deterministic, a
 * range longer than the grain (by default a 256th of the whole) is cut in two
 * until no part is. Accumulators of more than 64 bytes are allocated, one for
 * the result and one for each cut while it is open; deterministic, at most 64
 * more beforehand. Where a cut cannot have one, whoever was about to make it
 * does both halves, with the same result.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_reduce(
	size_t begin, size_t end, const sennit_reduction *how, void *context,
	void *result, const sennit_parallel_options *options);

/* How to scan a range: as it would be reduced, and what to put out. */
typedef struct sennit_scan {
	sennit_reduction reduction;

	/* Accumulate as reduction.accumulate does and put out, for each index,
	 * what *accumulator has before it is added, or after: the scan is
	 * exclusive or inclusive as you like. */
	int (*put_out)(void *context, void *accumulator, size_t begin,
		       size_t end);
} sennit_scan;

/* Put out the accumulator of [begin, i) or [begin, i] for every index i, once,
 * and store that of the whole range in *result, unless that is NULL. Blocks,
 * one more than there are workers, are accumulated at the same time, and then
 * put out at the same time, each starting from what lies before it; the first
 * is put out right away. So most indices are accumulated twice, and the output
 * may replace the input. A grain is the least size of a block; deterministic,
 * there are up to 64, of a size that depends on the number of indices and the
 * grain alone. An accumulator for each block is allocated before anything is
 * called. On error *result is untouched, and any part of the output may be
 * there.
 * (Blelloch: Prefix sums and their applications, 1990.)
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_scan(
	size_t begin, size_t end, const sennit_scan *how, void *context,
	void *result, const sennit_parallel_options *options);

/* Less than 0 if *left goes before *right; 0 or greater if it is equal to it or
 * goes behind it. */
typedef int sennit_compare_fn(const void *left, const void *right,
			      void *context);

/* Sort the `count` elements of `size` bytes each at base; those that are equal
 * stay in their order. Merge sort: O(count * log(count)) comparisons for any
 * input, few for what is sorted in long runs already, forwards or backwards.
 * scratch has room for as many elements and the alignment of base, or is NULL:
 * then it is allocated, and if it cannot be nothing is moved. A grain is how
 * many elements one worker may sort alone, at least 32; 0: 2048, or 32 KiB of
 * them. On -ETIMEDOUT and -ECANCELED all elements are there, in any order.
 * -EINVAL also for a size of 0, or more bytes than there can be.
 *
 * A comparison that contradicts itself, as one does that calls a NaN equal to
 * every number, is misuse, unless a group around the call is cancelled: so one
 * that cannot go on may cancel that group, and from then on say anything.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_sort(
	void *base, size_t count, size_t size, sennit_compare_fn *compare,
	void *context, void *scratch, const sennit_parallel_options *options);

SENNIT_END

#endif
