/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_fork_join.c - misuse that SENNIT_FORK_RUN detects. */
#include "misuse.h"

#include "sennit/fork_join.h"

SENNIT_FORK(int, nothing, int, n)
{
	(void)sennit_me_;
	return n;
}

static void run_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	(void)SENNIT_FORK_RUN(nothing, 1);
}

TEST_WITH_COUNTS(run_where_no_scheduler_is_bound)
{
	assert_misuse(w, "SENNIT_FORK_RUN", run_unbound);
}

static void begin_as_another_version(const struct offence *o)
{
	struct sennit_here_ here;

	(void)o;
	sennit_fork_begin_(&here, SENNIT_FORK_VERSION_ + 1);
}

TEST_WITH_COUNTS(run_compiled_for_another_library)
{
	assert_misuse(w, "SENNIT_FORK_RUN", begin_as_another_version);
}
