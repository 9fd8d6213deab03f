/* SPDX-License-Identifier: Apache-2.0 */
/* sized.c - structs that begin with their size, of programs that were built
 * with an older or a newer version of the headers. */
#include "testing/with_workers.h"

#include "sennit/trace.h"

#include <errno.h>

/* What a newer version has behind each struct. */
union newer {
	sennit_config           config;
	sennit_pool_config      pool;
	sennit_parallel_options parallel;
	sennit_resources_share  share;
	sennit_trace_options    trace;
	sennit_stats            stats;
	sennit_resources_stats  resources;
	sennit_running          running;
	size_t                  size;
	unsigned char           bytes[1024];
};

/* --- what a program passes ------------------------------------------------ */

struct world_and_resources {
	sennit_scheduler *s;
	sennit_resources *r;
};

static int pass_config(struct world_and_resources *w, const union newer *n)
{
	(void)w;
	return sennit_config_check(&n->config, NULL);
}

static int pass_pool(struct world_and_resources *w, const union newer *n)
{
	sennit_pool p;
	int         err = sennit_pool_init(&p, &n->pool);

	(void)w;
	if (!err)
		sennit_pool_destroy(&p);
	return err;
}

static int do_nothing(void *context, size_t begin, size_t end)
{
	(void)context;
	(void)begin;
	(void)end;
	return 0;
}

static int pass_parallel(struct world_and_resources *w, const union newer *n)
{
	union newer here = *n;

	here.parallel.scheduler = w->s;
	return sennit_parallel_for(0, 9, do_nothing, NULL, &here.parallel,
				   SENNIT_NEVER);
}

static int pass_share(struct world_and_resources *w, const union newer *n)
{
	return sennit_resources_set_share(w->s, &n->share);
}

static int pass_trace(struct world_and_resources *w, const union newer *n)
{
	int err = sennit_trace_start(w->s, &n->trace);

	if (!err)
		sennit_trace_stop(w->s);
	return err;
}

/* A valid struct is `size` bytes; item_size of a pool must not be 0. */
static void try_sizes(struct world_and_resources *w, size_t size,
		      int (*pass)(struct world_and_resources *,
				  const union newer *))
{
	union newer n;

	memset(&n, 0, sizeof(n));
	if (pass == pass_pool)
		n.pool.item_size = 8;
	n.size = size;
	assert_int_equal(pass(w, &n), 0);
	n.size = size - 1;
	assert_int_equal(pass(w, &n), -EINVAL);
	n.size = 0;
	assert_int_equal(pass(w, &n), -EINVAL);
	n.size = sizeof(n);
	assert_int_equal(pass(w, &n), 0);
	n.bytes[size] = 1;
	assert_int_equal(pass(w, &n), -E2BIG);
	n.size = size;
	assert_int_equal(pass(w, &n), 0);
	n.size = sizeof(n);
	n.bytes[size] = 0;
	n.bytes[sizeof(n) - 1] = 1;
	assert_int_equal(pass(w, &n), -E2BIG);
}

TEST_ALONE(a_struct_may_be_of_a_newer_version)
{
	struct world_and_resources both;

	assert_int_equal(sennit_resources_create(&both.r, 2, NULL), 0);
	assert_int_equal(sennit_scheduler_create(
				 &both.s, SENNIT_CONFIG(.workers = 2,
							.resources = both.r)),
			 0);
	try_sizes(&both, sizeof(sennit_config), pass_config);
	try_sizes(&both, sizeof(sennit_pool_config), pass_pool);
	try_sizes(&both, sizeof(sennit_parallel_options), pass_parallel);
	try_sizes(&both, sizeof(sennit_resources_share), pass_share);
	try_sizes(&both, sizeof(sennit_trace_options), pass_trace);
	assert_int_equal(sennit_scheduler_shutdown(both.s, SENNIT_NEVER), 0);
	sennit_resources_release(both.r);
}

/* --- what the library fills in -------------------------------------------- */

/* Only what both know is filled in: the rest of a newer caller's is 0, and its
 * size is as it was. */
static void expect_filled(const union newer *n, size_t known)
{
	assert_int_equal(n->size, sizeof(*n));
	for (size_t i = known; i < sizeof(*n); i++)
		assert_int_equal(n->bytes[i], 0);
}

TEST_WITH_WORKERS(what_the_library_does_not_know_is_zero)
{
	union newer       n;
	sennit_resources *r;

	memset(&n, 0xff, sizeof(n));
	n.size = sizeof(n);
	sennit_scheduler_get_stats(w->s, &n.stats);
	expect_filled(&n, sizeof(n.stats));
	memset(&n, 0xff, sizeof(n));
	n.size = sizeof(n);
	assert_true(sennit_fiber_running(&n.running));
	expect_filled(&n, sizeof(n.running));
	assert_int_equal(sennit_resources_create(&r, 2, NULL), 0);
	memset(&n, 0xff, sizeof(n));
	n.size = sizeof(n);
	sennit_resources_get_stats(r, &n.resources);
	expect_filled(&n, sizeof(n.resources));
	assert_int_equal(n.resources.cpus, 2);
	sennit_resources_release(r);
}
