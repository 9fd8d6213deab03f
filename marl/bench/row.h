/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - a bench_row in C++11, which has no designated initialisers. */
#ifndef SN_BENCH_MARL_ROW_H
#define SN_BENCH_MARL_ROW_H

#include "../../core/bench/harness.h"

#include <algorithm>
#include <iterator>

struct Names {
	const char *name[BENCH_VALUES + 1];
};

inline bench_row row(Names names, uint64_t n, bench_fn *run,
		     bench_workers workers = BENCH_EACH,
		     bench_place place = BENCH_INSIDE, uint64_t memory = 0)
{
	bench_row r = {};

	std::copy(std::begin(names.name), std::end(names.name), r.names);
	r.n = n;
	r.workers = workers;
	r.place = place;
	r.run = run;
	r.memory = memory;
	return r;
}

#endif
