/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/parallel.h"

#include "life/life.h"
#include "os/os.h"
#include "sched/loop.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "wait/group.h"

#define ALL_FLAGS SENNIT_PARALLEL_DETERMINISTIC

/* The target time of a piece: long compared with a cut and a clock reading,
 * short compared with the time that the caller may wait for the last piece. */
#define PIECE_TIME (10 * SENNIT_MICROSECOND)

/* Without a grain, the largest piece is 1/LARGE_PART of a worker's share, and
 * the first piece is 1/FIRST_PART of the largest. With larger pieces too much
 * slow work could end up with one worker. */
#define LARGE_PART 8
#define FIRST_PART 8

/* --- one call ----------------------------------------------------------- */

int sn_parallel_open(struct parallel *p, const sennit_parallel_options *options,
		     const char *call)
{
	static const sennit_parallel_options usual = { .grain = 0 };

	const sennit_parallel_options *o = options ? options : &usual;
	const struct worker           *w = sn_self;
	sennit_scheduler *s = o->scheduler ? o->scheduler : sennit_current();

	if (o->flags & ~ALL_FLAGS || o->reserved_)
		return -EINVAL;
	MISUSE(!s, call, "no scheduler is given, nor bound to this thread");
	MISUSE_INHERITED(s, call);
	MISUSE(!s->capacity && (!w || w->scheduler != s), call,
	       "the scheduler has no workers and this thread is not bound to "
	       "it: nobody would run the loop");
	sennit_group_init_on(&p->group, s,
			     o->deadline ? o->deadline : SENNIT_NEVER, 0);
	p->scheduler = s;
	p->grain = o->grain;
	p->workers = s->capacity ? sn_worker_counts_target(&s->counts) : 1;
	p->deterministic = o->flags & SENNIT_PARALLEL_DETERMINISTIC;
	return 0;
}

size_t sn_parallel_most(const struct parallel *p, size_t n)
{
	return sn_parallel_divide(n, (size_t)LARGE_PART * p->workers);
}

int sn_parallel_run(struct parallel *p, sennit_member_fn *run, void *argument)
{
	int err = sennit_group_spawn(&p->group, run, argument);

	if (err)
		sn_group_keep_error(&p->group, err);
	return sennit_group_wait(&p->group);
}

/* --- cutting ------------------------------------------------------------ */

/* Whether there is no task where w's next cut would go. */
static bool has_nothing(const struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;

	if (!s->capacity)
		return !sn_run_queue_has_pinned(&w->run);
	if (w->run.draining)
		return true;
	if (s->config.placement != SENNIT_PLACEMENT_SPREAD)
		return !sn_deque_has_tasks_owner(sn_worker_deque(w));
	/* SPREAD: a cut would go to another worker at once. A stale value is
	 * harmless, see core/parking.h. */
	return sn_parking_has_sleepers(w->parking);
}

bool sn_parallel_is_wanted(const struct range *r, struct worker *w)
{
	if (has_nothing(w))
		return r->end - r->begin > r->piece;
	if (sn_place_is_help_due(w))
		sn_place_help(w);
	return false;
}

/* A member that nobody takes costs a stack, unless its wait can run it as a
 * call. So members are offered only where that is possible, or where there is
 * no other task. */
bool sn_parallel_offer(sennit_group *g, sennit_member_fn *run, void *argument)
{
	const struct worker *w = sn_self;

	return ((sn_run_queue_is_unfenced(&w->run) && w->run.pops) ||
		has_nothing(w)) &&
	       !sennit_group_spawn(g, run, argument);
}

/* An upkeep between two pieces. Returns false if it is the turn of the oldest
 * task. The caller's own cut gets none: on another stack it would take turns
 * with the rest of the caller's range, and cut again, until the worker went
 * through its array in many places at once. */
static bool do_upkeep(struct worker *w, const sennit_group *cuts)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	if (!cuts || !sn_run_queue_has_only(&w->run, sn_task_member(cuts)))
		return false;
	sn_run_queue_forgo_turn(&w->run);
	return true;
}

void sn_parallel_give_way(struct worker *w, const sennit_group *cuts)
{
	bool is_due = w->run.dispatches == 1 &&
		      sn_run_queue_has_pinned(&w->run);

	if (unlikely(is_due || !do_upkeep(w, cuts) || w->run.ready.head ||
		     !sn_inbox_is_empty(&w->mail.fibers)))
		sn_loop_yield(w);
}

/* --- the loop ----------------------------------------------------------- */

