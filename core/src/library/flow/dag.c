/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - runs a DAG: a run is a group, and each member runs a path of nodes.
 *
 *	member   run the node; subtract it from the counts of its successors;
 *	         of the successors that become ready, spawn all except the last
 *	         one, and continue with that one
 *
 * So a chain of nodes is a loop on one stack. After each node the member makes
 * the same checks as the worker's loop between two tasks, and yields when
 * another fiber or task is due.
 *
 * A node that failed or never began is never subtracted, so its successors do
 * not begin. No one needs to be informed: the run ends when its members end.
 *
 * The member that decrements a slot's count to 0 is the only one that accesses
 * the slot from then on. `left` then becomes the link of a list: the nodes for
 * which there was no memory to spawn a member. The member runs these itself
 * after its own.
 */
#include "flow/dag.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/sized.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "group/cancel.h"
#include "group/group.h"

#include <errno.h>
#include <string.h>

#define DAG_FLAGS (SENNIT_GROUP_KEEP_GOING | SENNIT_GROUP_OWN_STACKS)
#define NO_NODE   UINT32_MAX

struct run {
	sennit_group    group;
	sennit_dag     *dag; /* fixed, like all fields below except slots */
	void           *data;
	void           *memory; /* from the allocator; NULL: the caller's */
	sennit_time     deadline;
	uint32_t        flags;
	struct dag_slot slots[]; /* any */
};

static struct run *run_of(struct dag_slot *s)
{
	char *first = (char *)(s - s->node);

	return (struct run *)(void *)(first - offsetof(struct run, slots));
}

/* --- members ------------------------------------------------------------ */

static int run_from(void *slot);

/* Why no further node may begin. 0: nodes may begin. */
static ALWAYS_INLINE int dag_stop_error(const struct run *r)
{
	const struct sennit_cancel_scope *scope = &r->group.scope_;

	if (sn_cancel_scope_is_cancelled(scope))
		return -ECANCELED;
	return sn_cancel_scope_is_late(scope) ? -ETIMEDOUT : 0;
}

/* For race.h. A node without function passes on what came before it. */
static inline void tell_successors(const struct run      *r,
				   const struct dag_node *node)
{
#ifdef SENNIT_RACE
	for (uint32_t i = node->begin; i < node->end; i++)
		sn_race_release(&r->slots[r->dag->edges[i] & ~DAG_ALONE].left);
#else
	(void)r;
	(void)node;
#endif
}

/* Reports show the node's function as the member's task. Local values and a
 * name belong to the node and end with it. */
static ALWAYS_INLINE int run_node(const struct run *r, struct sennit_fiber *f,
				  const struct dag_node *node)
{
	int err;

	sn_fiber_state_set_task(&f->state,
				(sennit_task_fn *)(void (*)(void))node->run);
	err = node->run(r->data, node->argument);
	if (unlikely(f->cleanup & ~CLEANUP_FP_SHARED))
		sn_task_cleanup_run(f);
	MISUSE(err > 0, "sennit_dag_run",
	       "a node returned neither 0 nor a negative error");
	return err;
}

static ALWAYS_INLINE int call_node(struct run *r, struct sennit_fiber *f,
				   uint32_t number)
{
	const struct dag_node *node = &r->dag->nodes[number];
	void                  *outer;
	int                    err;

	if (!node->run && !RACES_ARE_TOLD)
		return 0;
	outer = sn_race_begin(sn_race_sent(), f->low);
	sn_race_acquire(&r->slots[number].left);
	err = node->run ? run_node(r, f, node) : 0;
	tell_successors(r, node);
	sn_race_release(&r->group);
	sn_race_end(outer, f->low);
	return err;
}

/* Subtract one predecessor of the node that the edge leads to. Returns whether
 * none is left. */
static ALWAYS_INLINE bool count_predecessor(struct run *r, uint32_t edge)
{
	a_u32 *left;

	if (edge & DAG_ALONE)
		return true;
	left = &r->slots[edge].left;
	TORTURE_POINT();
	/* 1 is left: no other node will count. <- dag.node */
	return a_load_acq(left) == 1 ||
	       /* -> dag.node: what the node did <- dag.node: what the others
	        * did */
	       a_sub_acqrel(left, 1) == 1;
}

/* Spawn a member for the node. If there is no memory for that, add the node to
 * the list. Returns the list. */
static uint32_t spawn_ready_node(struct run *r, uint32_t node, uint32_t list)
{
	struct dag_slot *s = &r->slots[node];

	if (likely(sennit_group_spawn(&r->group, run_from, s) != -ENOMEM))
		return list;
	a_store_rlx(&s->left, list);
	return node;
}

/* The node has ended: count it out of its successors. Returns the list of nodes
 * that this member must run. The node that became ready last comes first. */
static uint32_t count_in_successors(struct run *r, const struct dag_node *node,
				    uint32_t list)
{
	const uint32_t *edges = r->dag->edges;
	uint32_t        ready = NO_NODE, i;

	for (i = node->begin; i < node->end; i++) {
		if (!count_predecessor(r, edges[i]))
			continue;
		if (ready != NO_NODE)
			list = spawn_ready_node(r, ready, list);
		ready = edges[i] & ~DAG_ALONE;
	}
	if (ready == NO_NODE)
		return list;
	a_store_rlx(&r->slots[ready].left, list);
	return ready;
}

/* Whether the worker has nothing to do that precedes a task. */
static ALWAYS_INLINE bool may_run_next_node(struct worker *w)
{
	return !w->run.ready.head && sn_inbox_is_empty(&w->mail.fibers) &&
	       (!w->threaded || !sn_run_queue_has_pinned(&w->run)) &&
	       sn_upkeep_tick(w);
}

