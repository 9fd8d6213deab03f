/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - any bytes as a program of ../programs, which runs under a seed
 * that is part of them, and is checked as those are. So the fuzzer looks for
 * programs, and for orders, that reach something new in the library.
 */
#include "../programs/program.h"

#include "sennit/deterministic.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct coverage counts;
	struct program         p;

	if (size < 3)
		return 0;
	coverage = &counts;
	program_make_from(&p, bytes + 2, size - 2);
	if (sennit_explore((uint64_t)bytes[0] << 8 | bytes[1], 1, program_run,
			   &p))
		abort(); /* not a deterministic build */
	return 0;
}
