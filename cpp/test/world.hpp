/* SPDX-License-Identifier: Apache-2.0 */
/* world.hpp - schedulers without workers and with one, two and eight, to which
 * the test's thread is bound.
 *
 *	ON_WORKERS(fixture)	after class fixture : public world
 *
 * Tasks report failures by EXPECT_*, which is safe on any thread. SIGALRM ends
 * a test that hangs.
 */
#ifndef SN_TEST_CPP_WORLD_HPP
#define SN_TEST_CPP_WORLD_HPP

#include "sennit.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

class alone : public testing::Test
{
public:
	void SetUp() override
	{
		alarm(300);
	}
	void TearDown() override
	{
		alarm(0);
	}
};

class world : public testing::WithParamInterface<int>, public alone
{
public:
	/* In the form that a config expects. */
	static std::uint32_t workers()
	{
		return GetParam() ? static_cast<std::uint32_t>(GetParam())
				  : SENNIT_WORKERS_NONE;
	}
	void SetUp() override
	{
		alone::SetUp();
		s = sennit::scheduler(sennit::config().with_workers(workers()));
		bound.emplace(s);
	}
	void TearDown() override
	{
		bound.reset();
		if (s) {
			EXPECT_TRUE(s.shutdown_for(60s));
		}
		alone::TearDown();
	}

	/* Run f on the test's own stack, as a task, and on an unbound
	 * thread. */
	template <typename F> static void in_each_place(F f)
	{
		sennit::event ran;

		f();
		sennit::schedule([&] {
			f();
			ran.set();
		});
		ran.wait();
		ran.clear();

		std::thread t([&] {
			f();
			ran.set();
		});
		ran.wait();
		t.join();
	}

	sennit::scheduler              s;
	std::optional<sennit::binding> bound;
};

#define ON_WORKERS(fixture) \
	INSTANTIATE_TEST_SUITE_P(workers, fixture, testing::Values(0, 1, 2, 8))

#endif