/* Spawn members for the nodes on the list. Returns the list of nodes for which
 * there was no memory. */
static NOINLINE uint32_t spawn_ready_nodes(struct run *r, uint32_t list)
{
	uint32_t kept = NO_NODE;

	while (list != NO_NODE) {
		const uint32_t node = list;

		list = a_load_rlx(&r->slots[node].left); /* only this member
							  * uses it now */
		kept = spawn_ready_node(r, node, kept);
	}
	return kept;
}

/* Run the node of the slot, then the ready successors that this member
 * keeps. */
static int run_from(void *slot)
{
	struct run    *r = run_of(slot);
	struct worker *w = sn_self;
	uint32_t       list = ((struct dag_slot *)slot)->node;

	a_store_rlx(&r->slots[list].left, NO_NODE);
	do {
		const uint32_t         number = list;
		const struct dag_node *node = &r->dag->nodes[number];
		int                    err = dag_stop_error(r);

		if (unlikely(err))
			return err;
		list = a_load_rlx(&r->slots[number].left); /* only this member
							    * uses it now */
		err = call_node(r, w->home.current, number);
		if (likely(!err))
			list = count_in_successors(r, node, list);
		else
			sn_group_fail(&r->group, err);
		if (list != NO_NODE && unlikely(!may_run_next_node(w)))
			list = spawn_ready_nodes(r, list);
	} while (list != NO_NODE);
	return 0;
}

/* --- runs --------------------------------------------------------------- */

size_t sennit_dag_run_size(const sennit_dag *d)
{
	return sizeof(struct run) +
	       ((size_t)d->start + 1) * sizeof(struct dag_slot);
}

/* Make everything except the group. NULL: out of memory. */
static struct run *make_run(const sennit_dag *dag, void *data,
			    const sennit_dag_options *o, sennit_time deadline,
			    const char *call_name)
{
	/* The count of runs is all that changes. */
	sennit_dag             *d = (sennit_dag *)(uintptr_t)dag;
	const sennit_allocator *a = &d->allocator;
	struct run             *r = o->memory;

	MISUSE(o->flags & ~DAG_FLAGS || o->reserved_, call_name,
	       "unknown flags");
	MISUSE((uintptr_t)r % _Alignof(max_align_t), call_name,
	       "the memory is not aligned");
	if (!r)
		r = a->allocate(a->context, sennit_dag_run_size(d),
				_Alignof(max_align_t));
	if (!r)
		return NULL;
	r->dag = d;
	r->data = data;
	r->memory = o->memory ? NULL : r;
	r->deadline = deadline;
	r->flags = o->flags;
	memcpy(r->slots, d->slots, ((size_t)d->start + 1) * sizeof(*r->slots));
	a_add_rlx(&d->runs, 1); /* the caller keeps *d alive until end_run */
	return r;
}

static void end_run(struct run *r)
{
	sennit_dag  *d = r->dag;
	const size_t size = sennit_dag_run_size(d);

	sn_memory_give(&d->allocator, r->memory, size);
	a_sub_rel(&d->runs, 1); /* -> dag.run: it is over */
}

/* Run all nodes and end the run. Its group must be open. */
static int run_all_nodes(struct run *r)
{
	const int begun = sennit_group_spawn(&r->group, run_from,
					     &r->slots[r->dag->start]);
	const int err = sennit_group_wait(&r->group);

	end_run(r);
	return begun ? begun : err;
}

ENDS_WITH(sennit_dag_options, reserved_);

static sennit_dag_options read_dag_options(const sennit_dag_options *options,
					   const char               *call)
{
	sennit_dag_options o = { .flags = 0 };

	MISUSE(options && sn_sized_read(
				  &o, sizeof(o), options,
				  SIZE_THROUGH(sennit_dag_options, reserved_)),
	       call, "the size of the options is not valid");
	return o;
}

int sennit_dag_run(const sennit_dag *d, void *data,
		   const sennit_dag_options *options, sennit_time deadline)
{
	const sennit_dag_options o = read_dag_options(options,
						      "sennit_dag_run");
	struct run              *r;

	MISUSE(!o.scheduler && !sn_self, "sennit_dag_run",
	       "no scheduler is bound to this thread, nor given");
	r = make_run(d, data, &o, deadline, "sennit_dag_run");
	if (!r)
		return -ENOMEM;
	if (o.scheduler)
		sennit_group_init_on(&r->group, o.scheduler, deadline,
				     r->flags);
	else
		sennit_group_init(&r->group, deadline, r->flags);
	return KEEP_FRAME(run_all_nodes(r));
}

static int run_as_member(void *argument)
{
	struct run *r = argument;

	sennit_group_init(&r->group, r->deadline, r->flags);
	return run_all_nodes(r);
}

int sennit_dag_spawn(sennit_group *g, const sennit_dag *d, void *data,
		     const sennit_dag_options *options, sennit_time deadline)
{
	const sennit_dag_options o = read_dag_options(options,
						      "sennit_dag_spawn");
	struct run              *r;
	int                      err;

	MISUSE(o.scheduler, "sennit_dag_spawn",
	       "a scheduler is given, but the group has its own");
	r = make_run(d, data, &o, deadline, "sennit_dag_spawn");
	if (!r)
		return -ENOMEM;
	err = sennit_group_spawn(g, run_as_member, r);
	if (err)
		end_run(r);
	return err;
}
