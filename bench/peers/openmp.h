/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.h - what the programs with OpenMP share. Each is built twice: by gcc
 * with libgomp and by clang with libomp.
 */
#ifndef SN_BENCH_PEERS_OPENMP_H
#define SN_BENCH_PEERS_OPENMP_H

#include "peer.h"

#ifdef __clang__
#define PEER    "libomp"
#define VERSION "LLVM OpenMP (libomp), " BENCH_COMPILER
#else
#define PEER    "libgomp"
#define VERSION "GNU OpenMP (libgomp), " BENCH_COMPILER
#endif

/* clang-format off */
#define ROW(name, count, function)                                         \
	{ .names = { name "/" PEER }, .n = (count), .workers = BENCH_EACH,  \
	  .run = (function) }
/* clang-format on */

const char *peer_version(void)
{
	return VERSION;
}

#endif
