/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/parallel.h"

#include "base/sized.h"

#include "life/fork.h"
#include "life/worker_threads.h"
#include "os/os.h"
#include "sched/loop.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "group/group.h"
#include "wait/deadlines.h"
#include "wait/wait.h"

#define PARALLEL_FLAGS SENNIT_PARALLEL_DETERMINISTIC

/* The target time of a piece: long compared with a cut and a clock reading,
 * short compared with the time that the caller may wait for the last piece. A
 * piece has taken too long after LONG_TIME. */
#define PIECE_TIME (15 * SENNIT_MICROSECOND / 2)
#define PACE_ONE   UINT64_C(256)
#define LONG_TIME  (20 * SENNIT_MICROSECOND)

/* Without a grain, the largest piece is 1/LARGE_PART of a worker's share. With
 * larger pieces too much slow work could end up with one worker. While nothing
 * is known of a range, 1/FIRST_PART of that is not worth a cut. */
#define LARGE_PART 8
#define FIRST_PART 8

/* --- one call ----------------------------------------------------------- */

ENDS_WITH(sennit_parallel_options, reserved_);

int sn_parallel_init(struct parallel *p, const sennit_parallel_options *options,
		     sennit_time deadline, const char *call)
{
	sennit_parallel_options o = { .grain = 0 };
	struct worker          *w = sn_self;
	sennit_scheduler       *s;
	int                     err = 0;

	if (options)
		err = sn_sized_read(
			&o, sizeof(o), options,
			SIZE_THROUGH(sennit_parallel_options, reserved_));
	if (err)
		return err;
	if (o.flags & ~PARALLEL_FLAGS || o.reserved_)
		return -EINVAL;
	s = o.scheduler ? o.scheduler : sennit_scheduler_current();
	MISUSE(!s, call, "no scheduler is given, nor bound to this thread");
	MISUSE_INHERITED(s, call);
	MISUSE(!s->capacity && (!w || w->scheduler != s), call,
	       "the scheduler has no workers and this thread is not bound to "
	       "it, so no thread would run the loop");
	sn_check_deadline(deadline);
	p->scheduler = s;
	p->deadline = deadline;
	p->grain = o.grain;
	p->workers = s->capacity ? sn_worker_counts_target(&s->counts) : 1;
	p->deterministic = o.flags & SENNIT_PARALLEL_DETERMINISTIC;
	p->opened = p->grain ? 0 : os_now();
	return 0;
}

size_t sn_parallel_most(const struct parallel *p, size_t n)
{
	return sn_parallel_divide(n, (size_t)LARGE_PART * p->workers);
}

int sn_parallel_run(struct parallel *p, sennit_member_fn *run, void *argument)
{
	int err;

	sennit_group_init_on(&p->group, p->scheduler, p->deadline, 0);
	err = sennit_group_spawn(&p->group, run, argument);
	if (err)
		sn_group_keep_error(&p->group, err);
	return sennit_group_wait(&p->group);
}

/* --- cutting ------------------------------------------------------------ */

/* Whether there is no task where w's next cut would go. */
static bool has_no_queued_task(const struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;

	if (!s->capacity)
		return !sn_run_queue_has_pinned(&w->run);
	if (w->run.draining)
		return true;
	if (s->config.placement != SENNIT_PLACEMENT_SPREAD)
		return !sn_deque_has_tasks_owner(sn_worker_deque(w));
	/* SPREAD: a cut would go to another worker at once. A stale value is
	 * harmless, see park/parking.h. */
	return sn_parking_has_sleepers(w->parking);
}

bool sn_parallel_is_wanted(const struct range *r, struct worker *w)
{
	if (has_no_queued_task(w))
		return r->end - r->begin > r->whole;
	if (sn_place_is_help_due(w))
		sn_place_help(w);
	return false;
}

/* A member that no other worker takes costs a stack, unless the wait can run it
 * as a call. So members are offered only where that is possible, or where there
 * is no other task. */
bool sn_parallel_offer(sennit_group *g, sennit_member_fn *run, void *argument)
{
	const struct worker *w = sn_self;

	return ((sn_run_queue_is_unfenced(&w->run) && w->run.pops) ||
		has_no_queued_task(w)) &&
	       !sennit_group_spawn(g, run, argument);
}

