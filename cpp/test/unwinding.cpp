/* SPDX-License-Identifier: Apache-2.0 */
/* unwinding.cpp - fibers wait in destructors while an exception unwinds their
 * stacks, and in catch blocks, and each goes on with its own exception. */
#include "world.hpp"

namespace
{

class unwinding : public world
{
};
ON_WORKERS(unwinding);

/* A fiber that throws its name, and waits on the way to the catch block. */
class thrower
{
public:
	explicit thrower(std::string name) : name_(std::move(name))
	{
		sennit::schedule([this] { run(); });
		on_the_way_.wait();
	}
	void finish()
	{
		go_on_.set();
		ended_.wait();
	}

private:
	struct waits_at_end {
		thrower *t;

		~waits_at_end()
		{
			EXPECT_EQ(std::uncaught_exceptions(), 1);
			t->on_the_way_.set();
			t->go_on_.wait();
			EXPECT_EQ(std::uncaught_exceptions(), 1);
		}
	};

	/* Compiled into the function that catches, the destructor would be a
	 * part of the catch block. */
	[[gnu::noinline]] void go()
	{
		waits_at_end w{ this };

		throw name_;
	}
	void run()
	{
		EXPECT_EQ(std::uncaught_exceptions(), 0);
		try {
			go();
		} catch (const std::string &caught) {
			EXPECT_EQ(caught, name_);
		}
		EXPECT_EQ(std::uncaught_exceptions(), 0);
		ended_.set();
	}

	std::string   name_;
	sennit::event on_the_way_, go_on_, ended_;
};

TEST_P(unwinding, ends_in_any_order)
{
	thrower first("first");
	thrower second("second");
	thrower third("third");

	first.finish();
	third.finish();
	second.finish();
}

/* Others throw, and fibers change workers, in each wait. */
template <typename T>
[[noreturn]] void throw_through(int depth, const T &value);

struct yields_at_end {
	int depth;

	~yields_at_end()
	{
		sennit::this_fiber::yield();
		if (!depth)
			return;
		try {
			throw_through(depth - 1, depth);
		} catch (int caught) {
			sennit::this_fiber::sleep_for(10us);
			EXPECT_EQ(caught, depth);
		}
	}
};

template <typename T>
[[gnu::noinline]] void throw_through(int depth, const T &value)
{
	yields_at_end y{ depth };

	throw value;
}

TEST_P(unwinding, keeps_exceptions_of_many_fibers_apart)
{
	sennit::wait_group left(50);

	for (int i = 0; i < 50; i++)
		sennit::schedule([i, &left] {
			try {
				throw_through(2, std::to_string(i));
			} catch (const std::string &caught) {
				sennit::this_fiber::yield();
				EXPECT_EQ(caught, std::to_string(i));
			}
			EXPECT_EQ(std::uncaught_exceptions(), 0);
			left.done();
		});
	left.wait();
}

[[gnu::noinline]] void catch_and_rethrow(int i)
{
	try {
		throw i;
	} catch (int) {
		yields_at_end y{ 1 };

		sennit::this_fiber::yield();
		throw;
	}
}

TEST_P(unwinding, rethrows_what_the_fiber_handles)
{
	sennit::wait_group left(50);

	for (int i = 0; i < 50; i++)
		sennit::schedule([i, &left] {
			try {
				catch_and_rethrow(i);
			} catch (int caught) {
				EXPECT_EQ(caught, i);
			}
			left.done();
		});
	left.wait();
}

} // namespace
