/* SPDX-License-Identifier: Apache-2.0 */
/* roster.h - the fibers of a worker, including idle ones, for reports.
 *
 * A worker adds and removes its own fibers. Any thread may walk the list under
 * the lock.
 */
#ifndef SN_ROSTER_H
#define SN_ROSTER_H

#include "fiber/fiber.h"
#include "os/os.h"

#include <pthread.h>

struct roster {
	pthread_mutex_t lock;   /* rank: below bound_workers.lock */
	struct link    *fibers; /* under lock: all except the thread's own */
	a_u32           count;  /* owner writes: number of fibers */
	uint32_t        last;   /* owner: the last id that was assigned */
	bool            hidden; /* owner: no other thread can find the worker,
				 * so nobody else takes the lock */
};

static inline void sn_roster_init(struct roster *r)
{
	pthread_mutex_init(&r->lock, NULL);
}

static inline void sn_roster_free(struct roster *r)
{
	pthread_mutex_destroy(&r->lock);
}

static inline uint32_t sn_roster_count(const struct roster *r)
{
	return a_load_rlx(&r->count);
}

/* The id of a fiber that is about to join: unique within the worker. */
static inline uint32_t sn_roster_new_id(struct roster *r)
{
	return ++r->last;
}

/* Call this with true after the worker has become hidden from other threads,
 * and with false before they can find it. */
static inline void sn_roster_hide(struct roster *r, bool hidden)
{
	r->hidden = hidden;
}

static inline void sn_roster_change(struct roster *r)
{
	if (!r->hidden)
		os_lock(&r->lock);
}

static inline void sn_roster_changed(struct roster *r)
{
	if (!r->hidden)
		pthread_mutex_unlock(&r->lock);
}

static inline void sn_roster_join(struct roster *r, struct sennit_fiber *f)
{
	sn_roster_change(r);
	sn_link_join(&r->fibers, &f->roster);
	sn_roster_changed(r);
	a_store_rlx(&r->count, sn_roster_count(r) + 1); /* relaxed: only a
							 * statistic */
}

static inline void sn_roster_leave(struct roster *r, struct sennit_fiber *f)
{
	sn_roster_change(r);
	sn_link_leave(&r->fibers, &f->roster);
	sn_roster_changed(r);
	a_store_rlx(&r->count, sn_roster_count(r) - 1); /* relaxed: only a
							 * statistic */
}

/* No fiber joins or leaves between these two calls. */
static inline void sn_roster_lock(struct roster *r)
{
	os_lock(&r->lock);
}

static inline void sn_roster_unlock(struct roster *r)
{
	pthread_mutex_unlock(&r->lock);
}

/* The fiber after f, or the first one if f is NULL. NULL: there is none. */
static inline struct sennit_fiber *sn_roster_next(const struct roster       *r,
						  const struct sennit_fiber *f)
{
	struct link *l = f ? sn_link_after(&f->roster, r->fibers) : r->fibers;

	return l ? container_of(l, struct sennit_fiber, roster) : NULL;
}

#endif
