/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_fork_join.c - misuse that SENNIT_FORK_RUN detects. */
#include "testing/misuse.h"

#include "sennit/fork_join.h"

SENNIT_FORK(int, nothing, int, n)
{
	(void)sennit_me_;
	return n;
}

MISUSE_TEST(run_where_no_scheduler_is_bound, "SENNIT_FORK_RUN")
{
	sennit_thread_unbind();
	(void)SENNIT_FORK_RUN(nothing, 1);
}

MISUSE_TEST(run_compiled_for_another_library, "SENNIT_FORK_RUN")
{
	struct sennit_here_ here;

	sennit_fork_begin_(&here, SENNIT_FORK_VERSION_ + 1);
}
