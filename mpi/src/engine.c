/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "base/atomic.h"
#include "sennit/fiber.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t    all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpi_engine *all; /* under all_lock */

/* The number of engines. Stale only for a thread that does not know of a
 * start. */
static a_u32 engines;

static void release(struct mpi_engine *e)
{
	/* -> mpi.engine: the last access to it <- mpi.engine */
	if (a_sub_acqrel(&e->references, 1) != 1)
		return;
	pthread_mutex_destroy(&e->lock);
	sn_mpi_helper_free(&e->helper);
	free(e);
}

/* --- lanes -------------------------------------------------------------- */

static void join_engine(struct mpi_lane *l, struct mpi_engine *e)
{
	pthread_mutex_lock(&e->lock);
	l->engine = e;
	l->next = e->lanes;
	e->lanes = l;
	pthread_mutex_unlock(&e->lock);
}

/* Also releases the lane's reference. */
static void leave_engine(struct mpi_lane *l)
{
	struct mpi_engine *e = l->engine;
	struct mpi_lane  **at = &e->lanes;

	pthread_mutex_lock(&e->lock);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	pthread_mutex_unlock(&e->lock);
	release(e);
}

/* Poll the lane. If its worker has run since the last poll, waking the worker
 * has cost nothing. During the eager time polls follow each other and do not
 * read the CPU time. */
static struct mpi_found poll_lane(struct mpi_lane *l, sennit_time now)
{
	sennit_time cpu;
	bool        slept;

	if (sn_mpi_pace_is_eager(&l->pace, now))
		return sn_mpi_lane_poll(l, now, 0, 0);
	cpu = sn_mpi_lane_cpu();
	slept = cpu - l->last_cpu < (now - l->last) / 2;
	l->last = now;
	l->last_cpu = cpu;
	return sn_mpi_lane_poll(l, now, cpu, slept ? PACE_WAKE : 0);
}

/* The worker's hook. If the helper is polling, skip: that takes little time. */
static sennit_time poll_from_hook(sennit_poller_hook *h)
{
	struct mpi_lane *l = (struct mpi_lane *)h;
	struct mpi_found found = { .done = 0 };
	sennit_time      now = sennit_now();
	sennit_time      again;

	a_store_rlx(&l->looked, now);
	if (pthread_mutex_trylock(&l->lock))
		return now;
	if (!sn_mpi_lane_is_empty(l) && l->again <= now) {
		l->asking = true;
		found = poll_lane(l, now);
		l->asking = false;
	}
	again = sn_mpi_lane_is_empty(l) ? SENNIT_NEVER : l->again;
	pthread_mutex_unlock(&l->lock);
	if (again != SENNIT_NEVER)
		a_store_rlx(&l->looked, again);
	if (found.done)
		sn_mpi_engine_found(l->engine, found);
	return again;
}

static void destroy(sennit_poller_hook *h)
{
	struct mpi_lane *l = (struct mpi_lane *)h;

	leave_engine(l);
	sn_mpi_lane_free(l);
}

/* Under all_lock. */
static struct mpi_engine *engine_of(const sennit_scheduler *s)
{
	struct mpi_engine *e = all;

	while (e && e->scheduler != s)
		e = e->next;
	return e;
}

/* Returns the engine with a reference, or NULL. */
static struct mpi_engine *find(const sennit_scheduler *s)
{
	struct mpi_engine *e;

	pthread_mutex_lock(&all_lock);
	e = engine_of(s);
	if (e)
		(void)a_add_rlx(&e->references, 1);
	pthread_mutex_unlock(&all_lock);
	return e;
}

/* Make the lane at the first wait of this worker. */
static struct mpi_lane *make_lane(void)
{
	struct mpi_engine *e = find(sennit_scheduler_current());
	struct mpi_lane   *l;

	if (!e)
		return NULL;
	l = sn_mpi_lane_create(e, e->options.spin_ns, e->options.nap_ns);
	if (!l) {
		release(e);
		return NULL;
	}
	l->hook.ask = poll_from_hook;
	l->hook.destroy = destroy;
	join_engine(l, e);
	if (!sennit_poller_hook_add(&l->hook))
		return l;
	destroy(&l->hook);
	return NULL;
}

