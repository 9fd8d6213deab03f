/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.cpp - blocking calls pass results and exceptions to the caller. */
#include "world.hpp"

namespace
{

class blocking_calls : public world
{
};
ON_WORKERS(blocking_calls);

TEST_P(blocking_calls, return_what_the_function_returns)
{
	in_each_place([] {
		int  number = 1;
		auto text = sennit::blocking_call(
			[](std::unique_ptr<int> p, int &n) {
				n = *p;
				return std::to_string(*p);
			},
			std::make_unique<int>(17), number);

		EXPECT_EQ(text, "17");
		EXPECT_EQ(number, 17);
		int &same = sennit::blocking_call(
			[&]() -> int & { return number; });
		EXPECT_EQ(&same, &number);
		sennit::blocking_call([&] { number = 3; });
		EXPECT_EQ(number, 3);
	});
}

TEST_P(blocking_calls, throw_what_the_function_throws)
{
	in_each_place([] {
		EXPECT_THROW(sennit::blocking_call(
				     [] { throw std::string("as it was"); }),
			     std::string);
		EXPECT_THROW(sennit::blocking_call([]() -> int {
				     throw std::runtime_error("as it was");
			     }),
			     std::runtime_error);
	});
}

TEST_P(blocking_calls, from_fibers_leave_the_worker)
{
	const auto    me = std::this_thread::get_id();
	sennit::event ran;

	sennit::schedule_here([&] {
		EXPECT_EQ(std::this_thread::get_id(), me);
		EXPECT_NE(sennit::blocking_call(std::this_thread::get_id), me);
		EXPECT_EQ(std::this_thread::get_id(), me);
		ran.set();
	});
	ran.wait();
}

} // namespace
