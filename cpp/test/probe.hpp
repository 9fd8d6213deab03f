/* SPDX-License-Identifier: Apache-2.0 */
/* probe.hpp - objects that count themselves while they exist, functions that
 * hold and take them, and places to start them in.
 */
#ifndef SN_TEST_CPP_PROBE_HPP
#define SN_TEST_CPP_PROBE_HPP

#include "world.hpp"

#include "marl/scheduler.h"

#include <stdexcept>

namespace
{

std::atomic<int> alive{ 0 };

/* Its destructor yields, so that on one worker each fiber that was woken too
 * early runs before it ends. */
class probe
{
public:
	probe() : is_here_(true)
	{
		++alive;
	}
	probe(const probe &other) : is_here_(other.is_here_)
	{
		alive += is_here_;
	}
	probe(probe &&other) noexcept
	    : is_here_(std::exchange(other.is_here_, false))
	{
	}
	probe &operator=(const probe &) = delete;
	~probe()
	{
		if (!is_here_)
			return;
		for (int i = 0; i < 4; i++)
			sennit::this_fiber::yield();
		--alive;
	}

private:
	bool is_here_;
};

/* A callable that holds a probe, and takes some. */
struct work {
	template <typename... Probes> int operator()(Probes...) const
	{
		return 1;
	}
	probe held{};
};

struct failing {
	template <typename... Probes> int operator()(Probes...) const
	{
		throw std::runtime_error("as it should");
	}
	probe held{};
};

/* The same for members of groups, to which a result is an error. */
struct member {
	template <typename... Probes> int operator()(Probes...) const
	{
		return error;
	}
	int   error;
	probe held{};
};

template <typename F> void catching(F f)
{
	try {
		f();
		ADD_FAILURE() << "nothing was thrown";
	} catch (const std::exception &) {
	}
}

/* A scheduler of its own, whose end shows that all tasks have ended. */
template <typename F> void to_its_end(F f)
{
	sennit::scheduler own(sennit::config().with_workers(1));

	f(own);
	own.shutdown();
}

#if SENNIT_CPP_COROUTINES
sennit::future<int> at_once(probe)
{
	const probe local;

	co_return 1;
}

sennit::future<probe> after(sennit::future<int> f, probe)
{
	const probe local;

	co_await std::move(f);
	co_return probe();
}

sennit::future<void> after(sennit::event &e, probe)
{
	const probe local;

	co_await e;
}

sennit::future<int> failing_after(sennit::event &e, probe)
{
	const probe local;

	co_await e;
	throw std::runtime_error("as it should");
}

sennit::future<void> receiving(sennit::channel<probe> &c, probe)
{
	co_await sennit::async_receive(c);
}
#endif

template <typename F> void on_marl(F f)
{
	std::thread t([&f] {
		for (int workers : { 0, 2 }) {
			marl::Scheduler::Config c;
			marl::Scheduler s(c.setWorkerThreadCount(workers));

			s.bind();
			f();
			s.unbind();
		}
	});
	t.join();
}

} // namespace

#endif