/* The engine of the lane has stopped: attach the lane to the new one, if there
 * is one. */
static struct mpi_lane *reattach_lane(struct mpi_lane *l)
{
	struct mpi_engine *e = find(sennit_scheduler_current());

	if (!e)
		return NULL;
	leave_engine(l);
	join_engine(l, e);
	sn_mpi_lane_set_pace(l, e->options.spin_ns, e->options.nap_ns);
	return l;
}

struct mpi_lane *sn_mpi_lane_here(void)
{
	struct mpi_lane *l;

	if (!a_load_rlx(&engines) || !sennit_fiber_current())
		return NULL;
	l = (struct mpi_lane *)sennit_poller_hook_find(poll_from_hook);
	if (unlikely(!l))
		return make_lane();
	if (l->asking)
		return NULL;
	if (unlikely(a_load_rlx(&l->engine->stopped)))
		return reattach_lane(l);
	return l;
}

/* --- counting ----------------------------------------------------------- */

void sn_mpi_engine_count(struct mpi_engine *e)
{
	(void)a_add_rlx(&e->outstanding, 1);
}

static void count(struct mpi_engine *e)
{
	sn_mpi_engine_count(e);
	a_fence(); /* <-> mpi.helper: counted before looking if it sleeps */
	sn_mpi_helper_call(&e->helper);
}

bool sn_mpi_engine_post(struct mpi_lane *l, struct mpi_single *s)
{
	count(l->engine);
	if (!sn_mpi_lane_post(l, s)) {
		sn_mpi_engine_found(l->engine, (struct mpi_found){ .done = 1 });
		return false;
	}
	sennit_poller_hook_ask(&l->hook);
	return true;
}

void sn_mpi_engine_post_polled(struct mpi_lane *l, struct mpi_polled *p)
{
	count(l->engine);
	sn_mpi_lane_post_polled(l, p);
	sennit_poller_hook_ask(&l->hook);
}

void sn_mpi_engine_found(struct mpi_engine *e, struct mpi_found found)
{
	/* -> mpi.drained: all calls of MPI for it are over */
	(void)a_sub_rel(&e->outstanding, found.done);
	while (found.references--)
		sennit_scheduler_release(found.from);
}

/* --- polling by the helper ---------------------------------------------- */

/* Poll *l if its worker is late. Returns whether it was. */
static bool poll_late_lane(struct mpi_lane *l, struct mpi_found *sum)
{
	struct mpi_found found = { .done = 0 };
	sennit_time      now = sennit_now();
	bool             there;

	if (now < a_load_rlx(&l->looked) + MPI_LATE)
		return false; /* a stale time delays the helper */
	if (pthread_mutex_trylock(&l->lock))
		return false; /* its worker polls */
	there = !sn_mpi_lane_is_empty(l);
	if (there)
		found = sn_mpi_lane_poll(l, now, sn_mpi_lane_cpu(), PACE_WAKE);
	pthread_mutex_unlock(&l->lock);
	sum->done += found.done;
	sum->references += found.references;
	if (found.references)
		sum->from = found.from;
	return there;
}

/* Poll all lanes that are late. Returns whether any was. References are
 * released with no lock held, because the last one may end the scheduler here,
 * and with it the lanes. */
static bool poll_late_lanes(void *engine)
{
	struct mpi_engine *e = engine;
	struct mpi_found   sum = { .done = 0 };
	bool               late = false;

	pthread_mutex_lock(&e->lock);
	for (struct mpi_lane *l = e->lanes; l; l = l->next)
		late |= poll_late_lane(l, &sum);
	pthread_mutex_unlock(&e->lock);
	if (sum.done)
		sn_mpi_engine_found(e, sum);
	return late;
}

/* --- starting and stopping ---------------------------------------------- */

