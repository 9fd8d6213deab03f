/* SPDX-License-Identifier: Apache-2.0 */
/* dag.hpp - dag.h with callables for nodes, and exceptions out of a run.
 *
 *	sennit::dag_builder<job> b;
 *	auto load = b.add([](job &j) { j.load(); }, "load");
 *	auto sort = b.add([](job &j) { j.sort(); }, "sort");
 *	b.order(load, sort);
 *	sennit::dag<job> steps = b.build();
 *	steps.run(one);			// as often as wanted, also at once
 *
 * Runs of dag<> have no data of their own. A node that throws keeps what comes
 * after it from running, and by default all others that have not begun.
 */
#ifndef SENNIT_CPP_DAG_HPP
#define SENNIT_CPP_DAG_HPP

#include "sennit/cpp/caught.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/dag.h"

#include <memory>
#include <string>
#include <vector>

namespace sennit
{

template <typename Data> class dag;

namespace detail
{

/* What the runs of a DAG call; shared by it and its builder. */
template <typename Data> struct dag_node {
	explicit dag_node(std::string n) : name(std::move(n))
	{
	}
	dag_node(const dag_node &) = delete;
	dag_node &operator=(const dag_node &) = delete;
	virtual ~dag_node() = default;
	virtual int call(Data *data, caught &problem) = 0;

	const std::string name;
};

template <typename Data, typename F> struct dag_call : dag_node<Data> {
	template <typename G>
	dag_call(G &&g, std::string n)
	    : dag_node<Data>(std::move(n)), f(std::forward<G>(g))
	{
	}
	int call(Data *data, caught &problem) override
	{
		if constexpr (std::is_void_v<Data>) {
			static_cast<void>(data);
			return problem.call(f);
		} else if constexpr (std::is_invocable_v<F &, Data &>) {
			return problem.call([&] { return f(*data); });
		} else {
			return problem.call(f);
		}
	}

	F f;
};

template <typename Data>
using dag_nodes = std::vector<std::unique_ptr<dag_node<Data>>>;

template <typename Data> struct dag_run {
	Data  *data;
	caught problem;

	static int step(void *run, void *node)
	{
		dag_run &r = *static_cast<dag_run *>(run);

		return static_cast<dag_node<Data> *>(node)->call(r.data,
								 r.problem);
	}
};

} // namespace detail

/* How to run; all of it optional. */
struct dag_options : sennit_dag_options {
	dag_options() noexcept : sennit_dag_options()
	{
	}

	dag_options &until(std::chrono::steady_clock::time_point t) noexcept
	{
		deadline = detail::nanoseconds_of(t.time_since_epoch());
		return *this;
	}
	/* Not on the bound scheduler. s stays until the run has ended. */
	dag_options &on(const sennit::scheduler &s) noexcept
	{
		scheduler = detail::needed(s.get(), "sennit::dag_options::on");
		return *this;
	}
	/* SENNIT_GROUP_KEEP_GOING: an error keeps those alone from running that
	 * come after it. */
	dag_options &keep_going() noexcept
	{
		flags |= SENNIT_GROUP_KEEP_GOING;
		return *this;
	}
	/* run_size() bytes, the run's until it has ended. */
	dag_options &in_memory(void *bytes) noexcept
	{
		memory = bytes;
		return *this;
	}
	/* The run's error is stored in code, or 0, and not thrown; what a node
	 * throws still is. */
	dag_options &error_to(std::error_code &code) noexcept
	{
		error = &code;
		return *this;
	}

