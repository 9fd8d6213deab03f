/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - the recorded data of a profile. */
#ifndef SN_PROFILE_H
#define SN_PROFILE_H

#include "base/atomic.h"
#include "callers.h"
#include "sennit/fiber.h"
#include "sennit/profile.h"
#include "sennit/stacks.h"

#include <stdbool.h>

/* --- sites ---------------------------------------------------------------- */

/* What one thread has recorded: each stack once, with its task and kind.
 *
 *	index   hash -> number of a site plus 1
 *	sites   counts, and where the words are
 *	words   { task, kind, name : 4 words, frames } of each site
 *
 * Only the owner adds sites: the thread, or a signal handler on it. A site is
 * complete before `used` includes it, and only its counts change later. So any
 * thread may read the sites below `used` at any time, if `round` is that of the
 * profile. When a new profile has begun, the owner empties the sites before it
 * sets `round`.
 */

#define SITES      4096u
#define SITE_INDEX (2 * SITES)
#define SITE_WORDS ((size_t)128 * 1024)

enum { SITE_TASK, SITE_KIND, SITE_NAME };
enum {
	SITE_FRAMES = SITE_NAME + SENNIT_TASK_NAME_SIZE / sizeof(uintptr_t),
	SITE_MOST = SITE_FRAMES + SENNIT_STACK_FRAMES + 1
};

/* Special frames, which stand for others. */
enum { FRAME_UNKNOWN = 1, FRAME_LOST = 2, FRAMES_OTHER = 3 };

struct site {
	a_u64    count;   /* owner writes */
	a_u64    ns;      /* ... */
	a_u64    longest; /* ... */
	uint32_t at;      /* fixed: the first of its words */
	uint32_t words;   /* fixed */
	uint64_t hash;    /* fixed */
};

struct sites {
	a_u32          round;             /* owner writes: number of the
					   * profile; 0: never used */
	a_u32          used;              /* owner writes */
	a_u64          lost;              /* owner writes: samples that did not
					   * fit */
	a_u64          lost_ns;           /* ... */
	uint32_t       words_used;        /* owner */
	uint32_t       index[SITE_INDEX]; /* owner */
	struct callers callers;           /* owner */
	struct site    sites[SITES];
	uintptr_t      words[SITE_WORDS];
};

/* --- for the writer ------------------------------------------------------- */

struct profile_times {
	uint64_t began_ns;    /* since 1970 */
	uint64_t duration_ns; /* so far, or until it was stopped */
	uint32_t hertz;
	uint32_t untimed; /* threads for which no timer could be created */
};

/* Call `visit` for the sites of each thread. No profile starts during the call.
 * Returns 0 or -ENODATA. */
int sn_profile_visit(enum sennit_profile_kind kind, struct profile_times *times,
		     void (*visit)(void *context, const struct sites *s),
		     void *context);

/* Report whether it is a wait for a lock. */
bool sn_profile_is_lock(uintptr_t kind);

/* --- the environment ------------------------------------------------------ */

/* Profile CPU and waits until exit(), and then write them to `file` and
 * `file`.waits. Returns 0 or a negative errno value. */
SENNIT_MUST_USE int sn_profile_lend(const char *file);

#endif