static struct mpi_engine *make(sennit_scheduler         *s,
			       const sennit_mpi_options *options)
{
	struct mpi_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->scheduler = s;
	e->options = *options;
	a_init(&e->references, 1);
	pthread_mutex_init(&e->lock, NULL);
	sn_mpi_helper_init(&e->helper,
			   (struct mpi_helped){ .outstanding = &e->outstanding,
						.help = poll_late_lanes,
						.argument = e });
	return e;
}

/* Add the engine. Returns false if its scheduler has one. If several threads
 * start one at the same time, only one succeeds. */
static bool enter(struct mpi_engine *e)
{
	bool first;

	pthread_mutex_lock(&all_lock);
	first = !engine_of(e->scheduler);
	if (first) {
		e->next = all;
		all = e;
		(void)a_add_rlx(&engines, 1);
	}
	pthread_mutex_unlock(&all_lock);
	return first;
}

int sn_mpi_engine_start(sennit_scheduler *s, const sennit_mpi_options *options)
{
	struct mpi_engine *e = make(s, options);
	int                err;

	if (!e)
		return -ENOMEM;
	err = sn_mpi_helper_start(&e->helper);
	if (!err && !enter(e)) {
		sn_mpi_helper_stop(&e->helper);
		err = -EBUSY;
	}
	if (err)
		release(e);
	return err;
}

/* Remove the engine. Nothing is outstanding, and no fiber begins to wait. */
static void end(struct mpi_engine *e)
{
	struct mpi_engine **at = &all;

	pthread_mutex_lock(&all_lock);
	while (*at && *at != e)
		at = &(*at)->next;
	if (!*at) { /* another thread has stopped it */
		pthread_mutex_unlock(&all_lock);
		return;
	}
	*at = e->next;
	(void)a_add_rlx(&engines, UINT32_MAX); /* subtract 1 */
	pthread_mutex_unlock(&all_lock);
	a_store_rlx(&e->stopped, 1);
	sn_mpi_helper_stop(&e->helper);
	release(e);
}

static bool is_drained(struct mpi_engine *e)
{
	return !a_load_acq(&e->outstanding); /* <- mpi.drained */
}

/* Stops are rare, so polling at intervals suffices. */
int sn_mpi_engine_stop(sennit_scheduler *s, sennit_time deadline)
{
	struct mpi_engine *e = find(s);
	int                err = 0;

	if (!e)
		return -ENOENT;
	while (!is_drained(e) && !err) {
		sennit_time next = sennit_after(SENNIT_MILLISECOND);

		if (sennit_now() >= deadline)
			err = -ETIMEDOUT;
		else
			err = sennit_sleep_until(next < deadline ? next
								 : deadline);
	}
	if (!err)
		end(e);
	release(e);
	return err;
}

uint32_t sn_mpi_engines_end(void)
{
	struct mpi_engine *e;
	uint32_t           left = 0;

	pthread_mutex_lock(&all_lock);
	for (e = all; e; e = e->next)
		left += a_load_rlx(&e->outstanding); /* stale only if other
						      * threads call MPI while
						      * MPI is finalised */
	e = left ? NULL : all;
	pthread_mutex_unlock(&all_lock);
	for (; e; e = all)
		end(e);
	return left;
}

/* --- serial --------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* 0: not known yet; 1: MPI allows any number of threads; 2: one at a time. It
 * does not change once it is known, and all threads compute the same value. */
static a_u32 level;

int sn_mpi_serial_init(void)
{
	int provided = MPI_THREAD_SINGLE;

	PMPI_Query_thread(&provided);
	a_store_rlx(&level, provided == MPI_THREAD_SERIALIZED ? 2 : 1);
	return provided;
}

bool sn_mpi_is_serial(void)
{
	int there = 0;

	if (unlikely(!a_load_rlx(&level))) {
		PMPI_Initialized(&there);
		if (there)
			(void)sn_mpi_serial_init();
	}
	return a_load_rlx(&level) == 2;
}

void sn_mpi_enter(void)
{
	if (sn_mpi_is_serial())
		pthread_mutex_lock(&lock);
}

void sn_mpi_leave(void)
{
	if (sn_mpi_is_serial())
		pthread_mutex_unlock(&lock);
}