struct range sn_parallel_range(const struct loop *l, size_t begin, size_t end)
{
	size_t piece = l->grain ? l->grain : l->most / FIRST_PART;

	return (struct range){ begin, end, piece ? piece : 1, l->group };
}

size_t sn_parallel_middle(const struct loop *l, const struct range *r)
{
	size_t grain = l->grain ? l->grain : 1;
	size_t kept = (r->end - r->begin) / 2 / grain * grain;

	return r->begin + (kept < r->piece ? r->piece : kept);
}

/* Adapt the size of the next piece to the target time. */
static void adapt(const struct loop *l, struct range *r, sennit_time took)
{
	if (took < PIECE_TIME / 2 && r->piece <= l->most / 2)
		r->piece *= 2;
	else if (took > 2 * PIECE_TIME && r->piece > 1)
		r->piece /= 2;
}

static int run_piece(const struct loop *l, struct range *r)
{
	size_t left = r->end - r->begin;
	size_t begin = r->begin;
	int    err;

	r->begin += left < r->piece ? left : r->piece;
	err = l->body(l->context, begin, r->begin);
	MISUSE(err > 0, l->call,
	       "a function returned neither 0 nor a negative error");
	return err;
}

static int run_timed(const struct loop *l, struct range *r)
{
	sennit_time began = os_now();
	int         err = run_piece(l, r);

	adapt(l, r, os_now() - began);
	return err;
}

int sn_parallel_pieces(const struct loop *l, struct range *r, struct worker *w)
{
	int err;

	for (;;) {
		err = sn_parallel_stops(l->group);
		if (!err)
			err = l->grain ? run_piece(l, r) : run_timed(l, r);
		if (err || r->begin == r->end)
			return err;
		sn_parallel_give_way(w, r->cuts);
		if (sn_parallel_is_wanted(r, w))
			return 0;
	}
}

/* --- for ---------------------------------------------------------------- */

/* A part of the range that one worker processes. */
struct share {
	const struct loop *loop;
	struct range       range;
};

static int run_share(void *argument);

/* Cut r in two. If there is no memory for that, this worker does all of it. If
 * the group is cancelled, the next check finds that. */
static void cut(const struct loop *l, struct range *r)
{
	struct share other = { l, *r };

	other.range.begin = sn_parallel_middle(l, r);
	if (!sennit_group_spawn_copy(l->group, run_share, &other,
				     sizeof(other)))
		r->end = other.range.begin;
}

static int run_share(void *argument)
{
	struct share   s = *(struct share *)argument;
	struct worker *w = sn_self;
	int            err = 0;

	if (sn_parallel_is_wanted(&s.range, w))
		cut(s.loop, &s.range);
	while (!(err = sn_parallel_pieces(s.loop, &s.range, w)) &&
	       s.range.begin != s.range.end)
		cut(s.loop, &s.range);
	return err;
}

int sn_parallel_loop(const struct loop *l, size_t begin, size_t end)
{
	struct share s = { l, sn_parallel_range(l, begin, end) };

	return run_share(&s);
}

struct for_call {
	struct parallel  parallel;
	struct loop      loop;
	size_t           begin;
	size_t           end;
	sennit_range_fn *body;
	void            *context;
};

/* For race.h: nothing orders two pieces, even if one member runs both. */
static int run_apart(void *call, size_t begin, size_t end)
{
	struct for_call *c = call;
	void *outer = sn_race_begin(sn_race_sent(), sn_self->home.current->low);
	int   err = c->body(c->context, begin, end);

	sn_race_release(&c->parallel.group);
	sn_race_end(outer, sn_self->home.current->low);
	return err;
}

static int run_for(void *argument)
{
	struct for_call *c = argument;

	return sn_parallel_loop(&c->loop, c->begin, c->end);
}

int sennit_parallel_for(size_t begin, size_t end, sennit_range_fn *body,
			void *context, const sennit_parallel_options *options)
{
	struct for_call c = {
		.begin = begin,
		.end = end,
		.body = body,
		.context = context,
	};
	int err = sn_parallel_open(&c.parallel, options, "sennit_parallel_for");

	if (err || !body)
		return -EINVAL;
	if (begin >= end)
		return 0;
	c.loop = (struct loop){
		.group = &c.parallel.group,
		.body = RACES_ARE_TOLD ? run_apart : body,
		.context = RACES_ARE_TOLD ? &c : context,
		.call = "sennit_parallel_for",
		.grain = c.parallel.grain,
		.most = sn_parallel_most(&c.parallel, end - begin),
	};
	return sn_parallel_run(&c.parallel, run_for, &c);
}
