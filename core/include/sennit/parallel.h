/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - parallel loops, reductions, scans and sorting over ranges of
 * indices.
 *
 *	for      call a function for every index
 *	reduce   one result of all indices: a sum, a maximum, a histogram
 *	scan     the result up to each index: prefix sums
 *	sort     an array, stably
 *
 * Each call cuts [begin, end) into pieces, runs them on the workers of a
 * scheduler, and returns when all are done. The cutting is lazy binary
 * splitting: a worker gives away half of the range that it is working on when
 * no other work is left to take. Without idle workers a loop costs little more
 * than a plain loop.
 *
 * Source: Tzannes, Caragea, Barua, Vishkin, "Lazy binary-splitting", PPoPP
 * 2010.
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
 *	err = sennit_parallel_for(0, n, change, x, NULL, SENNIT_NEVER);
 *
 * The functions run as members of a group inside the caller's group. They may
 * wait and may call any of these calls again. They must not wait for another
 * piece to begin, since pieces may run one after the other, in any order. While
 * one piece waits others begin, up to all pieces. Between two pieces a worker
 * handles fibers and timers that are due.
 *
 * After an error, after the deadline, or after the cancellation of a group
 * around the caller, no further piece begins, and waits with deadlines in
 * running pieces end. The call returns once no piece is running. A range whose
 * end is not greater than its begin is empty, and then no function is called.
 */
#ifndef SENNIT_PARALLEL_H
#define SENNIT_PARALLEL_H

#include "sennit/group.h"

SENNIT_BEGIN

/* A flag of sennit_parallel_options, for reduce and scan: group the elements
 * only by their number and the grain. The result is then the same to the last
 * bit with any number of workers and in every run. */
#define SENNIT_PARALLEL_DETERMINISTIC UINT32_C(1)

/* Options of the calls below. NULL in place of the options means the
 * defaults. */
typedef struct sennit_parallel_options {
	size_t            size;      /* sizeof(sennit_parallel_options) in the
				      * caller's build */
	sennit_scheduler *scheduler; /* the scheduler that runs the pieces; the
				      * caller holds a reference to it. NULL:
				      * the bound scheduler */
	size_t            grain;     /* the number of indices that is worth
				      * being a piece; see each call. 0: the
				      * library chooses */
	uint32_t          flags;     /* SENNIT_PARALLEL_*, or 0 */
	uint32_t          reserved_; /* must be 0 */
} sennit_parallel_options;

#define SENNIT_PARALLEL_OPTIONS(...)              \
	SENNIT_CONSTANT_(sennit_parallel_options, \
			 .size = sizeof(sennit_parallel_options), __VA_ARGS__)

/* All calls below return 0 if all work was done. Otherwise they return the
 * first of these errors:
 *   - the negative errno value that a function of the caller returned;
 *   - -ETIMEDOUT if the deadline passed first, or -ECANCELED if the caller's
 *     group was cancelled;
 *   - -ENOMEM, and no function was called;
 *   - -ESHUTDOWN if the given scheduler has ended and only a weak handle keeps
 *     its memory (end.h).
 * They return -EINVAL for bad arguments (no function, a size of 0, unknown
 * flags, a reserved_ that is not 0), or -E2BIG as sennit_scheduler_create does,
 * and no function was called. It is misuse
 * if no scheduler is given and none is bound, or if the given scheduler has no
 * workers and the caller is not bound to it. */

/* A function over a part of a range: the indices [begin, end), at least one. It
 * returns 0 or a negative errno value. */
typedef int sennit_range_fn(void *context, size_t begin, size_t end);

/* Call body(context, ...) for pieces that together make up [begin, end). Each
 * index is in one piece, unless the call ends early. With a grain, a piece has
 * at most that many indices and begins at a multiple of the grain, counted from
 * begin. Without one, the library adapts the size by the clock: a loop begins
 * with one index, and a piece takes 20 us at most beyond its longest index,
 * unless indices suddenly take much longer than those before. No piece has more
 * indices than the ones before it together. So a deadline, a cancellation, or
 * another fiber or timer of the worker is late by one piece at most.
 * Returns 0, or one of the errors above: that of a function, -EINVAL, -ENOMEM,
 * -ESHUTDOWN, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_for(
	size_t begin, size_t end, sennit_range_fn *body, void *context,
	const sennit_parallel_options *options, sennit_time deadline);

/* How to reduce a range. An accumulator is `accumulator_size` bytes at an
 * address that is a multiple of 16. It may be moved, and it must own nothing,
 * since it is dropped on error. The combination must be associative, as far as
 * the result matters. It need not be commutative: left and right keep their
 * order. */
