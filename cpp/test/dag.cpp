/* SPDX-License-Identifier: Apache-2.0 */
/* dag.cpp - graphs of lambdas: in order, repeatable, and the run rethrows what
 * nodes throw. */
#include "world.hpp"
#include "sennit/cpp/dag.hpp"

namespace
{

class dags : public world
{
};
ON_WORKERS(dags);

struct job {
	int              loaded = 0;
	std::atomic<int> parts{ 0 };
	int              sum = 0;
};

/* load -> 8 parts -> add */
sennit::dag<job> fan_out_and_in()
{
	sennit::dag_builder<job> b;
	const auto load = b.add([](job &j) { j.loaded = 1; }, "load");
	const auto add = b.add([](job &j) { j.sum = j.parts; }, "add");

	for (int i = 1; i <= 8; i++) {
		const auto part = b.add([i, text = std::to_string(i)](job &j) {
			EXPECT_EQ(j.loaded, 1);
			sennit::this_fiber::yield();
			j.parts += i * std::stoi(text);
		});

		b.order(load, part).order(part, add);
	}
	return b.build();
}

TEST_P(dags, run_nodes_in_order_also_after_their_builder_has_gone)
{
	auto d = fan_out_and_in();

	for (int i = 0; i < 20; i++) {
		job j;

		d.run(j);
		EXPECT_EQ(j.sum, 204);
	}
}

TEST_P(dags, run_many_times_at_once)
{
	auto          d = fan_out_and_in();
	job           jobs[20];
	sennit::group g;

	for (job &j : jobs)
		EXPECT_TRUE(g.spawn([&] { d.run(j); }));
	g.wait();
	for (job &j : jobs)
		EXPECT_EQ(j.sum, 204);
}

TEST_P(dags, need_no_data)
{
	std::vector<int>      order;
	sennit::dag_builder<> b;
	const auto            one = b.add([&] { order.push_back(1); });
	const auto            two = b.add([&] { order.push_back(2); });

	b.order(two, one);

	sennit::dag<> d = b.build(), other;

	EXPECT_FALSE(other);
	other = std::move(d);
	other.run();
	EXPECT_EQ(order, (std::vector<int>{ 2, 1 }));
	b.build_from(one).run();
	EXPECT_EQ(order, (std::vector<int>{ 2, 1, 1 }));
}

TEST_P(dags, name_their_cycles)
{
	sennit::dag_builder<> b;
	const auto            one = b.add([] {}, "one");
	const auto            two = b.add([] {}, "two");

	b.order(one, two).order(two, one);
	try {
		b.build();
		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code().value(), ELOOP);
		EXPECT_NE(std::string(e.what()).find("one -> two -> one"),
			  std::string::npos);
	}
}

TEST_P(dags, throw_what_a_node_has_thrown)
{
	sennit::dag_builder<int> b;
	std::atomic<int>         ran{ 0 };
	const auto               bad = b.add([](int &i) {
                if (i)
                        throw std::to_string(i);
        });
	const auto               after = b.add([&] { ++ran; });
	const auto               beside = b.add([&] {
                sennit::event never_set;

                ++ran;
                never_set.wait(); /* until cancelled */
        });
	const auto               error = b.add([] { return -EXDEV; });

	b.order(bad, after);

	auto            throws = b.build_from(bad);
	auto            returns = b.build_from(error);
	auto            all = b.build();
	std::error_code code;
	int             seven = 7, none = 0;

	EXPECT_THROW(throws.run(seven), std::string);
	EXPECT_EQ(ran, 0);
	throws.run(none);
	EXPECT_EQ(ran, 1);
	EXPECT_THROW(returns.run(none), std::system_error);
	returns.run(none, sennit::dag_options().error_to(code));
	EXPECT_EQ(code.value(), EXDEV);
	EXPECT_ANY_THROW(all.run(seven)); /* whichever was first */
	static_cast<void>(beside);
}

TEST_P(dags, may_keep_going)
{
	sennit::dag_builder<> b;
	std::atomic<int>      ran{ 0 };

	for (int i = 0; i < 10; i++)
		b.add([&] {
			++ran;
			throw 5;
		});
	EXPECT_THROW(b.build().run(sennit::dag_options().keep_going()), int);
	EXPECT_EQ(ran, 10);
}

TEST_P(dags, end_at_their_deadline_and_with_their_group)
{
	sennit::dag_builder<> b;
	sennit::group         g;

	b.add([] {
		sennit::event never_set;

		EXPECT_FALSE(never_set.wait_for(1h));
		return -ETIMEDOUT;
	});

	auto       d = b.build();
	const auto soon = std::chrono::steady_clock::now() + 1ms;

	try {
		d.run(sennit::dag_options().until(soon));
		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code(), std::errc::timed_out);
	}
	EXPECT_TRUE(g.spawn([&] {
		g.cancel();
		EXPECT_THROW(d.run(), sennit::cancelled);
	}));
	EXPECT_THROW(g.wait(), sennit::cancelled);
}

TEST_P(dags, run_elsewhere_in_memory_of_the_callers)
{
	auto d = fan_out_and_in();
	job  j;
	auto memory = std::make_unique<std::max_align_t[]>(
		d.run_size() / sizeof(std::max_align_t) + 1);

	if (!GetParam())
		return;
	std::thread([&] {
		d.run(j, sennit::dag_options().on(s).in_memory(memory.get()));
	}).join();
	EXPECT_EQ(j.sum, 204);
}

} // namespace
