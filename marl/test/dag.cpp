/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/dag.h"
#include "marl/event.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <string>
#include <vector>

namespace
{

using marl::DAG;

struct Notes {
	marl::mutex lock;
	std::string order;

	void add(char c)
	{
		marl::lock held(lock);

		order += c;
	}
	/* Whether a was recorded before b, and each of them once. */
	bool has(char a, char b) const
	{
		size_t at = order.find(a), then = order.find(b);

		return at != order.npos && then != order.npos && at < then &&
		       at == order.rfind(a) && then == order.rfind(b);
	}
};

class DagOn : public World
{
};
ON_WORKERS(DagOn);

TEST_P(DagOn, runs_a_chain_in_its_order)
{
	DAG<Notes &>::Builder builder(&memory);

	builder.root()
		.then([](Notes &n) { n.add('A'); })
		.then([](Notes &n) { n.add('B'); })
		.then([](Notes &n) { n.add('C'); });

	auto  dag = builder.build();
	Notes notes;

	dag->run(notes, &memory);
	EXPECT_EQ(notes.order, "ABC");
}

TEST_P(DagOn, runs_without_data)
{
	DAG<>::Builder builder(&memory);
	std::string    order;

	builder.root().then([&] { order += 'A'; }).then([&] { order += 'B'; });
	builder.build()->run(&memory);
	EXPECT_EQ(order, "AB");
}

TEST_P(DagOn, runs_again_with_other_data)
{
	DAG<Notes &>::Builder builder;

	builder.root().then([](Notes &n) { n.add('A'); }).then([](Notes &n) {
		n.add('B');
	});

	auto dag = builder.build();

	for (int i = 0; i < 10; ++i) {
		Notes notes;

		dag->run(notes);
		EXPECT_EQ(notes.order, "AB");
	}
}

TEST_P(DagOn, runs_several_times_at_once)
{
	DAG<std::atomic<int> &>::Builder builder;
	auto count = [](std::atomic<int> &n) { n++; };
	auto a = builder.root().then(count);
	auto b = builder.root().then(count);

	builder.node(count, { a, b });

	std::shared_ptr<DAG<std::atomic<int> &>> dag = builder.build();
	marl::WaitGroup                          left(20);

	for (int i = 0; i < 20; ++i)
		marl::schedule([=] {
			std::atomic<int> n{ 0 };

			dag->run(n);
			EXPECT_EQ(n, 3);
			left.done();
		});
	left.wait();
}

TEST_P(DagOn, gives_each_node_a_copy_of_data_that_is_no_reference)
{
	DAG<int>::Builder builder;
	std::atomic<int>  sum{ 0 };
	auto              add = [&](int n) { sum += n++; };

	builder.root().then(add).then(add);

	auto dag = builder.build();
	int  data = 7;

	dag->run(data);
	EXPECT_EQ(sum, 14);
	EXPECT_EQ(data, 7);
}

TEST_P(DagOn, fans_out_from_its_root)
{
	DAG<Notes &>::Builder builder;
	Notes                 notes;

	for (char c = 'a'; c <= 'z'; ++c)
		builder.root().then([c](Notes &n) { n.add(c); });
	builder.build()->run(notes);
	EXPECT_EQ(notes.order.size(), 26u);
	for (char c = 'a'; c <= 'z'; ++c)
		EXPECT_NE(notes.order.find(c), notes.order.npos);
}

TEST_P(DagOn, runs_a_node_after_all_that_it_depends_on)
{
	DAG<Notes &>::Builder builder;
	auto add = [](char c) { return [c](Notes &n) { n.add(c); }; };
	auto a = builder.root().then(add('a'));
	auto b = a.then(add('b'));
	auto c = a.then(add('c'));
	auto d = builder.root().then(add('d'));
	auto e = builder.node(add('e'), { b, c, d });
	auto f = builder.node(add('f'));

	builder.addDependency(e, f);
	builder.addDependency(a, f);

	auto dag = builder.build();

	for (int i = 0; i < 20; ++i) {
		Notes notes;

		dag->run(notes);
		EXPECT_EQ(notes.order.size(), 6u);
		EXPECT_TRUE(notes.has('a', 'b')) << notes.order;
		EXPECT_TRUE(notes.has('a', 'c')) << notes.order;
		EXPECT_TRUE(notes.has('b', 'e')) << notes.order;
		EXPECT_TRUE(notes.has('c', 'e')) << notes.order;
		EXPECT_TRUE(notes.has('d', 'e')) << notes.order;
		EXPECT_TRUE(notes.has('e', 'f')) << notes.order;
	}
}

TEST_P(DagOn, never_runs_what_does_not_depend_on_its_root)
{
	DAG<Notes &>::Builder builder;
	auto  loose = builder.node([](Notes &n) { n.add('x'); });
	Notes notes;

	loose.then([](Notes &n) { n.add('y'); });
	builder.root().then([](Notes &n) { n.add('a'); });
	builder.build()->run(notes);
	EXPECT_EQ(notes.order, "a");
}

TEST_P(DagOn, of_nothing_but_a_root_runs)
{
	DAG<>::Builder().build()->run();
}

TEST_P(DagOn, runs_a_chain_longer_than_any_stack)
{
	DAG<int &>::Builder builder;
	auto                last = builder.root();
	int                 n = 0;

	for (int i = 0; i < 20000; ++i)
		last = last.then([](int &count) { count++; });

	auto            dag = builder.build();
	marl::WaitGroup left(1);

	marl::schedule([&, left] {
		dag->run(n);
		left.done();
	});
	left.wait();
	EXPECT_EQ(n, 20000);
}

TEST_P(DagOn, lets_nodes_wait)
{
	DAG<>::Builder builder;
	marl::Event    first, second;

	builder.root().then([=] {
		first.wait();
		second.signal();
	});
	builder.root().then([=] {
		first.signal();
		second.wait();
	});
	builder.build()->run();
}

} // namespace