typedef struct sennit_reduction {
	size_t accumulator_size;

	/* Set *accumulator to that of an empty range. NULL: all bytes zero. */
	void (*identity)(void *context, void *accumulator);

	/* Add [begin, end), which follows the range of *accumulator. Return 0
	 * or a negative errno value. */
	int (*accumulate)(void *context, void *accumulator, size_t begin,
			  size_t end);

	/* Add the range of *right, which follows the range of *left, to
	 * *left. */
	void (*combine)(void *context, void *left, const void *right);

	void *reserved_; /* must be NULL */
} sennit_reduction;

/* Reduce [begin, end) as *how says and store the accumulator in *result, which
 * is unchanged on error. Pieces are those of sennit_parallel_for. With
 * SENNIT_PARALLEL_DETERMINISTIC, a range that is longer than the grain (by
 * default a 256th of the whole) is cut in two until no part is longer.
 *
 * Accumulators of more than 64 bytes are allocated: one for the result and one
 * for each cut while it is open; with SENNIT_PARALLEL_DETERMINISTIC at most 64
 * more beforehand. If there is no memory for a cut, the worker that was to make
 * it does both halves, with the same result.
 * Returns 0, or one of the errors above: that of a function, -EINVAL, -ENOMEM,
 * -ESHUTDOWN, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_reduce(
	size_t begin, size_t end, const sennit_reduction *how, void *context,
	void *result, const sennit_parallel_options *options,
	sennit_time deadline);

/* How to scan a range: how to reduce it, and what to output. */
typedef struct sennit_scan {
	sennit_reduction reduction;

	/* Accumulate as reduction.accumulate does. For each index output the
	 * content of *accumulator before the index is added (an exclusive scan)
	 * or after (an inclusive scan). */
	int (*put_out)(void *context, void *accumulator, size_t begin,
		       size_t end);

	void *reserved_; /* must be NULL */
} sennit_scan;

/* Output the accumulator of [begin, i) or [begin, i] once for every index i,
 * and store that of the whole range in *result unless result is NULL. The range
 * is divided into one block more than there are workers. The blocks are
 * accumulated in parallel and then output in parallel, each starting from the
 * sum of the blocks before it. The first block is output at once. So most
 * indices are accumulated twice, and the output may replace the input.
 *
 * The grain is the smallest size of a block. Each block is processed in pieces,
 * as sennit_parallel_for does without a grain. With
 * SENNIT_PARALLEL_DETERMINISTIC there are up to 64 blocks of up to 64 pieces,
 * whose sizes depend only on the number of indices and the grain, however long
 * they take. An accumulator for each block is allocated before any function
 * is called. On error *result is unchanged, and any part of the output may have
 * been written.
 *
 * Source: Blelloch, "Prefix sums and their applications", 1990.
 * Returns 0, or one of the errors above: that of a function, -EINVAL, -ENOMEM,
 * -ESHUTDOWN, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_scan(
	size_t begin, size_t end, const sennit_scan *how, void *context,
	void *result, const sennit_parallel_options *options,
	sennit_time deadline);

/* A comparison. It returns less than 0 if *left goes before *right, and 0 or
 * greater if they are equal or *left goes after *right. */
typedef int sennit_compare_fn(const void *left, const void *right,
			      void *context);

/* Sort the `count` elements of `size` bytes each at base. Equal elements keep
 * their order. The algorithm is merge sort: O(count * log(count)) comparisons
 * for any input, and few comparisons for input that consists of long sorted
 * runs, forwards or backwards.
 *
 * scratch has room for `count` elements and the alignment of base. If it is
 * NULL, the library allocates it; if that fails, no element is moved. The grain
 * is the number of elements that one worker may sort alone, at least 32; 0
 * means 2048, or 32 KiB of elements. After -ETIMEDOUT and -ECANCELED all
 * elements are there, in any order. The call also returns -EINVAL for a size of
 * 0, or for more bytes than can exist.
 *
 * It is misuse if the comparison contradicts itself, for example if it calls a
 * NaN equal to every number, unless a group around the call is cancelled. So a
 * comparison that cannot continue may cancel that group and then return
 * anything.
 * Returns 0, or one of the errors above: that of a function, -EINVAL, -ENOMEM,
 * -ESHUTDOWN, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_parallel_sort(
	void *base, size_t count, size_t size, sennit_compare_fn *compare,
	void *context, void *scratch, const sennit_parallel_options *options,
	sennit_time deadline);

SENNIT_END

#endif
