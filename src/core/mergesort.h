/* SPDX-License-Identifier: Apache-2.0 */
/* mergesort.h - a stable, single-threaded merge sort for elements of any size,
 * and the split of a merge into parts for several workers.
 *
 *	runs of 8   made by insertion
 *	merged      in pairs, from one buffer to the other and back
 *
 * A merge fills its output from both ends at once. Neither end needs a bounds
 * check while both runs have at least as many elements left as there are steps.
 * The two ends are independent, so the processor works on one while the other
 * waits for a comparison. Arithmetic selects the element of each step instead
 * of a branch, because that branch would be unpredictable.
 *
 * A merge is split at places of its output. For each place there is exactly one
 * pair of positions in the runs such that the elements before them go before
 * that place. A binary search finds it. (Siebert, Traeff: Perfectly
 * load-balanced, stable, synchronization-free parallel merge, 2014.)
 *
 * An inconsistent comparison function never causes an access outside of the
 * array, and never loses an element within one sort or merge: where the ends
 * cross, the rest of the runs is copied unchanged. A merge that was split may
 * lose elements, if the positions do not match.
 */
#ifndef SN_MERGESORT_H
#define SN_MERGESORT_H

#include "sennit/parallel.h"

struct order {
	size_t             size; /* of an element, in bytes */
	sennit_compare_fn *compare;
	void              *context;
};

/* Two sorted runs. Of equal elements, those of `a` go first. */
struct runs {
	const char *a;
	const char *b;
	size_t      a_count;
	size_t      b_count;
};

/* Sort the n elements at `data`. `other` has room for n elements. The result is
 * in `other` if into_other, else in `data`. Returns false if the comparison was
 * inconsistent. */
bool sn_mergesort(const struct order *o, char *data, char *other, size_t n,
		  bool into_other);

/* Merge the runs into `to`. Returns false if the comparison was
 * inconsistent. */
bool sn_mergesort_merge(const struct order *o, struct runs r, char *to);

/* The number of elements that come from a among the first n of the merged
 * runs. */
size_t sn_mergesort_split(const struct order *o, const struct runs *r,
			  size_t n);

#endif
