/* SPDX-License-Identifier: Apache-2.0 */
#include "api/config.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/torture.h"
#include "cpus/slots.h"
#include "os/quota.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Bytes: far beyond any use, and far below the point where sizes could
 * overflow. */
#define STACK_MAX ((size_t)1 << (sizeof(size_t) == 8 ? 40 : 29))

/* The frames of sanitizer builds are several times larger. */
#if defined(SN_ASAN) || defined(SN_TSAN)
#define STACK_DEFAULT (256u * 1024)
#else
#define STACK_DEFAULT (64u * 1024)
#endif

/* glibc allocates up to 64 KiB in one frame (alloca). Together with the rest of
 * that frame such an access ends inside the guard. */
#define GUARD_DEFAULT (68u * 1024)

#define SPIN_DEFAULT          TORTURED(0u, 20000u)
#define BLOCKING_IDLE_DEFAULT 10000u
#ifdef SENNIT_DETERMINISTIC /* time advances only when everything else waits */
#define TRIM_DEFAULT SENNIT_TRIM_NEVER
#else
#define TRIM_DEFAULT TORTURED(1u, 10000u)
#endif
#define SPARE_DEFAULT TORTURED(1u, 64u)
#define TRACE_MAX     ((uint32_t)1 << 24)

#define SIZE_FIRST SIZE_THROUGH(sennit_config, reserved_)
ENDS_WITH(sennit_config, reserved_);

static const char *find_invalid_mask_field(const sennit_config *c)
{
	const bool many = c->affinity == SENNIT_AFFINITY_MASKS;

	if (c->affinity > SENNIT_AFFINITY_DISJOINT)
		return "affinity";
	if (c->affinity == SENNIT_AFFINITY_INHERIT)
		return c->masks ? "masks" : c->mask_count ? "mask_count" : NULL;
	if (!c->masks)
		return many ? "masks" : c->mask_count ? "mask_count" : NULL;
	if (many ? c->mask_count < 1 : c->mask_count != 1)
		return "mask_count";
	for (size_t i = 0; i < c->mask_count; i++)
		if (!c->masks[i].cpus || !c->masks[i].count)
			return "masks";
	return NULL;
}

/* The first field above its limit. NULL: none. */
static const char *find_field_above_limit(const sennit_config *c)
{
	const struct {
		uint32_t    value, last;
		const char *field;
	} words[] = {
		{ c->max_workers, SENNIT_WORKERS_MAX, "max_workers" },
		{ c->min_workers, SENNIT_WORKERS_MAX, "min_workers" },
		{ c->placement, SENNIT_PLACEMENT_SPREAD, "placement" },
		{ c->order, SENNIT_ORDER_OLDEST, "order" },
		{ c->start, SENNIT_START_LAZY, "start" },
		{ c->fp, SENNIT_FP_SHARED, "fp" },
		{ c->trace_events, TRACE_MAX, "trace_events" },
		{ c->overflow, SENNIT_OVERFLOW_SILENT, "overflow" },
		{ c->measure_stacks, 1, "measure_stacks" },
		{ c->guards, SENNIT_GUARDS_OPTIONAL, "guards" },
		{ c->resources_priority,
		  c->resources ? SENNIT_RESOURCES_PRIORITY_MAX : 0,
		  "resources_priority" },
		{ c->resources_min,
		  c->resources ? sn_slots_number(c->resources) : 0,
		  "resources_min" },
		{ c->resources_max, c->resources ? UINT32_MAX : 0,
		  "resources_max" },
		{ c->reserved_, 0, "reserved_" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].value > words[i].last)
			return words[i].field;
	return NULL;
}

/* The first field with an invalid value. NULL: none. */
static const char *find_invalid_field(const sennit_config *c)
{
	const char *large = find_field_above_limit(c);

	if (c->workers != SENNIT_WORKERS_NONE &&
	    c->workers > SENNIT_WORKERS_MAX)
		return "workers";
	if (large)
		return large;
	if (c->max_workers && c->workers > c->max_workers)
		return "max_workers"; /* true for SENNIT_WORKERS_NONE, too */
	if (c->stack_size &&
	    (c->stack_size < CONFIG_STACK_MIN || c->stack_size > STACK_MAX))
		return "stack_size";
	if (c->guard_size > STACK_MAX)
		return "guard_size";
	if (!sn_memory_is_valid(c->allocator))
		return "allocator";
	return find_invalid_mask_field(c);
}

static void fill_defaults(sennit_config *c)
{
	if (!c->workers)
		c->workers = os_cpu_count();
	if (c->workers == SENNIT_WORKERS_NONE)
		c->workers = 0;
	else if (c->workers > SENNIT_WORKERS_MAX)
		c->workers = SENNIT_WORKERS_MAX;
	if (c->max_workers && c->workers > c->max_workers)
		c->workers = c->max_workers; /* workers was chosen from the
					      * number of CPUs */
	if (!c->max_workers)
		c->max_workers = c->workers;
	if (!c->spin_ns)
		c->spin_ns = SPIN_DEFAULT;
	else if (c->spin_ns == SENNIT_SPIN_NONE)
		c->spin_ns = 0;
	if (!c->stack_size)
		c->stack_size = STACK_DEFAULT;
	if (!c->guard_size)
		c->guard_size = GUARD_DEFAULT;
	if (!c->blocking_idle_ms)
		c->blocking_idle_ms = BLOCKING_IDLE_DEFAULT;
	if (!c->trim_ms)
		c->trim_ms = TRIM_DEFAULT;
	if (!c->spare_stacks)
		c->spare_stacks = SPARE_DEFAULT;
	if (!c->min_workers)
		c->min_workers = 1;
	if (!c->resources_max)
		c->resources_max = c->max_workers;
	if (!c->resources_priority)
		c->resources_priority = 1;
	if (!c->name)
		c->name = "sennit";
	if (!c->allocator)
		c->allocator = &sn_memory_libc;
}

int sn_config_read(sennit_config *out, const sennit_config *user,
		   const char **field)
{
	sennit_config c = { .size = sizeof(c) };
	int err = user ? sn_sized_read(&c, sizeof(c), user, SIZE_FIRST) : 0;
	const char *fault = err ? "size" : find_invalid_field(&c);

	if (!fault) {
		fill_defaults(&c);
		/* Each worker needs a stack to run on. */
		if (c.max_fibers && c.max_fibers < c.max_workers)
			fault = "max_fibers";
		/* This minimum could not be guaranteed. */
		else if (c.resources_min > c.resources_max ||
			 c.resources_min > c.max_workers)
			fault = "resources_min";
	}
	if (fault) {
		*field = fault;
		return err ? err : -EINVAL;
	}
	*out = c;
	return 0;
}