/* Whether w has no task but what the caller has cut off. That one gets no turn:
 * on another stack it would take turns with the rest of the caller's range, and
 * cut again, until the worker went through its array in many places at once,
 * and each of these made other fibers wait for a piece. */
static bool has_only_cut(const struct worker *w, const sennit_group *cuts)
{
	return cuts && sn_run_queue_has_only(&w->run, sn_task_member(cuts));
}

/* An upkeep between two pieces. Returns false if it is the turn of the oldest
 * task. */
static bool do_upkeep(struct worker *w, const sennit_group *cuts)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	if (!has_only_cut(w, cuts))
		return false;
	sn_run_queue_skip_turn(&w->run);
	return true;
}

bool sn_parallel_give_way(struct worker *w, const sennit_group *cuts)
{
	const bool is_due = w->run.dispatches == 1;

	if (unlikely(is_due && sn_run_queue_has_pinned(&w->run) &&
		     !has_only_cut(w, cuts))) {
		sn_loop_yield(w);
		return true;
	}
	if (unlikely(!do_upkeep(w, cuts))) {
		sn_loop_yield(w);
		return true;
	}
	if (likely(!w->run.ready.head && sn_inbox_is_empty(&w->mail.fibers)))
		return is_due;
	if (has_only_cut(w, cuts)) {
		sn_run_queue_skip_turn(&w->run);
		sn_run_queue_postpone_turn(&w->run);
	}
	sn_loop_yield(w);
	return true;
}

/* --- the loop ----------------------------------------------------------- */

struct range sn_parallel_range(const struct loop *l, size_t begin, size_t end)
{
	const size_t first = l->most / FIRST_PART;

	return (struct range){ .begin = begin,
			       .end = end,
			       .piece = l->grain ? l->grain : 1,
			       .whole = l->grain ? l->grain
					: first  ? first
						 : 1,
			       .cuts = l->group };
}

size_t sn_parallel_middle(const struct loop *l, const struct range *r)
{
	size_t grain = l->grain ? l->grain : 1;
	size_t kept = (r->end - r->begin) / 2 / grain * grain;

	return r->begin + (kept < r->piece ? r->piece : kept);
}

struct range sn_parallel_rest(const struct loop *l, struct range *r)
{
	struct range rest = *r;

	rest.begin = sn_parallel_middle(l, r);
	if (!l->grain)
		rest.piece = 1;
	rest.calm = 0;
	rest.pace = 0;
	rest.looked = r->looked = 0; /* a cut takes time */
	return rest;
}

/* Go on as with the range of *l that w ended last, if *r comes after it. It
 * came without a look at the loop, so others have not had a turn since. A loop
 * before may have had a group at the same address. */
static void restore_range_state(const struct loop *l, struct range *r,
				struct worker *w)
{
	if (l->group != w->loop.group || r->begin != w->loop.end ||
	    w->loop.ended <= l->opened)
		return;
	r->piece = r->whole = w->loop.piece;
	r->calm = w->loop.calm;
	sn_parallel_give_way(w, r->cuts);
}

static void save_range_state(const struct loop *l, const struct range *r,
			     struct worker *w)
{
	w->loop = (struct loop_state){ l->group, r->looked, r->end, r->piece,
				       r->calm };
}

/* How many indices take as long as a piece should, if the cost of an index goes
 * on growing as it did between the last two pieces. */
static size_t indices_per_piece(uint64_t before, uint64_t pace)
{
	uint64_t expected = pace;

	if (!pace) /* a function that does not go through its indices */
		return SIZE_MAX;
	if (before && pace > before)
		expected = pace < UINT32_MAX ? pace * pace / before
					     : UINT64_MAX;
	return expected < PACE_ONE * PIECE_TIME
		       ? (size_t)(PACE_ONE * PIECE_TIME / expected)
		       : 1;
}

