/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - any bytes as a configuration of any size: an accepted one is in
 * the documented ranges, and a refused one leaves the output unchanged.
 *
 * The library trusts pointers, so pointers in the input become NULL or a valid
 * one.
 */
#include "api/config.h"
#include "cpus/slots.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sennit_allocator none = { NULL, NULL, NULL };
static const uint32_t         cpus[] = { 0, 1 };
static const sennit_cpu_mask  masks[] = { { cpus, 2 }, { cpus, 1 } };

static sennit_resources budget = { .shares = { .slots = 3 } };

static void repair_pointers(sennit_config *c)
{
	c->name = (uintptr_t)c->name & 1 ? "fuzz" : NULL;
	c->masks = (uintptr_t)c->masks & 1 ? masks : NULL;
	c->allocator = (uintptr_t)c->allocator & 1 ? &none : NULL;
	c->resources = (uintptr_t)c->resources & 1 ? &budget : NULL;
	if (c->mask_count > 2)
		c->mask_count %= 3;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_accepted(const sennit_config *c)
{
	require(c->size == sizeof(*c) && c->name && c->allocator);
	require(c->workers <= c->max_workers);
	require(c->max_workers <= SENNIT_WORKERS_MAX);
	require(c->guard_size && c->guard_size <= (size_t)1 << 40);
	require(c->stack_size >= 16384 && c->stack_size <= (size_t)1 << 40);
	require(!c->max_fibers || c->max_fibers >= c->max_workers);
	require(c->spin_ns != SENNIT_SPIN_NONE);
	require(c->blocking_idle_ms);
	require(c->min_workers && c->min_workers <= SENNIT_WORKERS_MAX);
	require(!c->resources_min || (c->resources && c->resources_min <= 3 &&
				      c->resources_min <= c->resources_max &&
				      c->resources_min <= c->max_workers));
	require(c->resources_priority &&
		c->resources_priority <= SENNIT_RESOURCES_PRIORITY_MAX);
	require(c->overflow <= SENNIT_OVERFLOW_SILENT &&
		c->measure_stacks <= 1 && c->guards <= SENNIT_GUARDS_OPTIONAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const size_t   room = size > sizeof(sennit_config)
				      ? size
				      : sizeof(sennit_config);
	sennit_config *user = calloc(1, room);
	sennit_config  before, out;
	const char    *field;
	int            err;

	if (!user)
		return 0;
	memcpy(user, bytes, size);
	if (user->size > room)
		user->size %= room + 1;
	repair_pointers(user);
	memset(&before, 0xa5, sizeof(before));
	out = before;
	err = sn_config_read(&out, user, &field);
	require(!err || err == -EINVAL || err == -E2BIG);
	if (err)
		require(!memcmp(&out, &before, sizeof(out)));
	else
		check_accepted(&out);
	free(user);
	return 0;
}
