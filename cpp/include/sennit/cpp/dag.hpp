/* SPDX-License-Identifier: Apache-2.0 */
/* dag.hpp - dag.h with callables for nodes, and with exceptions.
 *
 *	sennit::dag_builder<job> b;
 *	auto load = b.add([](job &j) { j.load(); }, "load");
 *	auto sort = b.add([](job &j) { j.sort(); }, "sort");
 *	b.order(load, sort);
 *	sennit::dag<job> steps = b.build();
 *	steps.run(one);			// any number of times, also at once
 *
 * Runs of dag<> have no data of their own. If a node throws, the nodes after it
 * do not run, and by default no other node that has not begun does.
 */
#ifndef SENNIT_CPP_DAG_HPP
#define SENNIT_CPP_DAG_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/caught.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/dag.h"

#include <memory>
#include <string>
#include <vector>

SENNIT_CPP_BEGIN

template <typename Data> class dag;

namespace detail
{

/* The functions that the runs of a DAG call. The DAG and its builder share
 * them. */
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

/* Whether an F can be a node of a DAG with this Data. */
template <typename Data, typename F> struct node_result {
	static constexpr bool takes_data = std::is_invocable_v<F, Data &>;
	static constexpr bool is_callable = takes_data ||
					    std::is_invocable_v<F>;
	static constexpr bool is_status =
		takes_data ? detail::is_status<result_of<F, Data &>>
			   : detail::is_status<result_of<F>>;
};
template <typename F> struct node_result<void, F> {
	static constexpr bool is_callable = std::is_invocable_v<F>;
	static constexpr bool is_status = detail::is_status<result_of<F>>;
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

/* Options of a run. */
struct dag_options : sennit_dag_options {
	dag_options() noexcept : sennit_dag_options()
	{
		size = sizeof(sennit_dag_options);
	}

	dag_options &until(std::chrono::steady_clock::time_point t) noexcept
	{
		deadline = detail::nanoseconds_of(t.time_since_epoch());
		return *this;
	}
	/* Run on s instead of the bound scheduler. s must exist until the run
	 * has ended. */
	dag_options &on(const sennit::scheduler &s) noexcept
	{
		scheduler = detail::needed(s.get(), "sennit::dag_options::on");
		return *this;
	}
	dag_options &on(const sennit::scheduler &&) = delete;
	/* Set SENNIT_GROUP_KEEP_GOING: an error prevents only the nodes after
	 * it. */
	dag_options &keep_going() noexcept
	{
		flags |= SENNIT_GROUP_KEEP_GOING;
		return *this;
	}
	/* Memory of run_size() bytes, which the run owns until it has ended. */
	dag_options &in_memory(void *bytes) noexcept
	{
		memory = bytes;
		return *this;
	}
	/* Store the error of the run, or 0, in code instead of throwing it.
	 * Exceptions of nodes are still thrown. */
	dag_options &error_to(std::error_code &code) noexcept
	{
		error = &code;
		return *this;
	}

	sennit_time      deadline = SENNIT_NEVER;
	std::error_code *error = nullptr;
};

/* A graph under construction. One thread at a time may use it. */
template <typename Data = void> class dag_builder
{
public:
	/* The number of a node: nodes are numbered from 0 in the order in which
	 * they are added. */
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

	/* Add a node that calls f(data), or f(). f returns nothing, or an int:
	 * 0 or a negative errno value. f is called in place, by several threads
	 * at once if there are several runs. The name is used in the text of a
	 * cycle. */
	template <typename F> node add(F &&f, std::string name = std::string())
	{
		using result = detail::node_result<Data, std::decay_t<F> &>;

		static_assert(result::is_callable && result::is_status,
			      "sennit: a node is a function of the data, or "
			      "without arguments, that returns nothing or an "
			      "int: 0 or a negative errno value");

		using call = detail::dag_call<
			Data,
			std::conditional_t<result::is_callable, std::decay_t<F>,
					   detail::wrong>>;

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

	/* Add an edge: `before` ends before `after` begins. */
	dag_builder &order(node before, node after)
	{
		detail::check(sennit_dag_builder_order(&b_, before, after),
			      "dag_builder");
		return *this;
	}

	/* Build a DAG from the nodes and edges so far. The builder may be
	 * extended and used again. Throws std::system_error with ELOOP if nodes
	 * wait for each other; its what() names them, for example "a -> b ->
	 * a". Throws std::bad_alloc. */
	dag<Data> build() const
	{
		return build_by(
			[this](sennit_dag **d, char *cycle, std::size_t size) {
				return sennit_dag_build(d, &b_, cycle, size);
			});
	}

	/* Build a DAG whose runs begin with `root` and run only the nodes that
	 * can be reached from it. */
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

	std::shared_ptr<nodes> nodes_; /* the addresses of nodes never change */
	sennit_dag_builder     b_;
};

/* A graph that never changes, or none. It must exist until its runs have
 * ended. */
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

	/* Run every node once with this data, and wait until all nodes that
	 * began have ended. Rethrows the exception of the first node that
	 * failed; throws std::system_error if that node returned an error, or
	 * at the deadline; sennit::cancelled if the caller's group is
	 * cancelled; std::bad_alloc if there is no memory, and then no node has
	 * run. To run the DAG without waiting, make this call a member of a
	 * group. */
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

	/* Return the number of bytes of memory that each run takes. */
	std::size_t run_size() const noexcept
	{
		return sennit_dag_run_size(needed("sennit::dag::run_size"));
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

	sennit_dag *needed(const char *call) const noexcept
	{
		return detail::needed(d_, call,
				      "the sennit::dag is empty: made by "
				      "default or moved from");
	}

	void run_with(Data *data, const dag_options &o)
	{
		detail::dag_run<Data> r{ data, {} };
		const int err = sennit_dag_run(needed("sennit::dag::run"), &r,
					       &o, o.deadline);

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

SENNIT_CPP_END

#endif