	sennit_time      deadline = SENNIT_NEVER;
	std::error_code *error = nullptr;
};

/* Put together by one thread at a time. */
template <typename Data = void> class dag_builder
{
public:
	/* A node's number: how many were added before. */
	using node = std::uint32_t;

	dag_builder()
	    : nodes_(std::make_shared<nodes>()), b_(SENNIT_DAG_BUILDER_INIT)
	{
	}
	dag_builder(const dag_builder &) = delete;
	dag_builder &operator=(const dag_builder &) = delete;
	~dag_builder()
	{
		sennit_dag_builder_destroy(&b_);
	}

	/* A node that calls f(data), or f(), which returns nothing, or an int:
	 * 0 or a negative errno value. f is called where it lies, by several
	 * threads at once if there are several runs. The name is shown when a
	 * cycle is found. */
	template <typename F> node add(F &&f, std::string name = std::string())
	{
		using call = detail::dag_call<Data, std::decay_t<F>>;

		nodes_->push_back(std::make_unique<call>(std::forward<F>(f),
							 std::move(name)));

		auto     *added = nodes_->back().get();
		node      number = 0;
		const int err = sennit_dag_builder_add(
			&b_, detail::dag_run<Data>::step, added,
			added->name.empty() ? nullptr : added->name.c_str(),
			&number);

		if (err)
			nodes_->pop_back();
		detail::check(err, "dag_builder");
		return number;
	}

	/* `before` is to end before `after` begins. */
	dag_builder &order(node before, node after)
	{
		detail::check(sennit_dag_builder_order(&b_, before, after),
			      "dag_builder");
		return *this;
	}

	/* Of what there is; it may be extended and built anew. Throws
	 * std::system_error of ELOOP, whose what() names nodes that wait for
	 * each other, as "a -> b -> a"; or std::bad_alloc. */
	dag<Data> build() const
	{
		return build_by(
			[this](sennit_dag **d, char *cycle, std::size_t size) {
				return sennit_dag_build(d, &b_, cycle, size);
			});
	}

	/* A run of it begins with `root`: only what that leads to runs. */
	dag<Data> build_from(node root) const
	{
		return build_by([this, root](sennit_dag **d, char *cycle,
					     std::size_t size) {
			return sennit_dag_build_from(d, &b_, root, cycle, size);
		});
	}

	sennit_dag_builder *native_handle() noexcept
	{
		return &b_;
	}

private:
	using nodes = detail::dag_nodes<Data>;

	template <typename Build> dag<Data> build_by(const Build &build) const
	{
		char        cycle[256] = "";
		sennit_dag *d = nullptr;
		const int   err = build(&d, cycle, sizeof(cycle));

		detail::check(err, err == -ELOOP ? cycle : "dag");
		return dag<Data>(d, nodes_);
	}

	std::shared_ptr<nodes> nodes_; /* their addresses never change */
	sennit_dag_builder     b_;
};

/* A graph that never changes, or none. It stays until its runs have ended. */
template <typename Data = void> class dag
{
public:
	dag() noexcept = default;
	dag(dag &&other) noexcept
	    : nodes_(std::move(other.nodes_)),
	      d_(std::exchange(other.d_, nullptr))
	{
	}
	dag &operator=(dag other) noexcept
	{
		std::swap(nodes_, other.nodes_);
		std::swap(d_, other.d_);
		return *this;
	}
	~dag()
	{
		sennit_dag_destroy(d_);
	}

	/* Run every node once with this data, and wait until all that began
	 * have ended. Throws what the first of them that failed has thrown;
	 * std::system_error if it returned an error, or at the deadline;
	 * sennit::cancelled when the caller's group is cancelled;
	 * std::bad_alloc when no node has run. To run it without waiting make
	 * that a member of a group. */
	template <typename D>
	std::enable_if_t<std::is_same_v<D, Data>> run(
		D &data, const dag_options &o = dag_options())
	{
		run_with(&data, o);
	}
	template <typename D = Data>
	std::enable_if_t<std::is_void_v<D>> run(
		const dag_options &o = dag_options())
	{
		run_with(nullptr, o);
	}

	/* Bytes of memory that each run takes. */
	std::size_t run_size() const noexcept
	{
		return sennit_dag_run_size(d_);
	}
	explicit operator bool() const noexcept
	{
		return d_ != nullptr;
	}
	sennit_dag *native_handle() noexcept
	{
		return d_;
	}

private:
	friend class dag_builder<Data>;
	using nodes = std::shared_ptr<detail::dag_nodes<Data>>;

	dag(sennit_dag *d, nodes n) noexcept : nodes_(std::move(n)), d_(d)
	{
	}

	void run_with(Data *data, const dag_options &o)
	{
		detail::dag_run<Data> r{ data, {} };
		const int err = sennit_dag_run(d_, &r, &o, o.deadline);

		if (err == -detail::caught::threw)
			r.problem.rethrow();
		if (o.error)
			*o.error = detail::code_of(err);
		else
			detail::check(err, "dag");
	}

	nodes       nodes_;
	sennit_dag *d_ = nullptr;
};

} // namespace sennit

#endif
