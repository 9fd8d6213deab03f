/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - the same steps in the same order, many times: a graph of functions,
 * built once, run as often as wanted, also several times at once.
 *
 *	builder --build--> sennit_dag (never changes) --run, run, ...
 *
 * A node is a function. An edge says that one node has ended before another
 * begins; a node begins once all before it have ended, and what they did is
 * visible to it. Nodes that no edge orders run at the same time, as far as
 * there are workers. Each run hands all nodes a pointer of its own.
 *
 * Example:
 *	static sennit_dag *make(sennit_dag_fn *load, sennit_dag_fn *sort)
 *	{
 *		sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
 *		sennit_dag        *dag = NULL;
 *		uint32_t           first, then;
 *
 *		if (!sennit_dag_builder_add(&b, load, NULL, "load", &first) &&
 *		    !sennit_dag_builder_add(&b, sort, NULL, "sort", &then) &&
 *		    !sennit_dag_builder_order(&b, first, then))
 *			(void)!sennit_dag_build(&dag, &b, NULL, 0);
 *		sennit_dag_builder_destroy(&b);
 *		return dag;	// sennit_dag_run(dag, data, NULL, SENNIT_NEVER)
 *	}
 *
 * The nodes of a run are the work of a group (group.h): a node may wait, and a
 * first error cancels the others. A node that fails keeps all that come after
 * it from running. Several nodes may run on one stack, one after another and
 * as one task; each has local values and a name of its own, and must leave the
 * floating-point control as it found it.
 */
#ifndef SENNIT_DAG_H
#define SENNIT_DAG_H

#include "sennit/group.h"

SENNIT_BEGIN

/* A node: returns 0, or a negative errno value. data: of the run; argument: of
 * the node. */
typedef int sennit_dag_fn(void *data, void *argument);

/* --- building ----------------------------------------------------------- */

/* What is being put together; by one thread at a time. All zero is a valid,
 * empty one that uses malloc. */
typedef struct sennit_dag_builder {
	void            *nodes_;
	void            *edges_;
	uint32_t         node_count_;
	uint32_t         node_room_;
	uint32_t         edge_count_;
	uint32_t         edge_room_;
	sennit_allocator allocator_;
} sennit_dag_builder;

/* clang-format off */
#define SENNIT_DAG_BUILDER_INIT \
	{ NULL, NULL, 0, 0, 0, 0, { NULL, NULL, NULL } }
/* clang-format on */

/* As many nodes and edges as a builder takes. */
#define SENNIT_DAG_NODES (UINT32_C(1) << 30)
#define SENNIT_DAG_EDGES (UINT32_C(1) << 30)

/* Make *b an empty builder. It and all DAGs that it builds, and their runs, get
 * their memory from *allocator, which is copied; NULL: malloc.
 * Returns 0, or -EINVAL for an allocator that lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_builder_init(
	sennit_dag_builder *b, const sennit_allocator *allocator);

/* Free what *b has; it is empty again. The DAGs that it has built stay.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_dag_builder_destroy(sennit_dag_builder *b);

/* Add a node that calls run(data, argument); with run NULL it does nothing but
 * stand between others. name, NULL for none, is shown when a cycle is found,
 * and must stay until then. *node: the number of the node, which is how many
 * were added before.
 * Returns 0, -ENOMEM, or -EOVERFLOW when there are SENNIT_DAG_NODES: then *b is
 * as it was.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_builder_add(sennit_dag_builder *b,
						      sennit_dag_fn      *run,
						      void       *argument,
						      const char *name,
						      uint32_t   *node);

/* Node `before` is to end before node `after` begins. To say so twice is the
 * same as once. Misuse of a number that is no node's.
 * Returns 0, -ENOMEM, or -EOVERFLOW when there are SENNIT_DAG_EDGES: then *b is
 * as it was.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_builder_order(sennit_dag_builder *b,
							uint32_t before,
							uint32_t after);

typedef struct sennit_dag sennit_dag;

/* Make *out of what *b has, which it keeps: it may be extended and built anew.
 * Returns 0, -ENOMEM, or -ELOOP when nodes wait for each other in a circle:
 * then `cycle`, an array of `size` bytes unless that is 0, names one such, as
 * "parse -> link -> node 7 -> parse" (it ends in "..." where there is no room).
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_build(sennit_dag              **out,
						const sennit_dag_builder *b,
						char *cycle, size_t size);

/* The same, but a run begins with node `root` alone: only what it leads to is
 * run. A node that has another before it that is not, is not either. Misuse if
 * root is no node.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_build_from(
	sennit_dag **out, const sennit_dag_builder *b, uint32_t root,
	char *cycle, size_t size);

/* Free *d. Misuse while a run of it has not ended. NULL: nothing.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_dag_destroy(sennit_dag *d);

/* --- running ------------------------------------------------------------ */

/* How to run; all zero for the usual way. */
typedef struct sennit_dag_options {
	sennit_scheduler *scheduler; /* where; NULL: the bound one. The caller
				      * holds a reference until the run has
				      * ended. For sennit_dag_run alone */
	void             *memory;    /* sennit_dag_run_size bytes, aligned as
				      * malloc does, the run's until it has
				      * ended; NULL: the allocator's */
	uint32_t          flags;     /* SENNIT_GROUP_*: as of a group whose
				      * members the nodes are */
	uint32_t          reserved_; /* must be 0 */
} sennit_dag_options;

/* Bytes of memory that each run of *d takes while it lasts: all that it takes,
 * but for what tasks take anyway.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_dag_run_size(const sennit_dag *d);

/* Run each node of *d once, and wait until all that began have ended: run(data,
 * argument) each. options: NULL for the usual way. Inside a group, the run is
 * inside it as well: its cancelling and its deadline reach the run.
 *
 * No further node begins once one has failed (unless told to keep going: then
 * those alone do not that come after it), the deadline has passed, or a group
 * around the run is cancelled. What waits in a node then ends with -ECANCELED,
 * or -ETIMEDOUT at the deadline.
 * Misuse with no scheduler bound or given, with one given that has no workers
 * unless the caller is bound to it, with unknown flags, or memory that is not
 * aligned.
 * Returns 0 if all nodes have run and returned 0; else the first error, a
 * node's, or the -ETIMEDOUT or -ECANCELED that kept one from running. Any other
 * goes before -ECANCELED. -ENOMEM of the run's own: no node has run.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_run(sennit_dag *d, void *data,
					      const sennit_dag_options *options,
					      sennit_time deadline);

/* The same as a member of *g, without waiting: as sennit_group_spawn of a
 * function that calls sennit_dag_run and returns what it returns. By whoever
 * may spawn a member. The run has ended when the group has. options is read
 * before the call returns; its scheduler is NULL.
 * Returns 0, -ENOMEM, or -ECANCELED, as sennit_group_spawn does: then nothing
 * was spawned.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_spawn(
	sennit_group *g, sennit_dag *d, void *data,
	const sennit_dag_options *options, sennit_time deadline);

SENNIT_END

#endif
