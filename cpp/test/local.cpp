/* SPDX-License-Identifier: Apache-2.0 */
/* local.cpp - each task has its own value, which is destroyed with the task. */
#include "world.hpp"

namespace
{

class locals : public world
{
};
ON_WORKERS(locals);

struct counter {
	counter()
	{
		++alive;
	}
	~counter()
	{
		--alive;
	}
	int                            n = 0;
	static inline std::atomic<int> alive;
};

sennit::fiber_local<counter> mine;

TEST_P(locals, are_apart_across_waits)
{
	sennit::wait_group done(8);
	const int          before = counter::alive;

	for (int i = 1; i <= 8; i++)
		sennit::schedule([&, i] {
			EXPECT_EQ(mine.find(), nullptr);
			mine->n = i;
			sennit::this_fiber::yield();
			EXPECT_EQ((*mine).n, i);
			EXPECT_EQ(mine.find(), &mine.get());
			done.done();
		});
	done.wait();
	EXPECT_EQ(mine.find(), nullptr);
	bound.reset();
	s.shutdown();
	EXPECT_EQ(counter::alive, before);
}

} // namespace
