/* SPDX-License-Identifier: Apache-2.0 */
/* destroyed_first.cpp - whatever starts a function: once its result can be
 * seen, the function, its captures and its parameters are destroyed. Otherwise
 * a reader of the result could free what their destructors still use.
 *
 * The table has all calls that start something.
 */
#include "probe.hpp"

#include "marl/blockingcall.h"
#include "marl/dag.h"
#include "marl/parallelize.h"
#include "sennit/cpp/dag.hpp"
#include "sennit/cpp/domain.hpp"
#include "sennit/cpp/weak.hpp"

namespace
{

struct way {
	const char *name;
	void (*go)(); /* returns when the result can be seen */
};

const way ways[] = {
	{ "schedule",
	  [] {
		  to_its_end([](sennit::scheduler &s) {
			  s.schedule(work(), probe());
			  EXPECT_FALSE(s.try_schedule(work(), probe()));
		  });
	  } },
	{ "schedule, from a task",
	  [] {
		  to_its_end([](sennit::scheduler &s) {
			  s.run([] {
				  sennit::schedule(work(), probe());
				  sennit::schedule_here(work(), probe());
				  sennit::schedule_background(work(), probe());
				  EXPECT_FALSE(sennit::try_schedule(work()));
			  });
		  });
	  } },
	{ "schedule_here, until the thread unbinds",
	  [] {
		  std::thread t([] {
			  sennit::scheduler own(sennit::config().with_workers(
				  SENNIT_WORKERS_NONE));
			  {
				  const sennit::binding b(own);

				  sennit::schedule_here(work(), probe());
			  }
			  EXPECT_EQ(alive, 0);
			  own.shutdown();
		  });
		  t.join();
	  } },
	{ "scheduler::run",
	  [] {
		  to_its_end([](sennit::scheduler &s) {
			  EXPECT_EQ(s.run(work()), 1);
			  EXPECT_EQ(alive, 0);
			  catching([&] { s.run(failing()); });
			  EXPECT_EQ(alive, 0);
		  });
	  } },
	{ "domain::schedule",
	  [] {
		  to_its_end([](sennit::scheduler &s) {
			  sennit::event  ended;
			  sennit::domain d(s, [&] { ended.set(); });

			  d.schedule(work(), probe());
			  EXPECT_FALSE(d.try_schedule(work(), probe()));
			  d = sennit::domain();
			  ended.wait();
			  EXPECT_EQ(alive, 0);
		  });
	  } },
	{ "calls at an end",
	  [] {
		  to_its_end([](sennit::scheduler &s) {
			  sennit::domain d(s, work());

			  sennit::weak_scheduler(s).on_end(work());
		  });
	  } },
	{ "wait_group::spawn",
	  [] {
		  sennit::wait_group g;

		  g.spawn(work(), probe());
		  g.spawn(work());
		  g.wait();
	  } },
	{ "wait_group::share, named first",
	  [] {
		  sennit::wait_group g;

		  sennit::schedule([share = sennit::wait_group::share(g),
				    p = probe()] {});
		  g.wait();
	  } },
	{ "group",
	  [] {
		  sennit::group g;

		  g.spawn(member{ 0 }, probe());
		  g.spawn(member{ 0 });
		  g.wait();
	  } },
	{ "group, with an error",
	  [] {
		  sennit::group g;

		  g.spawn(member{ -EIO }, probe());
		  EXPECT_TRUE(g.wait(std::nothrow));
	  } },
	{ "group, with an exception",
	  [] {
		  sennit::group g;

		  g.spawn(failing(), probe());
		  catching([&] { g.wait(); });
	  } },
	{ "group, cancelled before",
	  [] {
		  sennit::group g;

		  g.cancel();
		  EXPECT_FALSE(g.spawn(member{ 0 }, probe()));
		  EXPECT_TRUE(g.wait(std::nothrow));
	  } },
	{ "async", [] { EXPECT_EQ(sennit::async(work(), probe()).get(), 1); } },
	{ "async, of nothing",
	  [] {
		  sennit::async([p = probe()](const probe &) {}, probe()).get();
	  } },
	{ "async, of a reference",
	  [] {
		  static int n;

		  EXPECT_EQ(&sennit::async([p = probe()]() -> int & {
				     return n;
			     }).get(),
			    &n);
	  } },
	{ "async, with an exception",
	  [] { catching([] { sennit::async(failing(), probe()).get(); }); } },
	{ "async, of a probe",
	  [] {
		  const probe result = sennit::async([p = probe()] {
					       return probe();
				       }).get();

		  EXPECT_EQ(alive, 1);
	  } },
	{ "async, shared",
	  [] {
		  const auto f = sennit::async(work(), probe()).share();

		  f.wait();
		  EXPECT_EQ(alive, 0);
	  } },
	{ "then",
	  [] {
		  auto f = sennit::async(work(), probe());

		  EXPECT_EQ(
			  std::move(f)
				  .then([p = probe()](int n) { return n + 1; })
				  .get(),
			  2);
	  } },
	{ "then, of a future that is ready",
	  [] {
		  auto f = sennit::async([] { return probe(); });

		  f.wait();
		  EXPECT_EQ(std::move(f).then(work()).get(), 1);
	  } },
	{ "then, with a probe as the value",
	  [] {
		  sennit::promise<probe> first;
		  auto f = first.get_future().then([](const probe &) {});

		  first.set_value(probe());
		  f.wait();
		  EXPECT_EQ(alive, 0);
	  } },
	{ "then, after an error",
	  [] {
		  auto f = sennit::async(failing()).then(work()).then(work());

		  catching([&] { f.get(); });
	  } },
	{ "then, with an exception",
	  [] {
		  auto f = sennit::async(work()).then(failing());

		  catching([&] { f.get(); });
	  } },
	{ "then, elsewhere",
	  [] {
		  to_its_end([](sennit::scheduler &s) {
			  auto f = sennit::async(work()).then(s, work());

			  EXPECT_EQ(f.get(), 1);
			  EXPECT_EQ(alive, 0);
		  });
	  } },
	{ "a promise that is broken by its task",
	  [] {
		  sennit::promise<int> first;
		  auto                 f = first.get_future().then(work());

		  sennit::schedule([first = std::move(first)] {});
		  catching([&] { f.get(); });
	  } },
#if SENNIT_CPP_COROUTINES
	{ "a coroutine that does not wait",
	  [] { EXPECT_EQ(at_once(probe()).get(), 1); } },
	{ "a coroutine that awaits a future",
	  [] {
		  auto f = after(sennit::async(work()), probe());

		  f.wait();
		  EXPECT_EQ(alive, 1); /* its result */
		  f.get();
		  EXPECT_EQ(alive, 0);
	  } },
	{ "a coroutine that awaits an event",
	  [] {
		  sennit::event e;
		  auto          f = after(e, probe());

		  e.set();
		  f.get();
	  } },
	{ "a coroutine that throws",
	  [] {
		  sennit::event e;
		  auto          f = failing_after(e, probe());

		  e.set();
		  catching([&] { f.get(); });
	  } },
	{ "a coroutine that receives",
	  [] {
		  sennit::channel<probe> c;
		  auto                   f = receiving(c, probe());

		  EXPECT_TRUE(c.send(probe()));
		  f.get();
	  } },
#endif
	{ "parallel_for", [] { sennit::parallel_for(0, 100, member{ 0 }); } },
	{ "parallel_reduce",
	  [] {
		  struct sum {
			  int   n;
			  probe p{};
		  };

		  const int n =
			  sennit::parallel_reduce(
				  0, 100, std::make_shared<sum>(),
				  [p = probe()](std::shared_ptr<sum> &s, int) {
					  s = std::make_shared<sum>(
						  sum{ s->n + 1 });
				  },
				  [p = probe()](std::shared_ptr<sum> &a,
						std::shared_ptr<sum> &b) {
					  a = std::make_shared<sum>(
						  sum{ a->n + b->n });
				  })
				  ->n;

		  EXPECT_EQ(n, 100);
	  } },
	{ "parallel_inclusive_scan",
	  [] {
		  std::vector<int> v(100, 1);

		  sennit::parallel_inclusive_scan(
			  v.begin(), v.end(), v.begin(),
			  [p = probe()](int a, int b) { return a + b; });
		  EXPECT_EQ(v.back(), 100);
	  } },
	{ "parallel_sort",
	  [] {
		  std::vector<int> v{ 3, 1, 2 };

		  sennit::parallel_sort(
			  v, [p = probe()](int a, int b) { return a < b; });
		  EXPECT_EQ(v[0], 1);
	  } },
	{ "blocking_call",
	  [] {
		  EXPECT_EQ(sennit::blocking_call(work(), probe()), 1);
		  EXPECT_EQ(alive, 0);
		  catching([] { sennit::blocking_call(failing(), probe()); });
	  } },
	{ "once::call",
	  [] {
		  sennit::once o;

		  o.call(work(), probe());
	  } },
	{ "dag",
	  [] {
		  sennit::dag_builder<probe> b;
		  probe                      data;
		  auto first = b.add([](const probe &) {});

		  for (int i = 0; i < 3; i++)
			  b.order(first, b.add([](probe) {}));
		  auto steps = b.build();

		  steps.run(data);
		  EXPECT_EQ(alive, 1); /* data itself */
	  } },
	{ "ticket::on_call",
	  [] {
		  sennit::ticket_queue q;
		  sennit::ticket       first(q);

		  to_its_end([&](sennit::scheduler &s) {
			  s.run([&] {
				  first.on_call(
					  [&, p = probe()] { first.done(); });
			  });
		  });
	  } },
	{ "marl::schedule",
	  [] {
		  std::thread t([] {
			  marl::Scheduler s(marl::Scheduler::Config()
						    .setWorkerThreadCount(1));

			  s.bind();
			  marl::schedule([p = probe()] {});
			  marl::schedule([p = probe()](const probe &) {},
					 probe());
			  s.enqueue(marl::Task([p = probe()] {}));
			  s.unbind();
		  });
		  t.join();
	  } },
	{ "marl::parallelize",
	  [] {
		  on_marl([] {
			  marl::parallelize([p = probe()] {}, [p = probe()] {},
					    [p = probe()] {});
			  EXPECT_EQ(alive, 0);
		  });
	  } },
	{ "marl::blocking_call",
	  [] {
		  on_marl([] {
			  EXPECT_EQ(marl::blocking_call(work(), probe()), 1);
			  EXPECT_EQ(alive, 0);
		  });
	  } },
	{ "marl::DAG",
	  [] {
		  on_marl([] {
			  marl::DAG<probe>::Builder b;
			  probe                     data;

			  for (int i = 0; i < 3; i++)
				  b.root().then([](probe) {});
			  b.build()->run(data);
			  EXPECT_EQ(alive, 1);
		  });
	  } },
};

class what_a_task_holds : public world
{
};
ON_WORKERS(what_a_task_holds);

/* As a task, so that on one worker the waiting function and the destructors
 * take turns; and on a bound thread. */
TEST_P(what_a_task_holds, is_destroyed_before_its_result_is_seen)
{
	for (const way &w : ways) {
		for (int i = 0; i < 20; i++) {
			int left;

			w.go();
			left = alive.exchange(0);
			EXPECT_EQ(left, 0) << w.name << ", on a thread";
			s.run([&] {
				w.go();
				left = alive.exchange(0);
			});
			EXPECT_EQ(left, 0) << w.name << ", in a task";
		}
	}
}

} // namespace
