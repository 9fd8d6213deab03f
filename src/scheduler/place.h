/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - where a new task goes [P1]-[P7].
 *
 *	same thread, or no workers   the caller's own worker, pinned
 *	from a worker of s           its own deque; who searches or sleeps is
 *	                             shown the older half
 *	from elsewhere, or `spread`  the inbox of the next worker in turn, which
 *	                             whoever searches may take a share of
 */
#ifndef SN_PLACE_H
#define SN_PLACE_H

#include "worker/domain.h"
#include "worker/worker.h"

/* The caller's worker if it belongs to s, else NULL: its queues and its cache
 * may be used. */
static inline struct worker *sn_place_own_worker(const sennit_scheduler *s)
{
	struct worker *w = sn_self;

	return w && w->scheduler == s ? w : NULL;
}

/* Queue t on s. call: the public call's name, for messages. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_place(sennit_scheduler *s, struct task t, uint32_t flags,
			     const char *call);

/* The same in the domain, which may be NULL. */
SENNIT_MUST_USE int sn_place_in(sennit_scheduler *s, struct sennit_domain *d,
				struct task t, uint32_t flags,
				const char *call);

/* Queue what the user gave on s, in the domain, which may be NULL. 0, -EINVAL
 * or -ENOMEM. */
SENNIT_MUST_USE int sn_place_packed(sennit_scheduler     *s,
				    struct sennit_domain *d,
				    const sennit_task *user, const char *call);

/* Whether these are flags of a task, and do not exclude each other. */
static inline bool sn_place_are_flags(uint32_t flags)
{
	const uint32_t all = SENNIT_TASK_SAME_THREAD | SENNIT_TASK_BACKGROUND;

	return !(flags & ~all) && flags != all;
}

/* Which way a task of these flags goes from w, the caller's own worker of s or
 * NULL; aborts if there is none. */
enum way {
	WAY_PINNED,      /* onto w's ring */
	WAY_OWN_BACKLOG, /* into w's own backlog */
	WAY_DEQUE,       /* onto w's deque; then sn_place_pushed() */
	WAY_SENT         /* to whoever: an inbox, or the backlog */
};
enum way sn_place_way(sennit_scheduler *s, struct worker *w, uint32_t flags,
		      const char *call);

/* Something was pushed onto w's deque: show it to whoever wants work. */
void sn_place_pushed(struct worker *w);

/* Take a reference on behalf of a caller who holds one, for as long as tasks
 * are on their way that may give that one back. Ends by
 * sn_finalise_release(). */
void sn_place_retain(sennit_scheduler *s, const char *call);

/* Make *t of what the user gave, its argument copied if so asked. 0, -EINVAL or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_place_pack(sennit_scheduler *s, const sennit_task *user,
				  struct task *t);

/* The same with blocks from *c, or for NULL from the depot. */
SENNIT_MUST_USE int sn_place_pack_from(sennit_scheduler  *s,
				       struct pool_cache *c,
				       const sennit_task *user, struct task *t);

/* Undo pack. */
void sn_place_unpack(sennit_scheduler *s, struct task t);

/* Memory for an argument of size bytes; NULL: there is none. */
SENNIT_MUST_USE void *sn_place_take(sennit_scheduler *s, size_t size);
void sn_place_give(sennit_scheduler *s, void *argument, size_t size);

/* Memory to place one task on s, which has workers, later; NULL: there is none.
 */
SENNIT_MUST_USE struct parcel *sn_place_reserve(sennit_scheduler *s);

/* Queue t on s by means of what was reserved, which cannot fail. The caller has
 * a reference to s. */
void sn_place_reserved(sennit_scheduler *s, struct parcel *p, struct task t);

/* A thief asked for tasks, or a worker sleeps. */
COLD void sn_place_help(struct worker *w);

/* Whether that is so, after a push without a fence. */
static inline bool sn_place_is_help_due(const struct worker *w)
{
	a_compiler_fence(); /* <-> deque.unfenced: push, then look */
	return sn_deque_is_asked(sn_worker_deque(w)) ||
	       sn_parking_has_sleepers(w->parking);
}

/* The push onto w's own deque that most tasks take, where
 * sn_run_queue_pushes(). 0 or -ENOMEM. */
SENNIT_MUST_USE static inline int sn_place_own(struct worker *w, struct task t)
{
	int err = sn_deque_push(sn_worker_deque(w), t);

	if (unlikely(err))
		return err;
	if (unlikely(sn_place_is_help_due(w)))
		sn_place_help(w);
	return 0;
}

/* The same for a task in the domain, which may be NULL. */
SENNIT_MUST_USE static inline int sn_place_own_in(struct worker        *w,
						  struct sennit_domain *d,
						  sennit_task_fn       *run,
						  void *argument)
{
	struct domain_part *part = d ? sn_domain_part(d, w) : NULL;
	int                 err;

	if (d)
		sn_domain_count(d, part, 1);
	err = sn_place_own(w, (struct task){ run, argument, (uintptr_t)d });
	if (unlikely(err) && d)
		sn_domain_count(d, part, -1);
	return err;
}

#endif
