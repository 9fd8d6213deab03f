/* SPDX-License-Identifier: Apache-2.0 */
/* tbb.hpp - what the programs with oneTBB share. */
#ifndef SN_BENCH_PEERS_TBB_HPP
#define SN_BENCH_PEERS_TBB_HPP

#include "peer.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/version.h>

const char *peer_version(void)
{
	return "oneTBB " TBB_VERSION_STRING ", " BENCH_COMPILER;
}

/* Run f() as a task with `workers` workers. All of them live until the end. */
template <typename F> static void inside(uint32_t workers, F f)
{
	static tbb::global_control limit(
		tbb::global_control::max_allowed_parallelism, workers);
	static tbb::task_arena arena((int)workers);

	arena.execute(f);
}

#endif
