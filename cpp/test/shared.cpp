/* SPDX-License-Identifier: Apache-2.0 */
/* shared.cpp - handles that tasks capture by value. */
#include "world.hpp"

#include <mutex>

namespace
{

class shared_handles : public world
{
};
ON_WORKERS(shared_handles);

TEST_P(shared_handles, a_task_keeps_what_it_captured)
{
	sennit::shared<sennit::wait_group> ended(1u);

	{
		sennit::shared<sennit::event> go(sennit::event_mode::manual);

		sennit::schedule([go, ended] {
			go->wait();
			EXPECT_TRUE(go->is_set());
			ended->done();
		});
		sennit::schedule([go] { go->set(); });
	}
	ended->wait();
}

TEST_P(shared_handles, arguments_reach_the_object)
{
	sennit::shared<sennit::event> set(sennit::event_mode::automatic, true);
	sennit::shared<sennit::semaphore> three(3u);
	sennit::shared<sennit::event>     plain;

	EXPECT_TRUE(set->try_wait());
	EXPECT_FALSE(set->try_wait());
	EXPECT_EQ(three->count(), 3u);
	EXPECT_FALSE(plain->is_set());
}

TEST_P(shared_handles, a_lock_and_its_condition_are_shared)
{
	sennit::shared<sennit::mutex>              lock;
	sennit::shared<sennit::condition_variable> changed;
	sennit::shared<sennit::wait_group>         ended(4u);
	auto value = std::make_shared<int>(0);

	for (int i = 0; i < 4; i++)
		sennit::schedule([=] {
			{
				std::unique_lock<sennit::mutex> held(*lock);

				changed->wait(held,
					      [&] { return *value == i; });
				++*value;
			}
			changed->notify_all();
			ended->done();
		});
	ended->wait();
	EXPECT_EQ(*value, 4);
}

/* Each task frees its captures when it has run. The last handle may be that of
 * the signaller or of the waiter. */
TEST_P(shared_handles, the_last_copy_may_be_anybodys)
{
	sennit::wait_group ended(2000);

	for (int i = 0; i < 1000; i++) {
		sennit::shared<sennit::event> e;

		sennit::schedule([e, &ended]() mutable {
			e->wait();
			e = sennit::shared<sennit::event>();
			ended.done();
		});
		sennit::schedule([e, &ended] {
			e->set();
			ended.done();
		});
	}
	ended.wait();
}

class shared_handle : public alone
{
};

TEST_F(shared_handle, copies_are_references_to_one_object)
{
	const sennit::shared<sennit::event> a;
	sennit::shared<sennit::event>       b(a), c;

	EXPECT_TRUE(a == b);
	EXPECT_TRUE(a != c);
	c = a;
	EXPECT_TRUE(a == c);
	EXPECT_EQ(a.get(), c.get());
	a->set();
	EXPECT_TRUE((*c).is_set());
}

TEST_F(shared_handle, moving_leaves_none_behind)
{
	sennit::shared<sennit::semaphore> a(1u);
	sennit::semaphore *const          object = a.get();
	sennit::shared<sennit::semaphore> b(std::move(a));

	EXPECT_FALSE(a);
	EXPECT_TRUE(b);
	EXPECT_EQ(b.get(), object);
	a = std::move(b);
	EXPECT_EQ(a.get(), object);
	EXPECT_FALSE(b);
	sennit::shared<sennit::semaphore> &same = b;

	b = same; /* copying an empty handle works, too */
	a.swap(b);
	EXPECT_TRUE(b->try_acquire());
}

TEST_F(shared_handle, c_code_may_keep_the_object)
{
	sennit_event *kept;

	{
		sennit::shared<sennit::event> e(sennit::event_mode::manual);

		kept = e->native_handle();
		sennit_shared_retain(kept);
		e->set();
	}
	EXPECT_TRUE(sennit_event_is_set(kept));
	sennit_shared_release(kept);
}

} // namespace
