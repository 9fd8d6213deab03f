/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - graphs of work: a node runs when all nodes that it depends on have
 * run.
 *
 * A DAG is built once and run any number of times, also several times at once.
 * Nodes that do not depend on the root, directly or indirectly, never run.
 *
 * T is the type of the data that run() passes to each node: as a copy, or the
 * object itself if T is a reference; void for none.
 */
#ifndef marl_dag_h
#define marl_dag_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "containers.h"
#include "export.h"
#include "memory.h"
#include "scheduler.h"
#include "waitgroup.h"

#include "sennit/wait_group.h"

#include <atomic>
#include <functional>
#include <initializer_list>
#include <utility>

namespace marl
{

template <typename T> class DAG;
template <typename T> class DAGBuilder;

namespace detail
{

/* The data that is passed to the nodes of one run. */
template <typename T> struct DAGData {
	using Work = std::function<void(T)>;

	void call(const Work &work)
	{
		work(data);
	}

	T data;
};

template <> struct DAGData<void> {
	using Work = std::function<void()>;

	void call(const Work &work)
	{
		work();
	}
};

} // namespace detail

/* A node of a DAG under construction. */
template <typename T> class DAGNodeBuilder
{
public:
	/* Add a node that runs after this one. */
	template <typename F> DAGNodeBuilder then(F &&work)
	{
		return builder_->node(std::forward<F>(work), { *this });
	}

private:
	friend class DAGBuilder<T>;

	DAGNodeBuilder(DAGBuilder<T> *builder, size_t index)
	    : builder_(builder), index_(index)
	{
	}

	DAGBuilder<T> *builder_;
	size_t         index_;
};

template <typename T> class DAGBase
{
protected:
	friend class DAGBuilder<T>;

	using Data = detail::DAGData<T>;
	using Work = typename Data::Work;

	explicit DAGBase(Allocator *allocator) : nodes(allocator)
	{
	}

	struct Node {
		Node(Allocator *allocator, Work &&what)
		    : work(std::move(what)), outs(allocator)
		{
		}

		Work     work;
		uint32_t ins = 0;

		/* The index of its counter in a run, if ins is more than
		 * one. */
		size_t counter = 0;

		containers::vector<size_t, 4> outs;
	};

	/* Its end waits for the nodes that run elsewhere. */
	struct Run {
		Run(DAGBase *of, Data &&with) : dag(of), data(std::move(with))
		{
		}

		DAGBase                                     *dag;
		Data                                         data;
		Allocator::unique_ptr<std::atomic<uint32_t>> counters;
		detail::Joined                               others;
	};

	void run(Run *r, Allocator *allocator)
	{
		r->counters = allocator->make_unique_n<std::atomic<uint32_t>>(
			counters);
		for (const Node &node : nodes)
			if (node.ins > 1)
				r->counters.get()[node.counter].store(
					node.ins, std::memory_order_relaxed);
		follow(r, 0);
	}

	/* Run a node and, one after the other, one of the nodes that become
	 * ready by it; the other ready nodes become tasks. */
	void follow(Run *r, size_t index)
	{
		for (size_t next; index != NONE; index = next) {
			Node &node = nodes[index];

			if (node.work)
				r->data.call(node.work);
			next = NONE;
			for (size_t out : node.outs) {
				if (!is_ready(r, nodes[out]))
					continue;
				if (next != NONE)
					start(r, next);
				next = out;
			}
		}
	}

	/* acq_rel: the last predecessor sees the effects of all others. */
	bool is_ready(Run *r, const Node &node)
	{
		return node.ins == 1 ||
		       r->counters.get()[node.counter].fetch_sub(
			       1, std::memory_order_acq_rel) == 1;
	}

	void start(Run *r, size_t index)
	{
		sennit_wait_group_add(&r->others.left, 1);
		schedule([r, index] {
			r->dag->follow(r, index);
			sennit_wait_group_done(&r->others.left);
		});
	}

	static constexpr size_t NONE = ~size_t(0);

	containers::vector<Node, 1> nodes; /* the first is the root */
	size_t                      counters = 0;
};

template <typename T> class DAGBuilder
{
public:
	DAGBuilder(Allocator *allocator = Allocator::Default)
	    : allocator_(allocator),
	      dag_(allocator->make_unique<DAG<T>>(allocator))
	{
		add(Work());
	}

	/* The root. It runs first and does nothing itself. */
	DAGNodeBuilder<T> root()
	{
		return DAGNodeBuilder<T>(this, 0);
	}

	/* Add a node without dependencies. It runs only if it gets one. */
	template <typename F> DAGNodeBuilder<T> node(F &&work)
	{
		return add(Work(std::forward<F>(work)));
	}

	/* Add a node that runs after all of these. */
	template <typename F>
	DAGNodeBuilder<T> node(F                                      &&work,
			       std::initializer_list<DAGNodeBuilder<T>> after)
	{
		DAGNodeBuilder<T> added = node(std::forward<F>(work));

		for (const DAGNodeBuilder<T> &parent : after)
			addDependency(parent, added);
		return added;
	}

	/* Let the child run after the parent. */
	void addDependency(DAGNodeBuilder<T> parent, DAGNodeBuilder<T> child)
	{
		dag_->nodes[child.index_].ins++;
		dag_->nodes[parent.index_].outs.push_back(child.index_);
	}

	/* Return the DAG. This ends the construction. */
	Allocator::unique_ptr<DAG<T>> build()
	{
		for (auto &node : dag_->nodes)
			if (node.ins > 1)
				node.counter = dag_->counters++;
		return std::move(dag_);
	}

private:
	using Work = typename DAGBase<T>::Work;
	using Node = typename DAGBase<T>::Node;

	DAGNodeBuilder<T> add(Work &&work)
	{
		dag_->nodes.emplace_back(Node(allocator_, std::move(work)));
		return DAGNodeBuilder<T>(this, dag_->nodes.size() - 1);
	}

	Allocator                    *allocator_;
	Allocator::unique_ptr<DAG<T>> dag_;
};

template <typename T = void> class DAG : public DAGBase<T>
{
public:
	using Builder = DAGBuilder<T>;
	using NodeBuilder = DAGNodeBuilder<T>;

	explicit DAG(Allocator *allocator) : DAGBase<T>(allocator)
	{
	}

	/* Run all nodes with this data, and wait until they have run. If one
	 * that runs here throws, its exception leaves the call after those have
	 * returned that run elsewhere; those behind it do not run. */
	void run(T &data, Allocator *allocator = Allocator::Default)
	{
		typename DAGBase<T>::Run r(this,
					   typename DAGBase<T>::Data{ data });

		DAGBase<T>::run(&r, allocator);
	}
};

template <> class DAG<void> : public DAGBase<void>
{
public:
	using Builder = DAGBuilder<void>;
	using NodeBuilder = DAGNodeBuilder<void>;

	explicit DAG(Allocator *allocator) : DAGBase<void>(allocator)
	{
	}

	/* The same without data. */
	void run(Allocator *allocator = Allocator::Default)
	{
		DAGBase<void>::Run r(this, Data{});

		DAGBase<void>::run(&r, allocator);
	}
};

} // namespace marl

#endif
#endif