/* Adapt the size of the next piece to the time that the last one took. */
static void adapt_piece(const struct loop *l, struct range *r, size_t indices,
			sennit_time took)
{
	const uint64_t before = r->pace;
	size_t         next;

	r->pace = took * PACE_ONE / indices;
	next = indices_per_piece(before, r->pace);
	if (took > LONG_TIME)
		r->calm = 0;
	else
		r->calm += indices; /* at most those of the range */
	if (next > l->most)
		next = l->most;
	if (next > r->calm + 1)
		next = r->calm + 1;
	r->piece = r->whole = next ? next : 1;
}

static int run_loop_piece(const struct loop *l, struct range *r)
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

/* Timers that are due need not wait for the next upkeep, which may be 61 pieces
 * away, as the clock has just been read. */
static int run_timed(const struct loop *l, struct range *r, struct worker *w)
{
	const size_t      begin = r->begin;
	const sennit_time began = r->looked ? r->looked : os_now();
	int               err = run_loop_piece(l, r);

	r->looked = os_now();
	adapt_piece(l, r, r->begin - begin, r->looked - began);
	if (unlikely(!sn_timers_is_empty(&w->timers)) &&
	    sn_timers_next(&w->timers) <= r->looked)
		sn_deadlines_fire(w, r->looked);
	return err;
}

int sn_parallel_step(const struct loop *l, struct range *r, struct worker *w)
{
	int err = sn_parallel_stops(l->group);

	if (!err)
		err = l->grain ? run_loop_piece(l, r) : run_timed(l, r, w);
	if (!err && r->begin != r->end && sn_parallel_give_way(w, r->cuts))
		r->looked = 0;
	return err;
}

int sn_parallel_pieces(const struct loop *l, struct range *r, struct worker *w)
{
	int err;

	if (!l->grain)
		restore_range_state(l, r, w);
	do {
		err = sn_parallel_step(l, r, w);
		if (!err && r->begin == r->end)
			save_range_state(l, r, w);
	} while (!err && r->begin != r->end && !sn_parallel_is_wanted(r, w));
	return err;
}

/* --- for ---------------------------------------------------------------- */

/* A part of the range that one worker processes. Small, as it is copied. */
struct share {
	const struct loop *loop;
	size_t             begin, end, whole; /* of struct range */
};

static int run_share(void *argument);

/* Cut r in two. If there is no memory for that, this worker does all of it. If
 * the group is cancelled, the next check finds that. */
static void split_range(const struct loop *l, struct range *r)
{
	const struct range rest = sn_parallel_rest(l, r);
	struct share       other = { l, rest.begin, rest.end, rest.whole };

	if (!sennit_group_spawn_copy(l->group, run_share, &other,
				     sizeof(other)))
		r->end = rest.begin;
}

static int run_share(void *argument)
{
	const struct share *s = argument;
	const struct loop  *l = s->loop;
	struct range        r = sn_parallel_range(l, s->begin, s->end);
	struct worker      *w = sn_self;
	int                 err = 0;

	r.whole = s->whole;
	if (sn_parallel_is_wanted(&r, w))
		split_range(l, &r);
	while (!(err = sn_parallel_pieces(l, &r, w)) && r.begin != r.end)
		split_range(l, &r);
	return err;
}

int sn_parallel_loop(const struct loop *l, size_t begin, size_t end)
{
	const struct range r = sn_parallel_range(l, begin, end);
	struct share       s = { l, r.begin, r.end, r.whole };

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
static int run_body_in_race_context(void *call, size_t begin, size_t end)
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
			void *context, const sennit_parallel_options *options,
			sennit_time deadline)
{
	struct for_call c = {
		.begin = begin,
		.end = end,
		.body = body,
		.context = context,
	};
	int err = sn_parallel_init(&c.parallel, options, deadline,
				   "sennit_parallel_for");

	if (err || !body)
		return err ? err : -EINVAL;
	if (begin >= end)
		return 0;
	c.loop = (struct loop){
		.group = &c.parallel.group,
		.body = RACES_ARE_TOLD ? run_body_in_race_context : body,
		.context = RACES_ARE_TOLD ? &c : context,
		.call = "sennit_parallel_for",
		.opened = c.parallel.opened,
		.grain = c.parallel.grain,
		.most = sn_parallel_most(&c.parallel, end - begin),
	};
	return sn_parallel_run(&c.parallel, run_for, &c);
}
