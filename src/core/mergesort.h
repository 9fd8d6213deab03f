/* SPDX-License-Identifier: Apache-2.0 */
/* mergesort.h - sorts elements of any size, stably, by one thread; and what it
 * takes to share out a merge.
 *
 *	runs of 8   by insertion
 *	merged      two and two, from one buffer to the other and back
 *
 * A merge fills its output from both ends at once. Neither end needs to look
 * for the end of a run as long as both runs have as many elements left as it
 * takes steps; and what one end waits for, the result of a comparison, the
 * other does not, so the processor does both at once. Which element a step
 * takes is arithmetic, not a branch: nobody can predict it.
 *
 * To share out a merge, cut its output: for every place in it there is one pair
 * of places in the runs, found by binary search, such that what lies before
 * them goes before it. (Siebert, Traeff: Perfectly load-balanced, stable,
 * synchronization-free parallel merge, 2014.)
 *
 * A comparison that contradicts itself never leads outside of the array, and
 * loses no element within a sort or a merge: where ends cross, what is left of
 * the runs is copied as it is. Where a merge is shared out it may, if places
 * do not match.
 */
#ifndef SN_MERGESORT_H
#define SN_MERGESORT_H

#include "sennit/parallel.h"

struct order {
	size_t             size; /* of an element */
	sennit_compare_fn *compare;
	void              *context;
};

/* Two sorted runs; of equal elements those of a go first. */
struct runs {
	const char *a;
	const char *b;
	size_t      a_count;
	size_t      b_count;
};

/* Sort the n elements at data with room for as many at other, where they are
 * to be in the end if so asked. False: the comparison contradicts itself. */
bool sn_mergesort(const struct order *o, char *data, char *other, size_t n,
		  bool into_other);

/* Merge the runs to `to`. False: the comparison contradicts itself. */
bool sn_mergesort_merge(const struct order *o, struct runs r, char *to);

/* How many of the first n elements of the merged runs come from a. */
size_t sn_mergesort_split(const struct order *o, const struct runs *r,
			  size_t n);

#endif
