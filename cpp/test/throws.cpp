/* SPDX-License-Identifier: Apache-2.0 */
/* throws.cpp - every call that takes a function, with one that throws: the
 * exception arrives where it can be caught, once, and what the call used can be
 * used again; or the program ends with one line.
 */
#include "world.hpp"
#include "sennit/cpp/dag.hpp"
#include "sennit/cpp/domain.hpp"
#include "sennit/cpp/weak.hpp"

namespace
{

std::atomic<int> alive{ 0 };

struct thrown {
	thrown()
	{
		++alive;
	}
	thrown(const thrown &)
	{
		++alive;
	}
	~thrown()
	{
		--alive;
	}
};

/* A function of any arguments that throws. It holds memory of its own. */
struct thrower {
	std::shared_ptr<int> held = std::make_shared<int>(1);

	template <typename... Args> int operator()(Args &&...) const
	{
		throw thrown();
	}
};

template <typename R> struct thrower_of {
	thrower throws;

	template <typename... Args> R operator()(Args &&...) const
	{
		throws();
		std::abort();
	}
};
using nothing = thrower_of<void>;
using truth = thrower_of<bool>;

/* --- the exception arrives ------------------------------------------------ */

struct row {
	const char *name;
	void (*call)(); /* throws what the function throws */
};

template <typename Case> void select_of(Case c)
{
	static_cast<void>(sennit::select(c));
}

/* The first call to throw leaves all to the second. */
void call_once_again(sennit::once &o)
{
	int ran = 0;

	EXPECT_FALSE(o.is_done());
	o.call([&] { ran++; });
	o.call(nothing());
	EXPECT_EQ(ran, 1);
}

const row rows[] = {
	{ "once::call",
	  [] {
		  sennit::once o;

		  try {
			  o.call(nothing());
		  } catch (const thrown &) {
			  call_once_again(o);
			  throw;
		  }
	  } },
	{ "scheduler::run",
	  [] {
		  const sennit::scheduler other(
			  sennit::config().with_workers(1));

		  other.run(nothing());
	  } },
	{ "run", [] { sennit::run(nothing()); } },
	{ "blocking_call", [] { sennit::blocking_call(nothing()); } },
	{ "blocking_call of a value",
	  [] { static_cast<void>(sennit::blocking_call(thrower(), 1)); } },
	{ "async", [] { sennit::async(nothing()).get(); } },
	{ "async, shared",
	  [] {
		  auto f = sennit::async(thrower()).share();

		  EXPECT_THROW(f.get(), thrown);
		  static_cast<void>(f.get());
	  } },
	{ "future::then",
	  [] {
		  sennit::promise<int> p;
		  auto                 f = p.get_future().then(thrower());

		  p.set_value(1);
		  static_cast<void>(f.get());
	  } },
	{ "future::then, set before",
	  [] {
		  sennit::promise<void> p;
		  auto                  f = p.get_future();

		  p.set_value();
		  std::move(f).then(nothing()).get();
	  } },
	{ "future::then, in an unbound setter",
	  [] {
		  sennit::promise<int> p;
		  auto                 f = p.get_future().then(thrower()).then(
                          [](int) { ADD_FAILURE(); });
		  std::thread t([&] { p.set_value(1); });

		  t.join();
		  f.get();
	  } },
	{ "promise::set_by",
	  [] {
		  sennit::promise<int> p;
		  auto                 f = p.get_future();

		  p.set_by(thrower());
		  static_cast<void>(f.get());
	  } },
	{ "group::spawn",
	  [] {
		  sennit::group g;

		  for (int i = 0; i < 10; i++)
			  g.spawn(nothing());
		  g.wait();
	  } },
	{ "parallel_for", [] { sennit::parallel_for(0, 1000, nothing()); } },
	{ "parallel_for of errors",
	  [] { sennit::parallel_for(0, 1000, thrower()); } },
	{ "parallel_for_each",
	  [] {
		  std::vector<int> v(1000, 1);

		  sennit::parallel_for_each(v, nothing());
	  } },
	{ "parallel_reduce",
	  [] {
		  std::vector<int> v(1000, 1);

		  sennit::parallel_reduce(v.begin(), v.end(), 0, thrower());
	  } },
	{ "parallel_inclusive_scan",
	  [] {
		  std::vector<int> v(1000, 1), w(1000);

		  sennit::parallel_inclusive_scan(v.begin(), v.end(), w.begin(),
						  thrower());
	  } },
	{ "parallel_exclusive_scan",
	  [] {
		  std::vector<int> v(1000, 1), w(1000);

		  sennit::parallel_exclusive_scan(v.begin(), v.end(), w.begin(),
						  0, thrower());
	  } },
	{ "parallel_sort",
	  [] {
		  std::vector<int> v(10000, 1);

		  sennit::parallel_sort(v, truth());
	  } },
	{ "parallel_sort of objects",
	  [] {
		  std::vector<std::string> v(10000, "same");

		  try {
			  sennit::parallel_sort(v, truth());
		  } catch (const thrown &) {
			  EXPECT_EQ(v, std::vector<std::string>(10000, "same"));
			  throw;
		  }
	  } },
	{ "dag",
	  [] {
		  sennit::dag_builder<> b;
		  const auto            first = b.add(nothing());

		  b.order(first, b.add([] { ADD_FAILURE(); }));
		  b.build().run();
	  } },
	{ "pool",
	  [] {
		  sennit::pool<std::string> p(
			  1, [calls = 0]() mutable -> std::string {
				  if (!calls++)
					  throw thrown();
				  return "made";
			  });

		  try {
			  static_cast<void>(p.borrow());
		  } catch (const thrown &) {
			  EXPECT_EQ(*p.borrow(), "made");
			  throw;
		  }
	  } },
	{ "condition_variable",
	  [] {
		  sennit::mutex                   m;
		  sennit::condition_variable      c;
		  std::unique_lock<sennit::mutex> lock(m);

		  EXPECT_THROW(c.wait(lock, truth()), thrown);
		  EXPECT_THROW(c.wait_for(lock, 1h, truth()), thrown);
		  EXPECT_TRUE(lock.owns_lock());
		  c.wait_until(lock, sennit::never, truth());
	  } },
	{ "select, a value",
	  [] {
		  sennit::channel<std::string> c(1);

		  c.send("value");
		  select_of(sennit::on_receive(c, nothing()));
	  } },
	{ "select, room",
	  [] {
		  sennit::channel<std::string> c(1);
		  std::string                  s = "value";

		  try {
			  select_of(sennit::on_send(c, s, nothing()));
		  } catch (const thrown &) {
			  EXPECT_EQ(c.receive().value(), "value");
			  throw;
		  }
	  } },
	{ "select, an event",
	  [] {
		  sennit::event e;

		  e.set();
		  select_of(sennit::on_event(e, nothing()));
	  } },
	{ "select, a future",
	  [] {
		  const auto f = sennit::async([] { return 1; });

		  select_of(sennit::on_ready(f, nothing()));
	  } },
	{ "select, a time",
	  [] {
		  select_of(sennit::on_time(std::chrono::steady_clock::now(),
					    nothing()));
	  } },
	{ "fiber_local",
	  [] {
		  struct local {
			  local()
			  {
				  throw thrown();
			  }
		  };
		  static sennit::fiber_local<local> l;

		  EXPECT_THROW(l.get(), thrown);
		  EXPECT_FALSE(l.find());
		  l.get();
	  } },
};

/* The last reference to an exception may be that of the thread that threw
 * it. */
class throws : public world
{
public:
	void TearDown() override
	{
		world::TearDown();
		EXPECT_EQ(alive, 0);
	}
};
ON_WORKERS(throws);

/* Another exception is being handled meanwhile. */
void expect_throw(const row &r)
{
	try {
		throw 1;
	} catch (int) {
		EXPECT_THROW(r.call(), thrown) << r.name;
	}
	EXPECT_THROW(r.call(), thrown) << r.name;
}

TEST_P(throws, the_exception_of_every_function_arrives)
{
	for (const row &r : rows)
		expect_throw(r);
	for (const row &r : rows)
		s.run([&] { EXPECT_THROW(r.call(), thrown) << r.name; });
}

/* --- continuations and once on several threads ---------------------------- */

/* Each throws, and all are called, in whatever thread sets the future. */
TEST_P(throws, every_continuation_runs_although_others_throw)
{
	in_each_place([] {
		sennit::promise<int>             p[20];
		std::vector<sennit::future<int>> f;
		sennit::promise<int>             first;
		auto all = first.get_future().share();

		for (auto &each : p)
			f.push_back(each.get_future().then(thrower()).then(
				thrower()));
		for (auto &each : p)
			each.set_value(1);
		first.set_by(thrower());
		for (auto &each : f)
			EXPECT_THROW(each.get(), thrown);
		EXPECT_THROW(all.get(), thrown);
	});
}

TEST_P(throws, the_next_caller_of_a_once_runs_its_own)
{
	sennit::once     o;
	sennit::group    g;
	std::atomic<int> thrown_out{ 0 }, ran{ 0 };

	for (int i = 0; i < 20; i++)
		g.spawn([&, i] {
			try {
				o.call([&, i] {
					sennit::this_fiber::yield();
					if (i != 19)
						throw thrown();
					++ran;
				});
			} catch (const thrown &) {
				++thrown_out;
			}
		});
	g.wait();
	EXPECT_EQ(ran, 1);
	EXPECT_LE(thrown_out, 19);
	EXPECT_TRUE(o.is_done());
}

/* --- the program ends ----------------------------------------------------- */

/* Make a call in a scheduler of this process, a child of the test's. A waiter
 * for the task must not see the exception. */
template <typename F> void let_out(F f)
{
	sennit::scheduler s(sennit::config().with_workers(SENNIT_WORKERS_NONE));
	std::optional<sennit::binding> bound;

	bound.emplace(s);
	try {
		f(s);
		sennit::this_fiber::sleep_for(1ms);
		bound.reset();
		s.shutdown();
	} catch (const thrown &) {
		std::fprintf(stderr, "caught by a caller\n");
		std::abort();
	}
}

/* Where nothing stops the search for a handler (arch/arch.h), no line comes. */
#ifdef __arm__
#define A_LINE ""
#else
#define A_LINE "sennit: an exception leaves a "
#endif

#define EXPECT_END(statement)                                             \
	EXPECT_DEATH(let_out([&]([[maybe_unused]] sennit::scheduler &s) { \
			     statement;                                   \
		     }),                                                  \
		     A_LINE)

class lets_out : public alone
{
};

TEST_F(lets_out, a_task)
{
	EXPECT_END(sennit::schedule(nothing()));
	EXPECT_END(sennit::schedule_here(nothing()));
	EXPECT_END(sennit::schedule_background(nothing()));
	EXPECT_END(s.schedule(nothing()));
	EXPECT_END(sennit::domain(s).schedule(nothing()));
}

TEST_F(lets_out, a_task_of_a_wait_group_or_a_ticket)
{
	sennit::wait_group   left;
	sennit::ticket_queue q;

	EXPECT_END(left.spawn(nothing()); left.wait());
	EXPECT_END(sennit::ticket t(q); t.on_call(nothing()); left.add(1);
		   left.wait());
}

TEST_F(lets_out, what_is_called_at_an_end)
{
	EXPECT_END(sennit::domain(s, nothing()));
	EXPECT_END(sennit::weak_scheduler(s).on_end(nothing()));
}

} // namespace
