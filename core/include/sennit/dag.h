/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - graphs of functions (task graphs): built once, run many times, also
 * several times at once.
 *
 *	builder --build--> sennit_dag (never changes) --run, run, ...
 *
 * A node is a function. An edge says that one node ends before another node
 * begins. A node begins once all nodes before it have ended, and their effects
 * are visible to it. Nodes that no edge orders run in parallel, as far as there
 * are workers. Each run passes its own data pointer to all nodes.
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
 * The nodes of a run belong to a group (group.h): a node may wait, and the
 * first error cancels the others. If a node fails, no node after it runs.
 * Several nodes may run on one stack, one after the other and as one task. Each
 * node has its own local values and its own name, and must leave the
 * floating-point control as it found it.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_DAG_H
#define SENNIT_DAG_H

#include "sennit/group.h"

SENNIT_BEGIN

/* A node. data is that of the run, argument is that of the node. It returns 0
 * or a negative errno value. */
typedef int sennit_dag_fn(void *data, void *argument);

/* --- building ----------------------------------------------------------- */

/* A graph under construction. One thread at a time may use it. A builder with
 * all bytes zero is valid and empty, and uses malloc. */
typedef struct sennit_dag_builder {
	void            *nodes_;
	void            *edges_;
	uint32_t         node_count_;
	uint32_t         node_room_;
	uint32_t         edge_count_;
	uint32_t         edge_room_;
	sennit_allocator allocator_;
	void            *reserved_[2];
} sennit_dag_builder;

/* clang-format off */
#define SENNIT_DAG_BUILDER_INIT \
	{ NULL, NULL, 0, 0, 0, 0, { NULL, NULL, NULL }, { NULL, NULL } }
/* clang-format on */

/* The largest numbers of nodes and edges of a builder. */
#define SENNIT_DAG_NODES (UINT32_C(1) << 30)
#define SENNIT_DAG_EDGES (UINT32_C(1) << 30)

/* Initialise *b as an empty builder. The builder, the DAGs that it builds, and
 * their runs take their memory from *allocator, which is copied; NULL means
 * malloc.
 * Returns 0, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_builder_init(
	sennit_dag_builder *b, const sennit_allocator *allocator);

/* Free the memory of *b, which is empty again. The DAGs that it has built
 * remain.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_dag_builder_destroy(sennit_dag_builder *b);

/* Add a node that calls run(data, argument), and store its number in *node. If
 * run is NULL, the node does nothing and only orders other nodes. name, or NULL
 * for none, is used in the text of a cycle and must exist until the graph is
 * built. Nodes are numbered from 0 in the order in which they are added.
 * Returns 0, -ENOMEM, or -EOVERFLOW if there are SENNIT_DAG_NODES nodes. On
 * error *b is unchanged.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_builder_add(sennit_dag_builder *b,
						      sennit_dag_fn      *run,
						      void       *argument,
						      const char *name,
						      uint32_t   *node);

/* Add an edge: node `before` ends before node `after` begins. To add an edge
 * twice has the effect of adding it once. It is misuse if a number names no
 * node.
 * Returns 0, -ENOMEM, or -EOVERFLOW if there are SENNIT_DAG_EDGES edges. On
 * error *b is unchanged.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_builder_order(sennit_dag_builder *b,
							uint32_t before,
							uint32_t after);

typedef struct sennit_dag sennit_dag;

/* Build a DAG from the content of *b and store it in *out. *b keeps its
 * content, and may be extended and built again.
 * Returns 0, -ENOMEM, or -ELOOP if nodes wait for each other in a cycle. Then
 * `cycle`, an array of `size` bytes unless size is 0, gets the text of one
 * cycle, for example "parse -> link -> node 7 -> parse". The text ends in "..."
 * if the array is too small.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_build(sennit_dag              **out,
						const sennit_dag_builder *b,
						char *cycle, size_t size);

/* Like sennit_dag_build, but a run begins with node `root` alone and runs only
 * the nodes that can be reached from it. A node with a predecessor that does
 * not run does not run either. It is misuse if root names no node. Returns what
 * sennit_dag_build() returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_build_from(
	sennit_dag **out, const sennit_dag_builder *b, uint32_t root,
	char *cycle, size_t size);

/* Free *d. A later use of *d is not detected. It is misuse while a run of *d
 * has not ended. NULL: do nothing.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_dag_destroy(sennit_dag *d);

/* --- running ------------------------------------------------------------ */

/* Options of a run. */
typedef struct sennit_dag_options {
	size_t            size;      /* sizeof(sennit_dag_options) in the
				      * caller's build */
	sennit_scheduler *scheduler; /* where to run; NULL: the bound one. The
				      * caller holds a reference until the run
				      * has ended. For sennit_dag_run only */
	void             *memory;    /* sennit_dag_run_size bytes, aligned as by
				      * malloc; the run owns them until it has
				      * ended. NULL: from the allocator */
	uint32_t          flags;     /* SENNIT_GROUP_*, for the group whose
				      * members the nodes are */
	uint32_t          reserved_; /* must be 0 */
} sennit_dag_options;

#define SENNIT_DAG_OPTIONS(...)              \
	SENNIT_CONSTANT_(sennit_dag_options, \
			 .size = sizeof(sennit_dag_options), __VA_ARGS__)

/* Return the number of bytes of memory that each run of *d takes while it
 * lasts. A run takes no other memory, except what tasks take in any case.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_dag_run_size(const sennit_dag *d);

/* Run each node of *d once, as run(data, argument), and wait until all nodes
 * that began have ended. options may be NULL for the defaults. If the caller is
 * inside a group, the run is inside that group too: the group's cancellation
 * and deadline reach the run.
 *
 * No further node begins once a node has failed, the deadline has passed, or a
 * group around the run is cancelled. Waits in running nodes then end with
 * -ECANCELED, or with -ETIMEDOUT at the deadline. With SENNIT_GROUP_KEEP_GOING
 * a failed node prevents only the nodes after it.
 *
 * It is misuse if no scheduler is bound or given, if the given scheduler has no
 * workers and the caller is not bound to it, if a flag is unknown, if the
 * size of the options is not valid (base.h), or if the memory is not aligned.
 * Returns 0 if all nodes have run and returned 0. Otherwise it returns the
 * first error: that of a node, or the -ETIMEDOUT or -ECANCELED that prevented a
 * node. Any other error takes precedence over -ECANCELED. It returns -ENOMEM if
 * there is no memory for the run, or -ESHUTDOWN as sennit_schedule_task_on
 * does, and then no node has run.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_run(const sennit_dag *d, void *data,
					      const sennit_dag_options *options,
					      sennit_time deadline);

/* Run *d as a member of *g, without waiting: like sennit_group_spawn of a
 * function that calls sennit_dag_run and returns its result. Every caller that
 * may spawn a member of *g may call this. The run has ended when the group has
 * ended. options is read before the call returns; its scheduler must be NULL.
 * Returns 0, or -ENOMEM or -ECANCELED as sennit_group_spawn does. On error
 * nothing is spawned.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dag_spawn(
	sennit_group *g, const sennit_dag *d, void *data,
	const sennit_dag_options *options, sennit_time deadline);

SENNIT_END

#endif
