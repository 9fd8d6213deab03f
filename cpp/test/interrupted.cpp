/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.cpp - every wait of a member ends with its group: by
 * sennit::cancelled or sennit::timed_out, and leaves what it waited for as it
 * was. */
#include "world.hpp"
#include "sennit/cpp/dag.hpp"

#include <functional>
#include <stdexcept>

namespace
{

class interrupted : public world
{
};
ON_WORKERS(interrupted);

/* What no wait can get. */
struct withheld {
	sennit::event                      never_set;
	sennit::event                      unset[2];
	sennit::wait_group                 counted{ 1 };
	sennit::barrier                    two{ 2 };
	sennit::semaphore                  none{ 0 };
	sennit::channel<std::string>       nobody;
	sennit::channel<int>               full{ 1 };
	sennit::promise<std::string>       unkept, shared_unkept;
	sennit::future<std::string>        f = unkept.get_future();
	sennit::shared_future<std::string> shared =
		shared_unkept.get_future().share();
	sennit::pool<int>          pool{ 1 };
	sennit::pool<int>::loan    lent = pool.borrow();
	sennit::ticket_queue       queue;
	sennit::ticket             first{ queue }, second{ queue };
	sennit::mutex              m;
	sennit::condition_variable c;

	withheld()
	{
		EXPECT_TRUE(full.send(1));
	}

	/* The caller of go holds the lock, also if go throws. */
	void wait_locked(
		const std::function<void(std::unique_lock<sennit::mutex> &)>
			&go)
	{
		std::unique_lock<sennit::mutex> lock(m);

		try {
			go(lock);
		} catch (...) {
			sennit::event looked;

			sennit::schedule([&] {
				EXPECT_FALSE(m.try_lock());
				looked.set();
			});
			EXPECT_TRUE(looked.wait_until(sennit::uncancelled));
			throw;
		}
	}
};

using wait = std::function<void(withheld &)>;

const std::vector<wait> &waits_without_deadline()
{
	static const std::vector<wait> all = {
		[](withheld &w) { w.never_set.wait(); },
		[](withheld &w) { w.none.acquire(); },
		[](withheld &w) { w.none.acquire(3); },
		[](withheld &w) { static_cast<void>(w.nobody.receive()); },
		[](withheld &w) {
			for (const std::string &s : w.nobody)
				ADD_FAILURE() << s;
		},
		[](withheld &w) { w.nobody.send("copied"); },
		[](withheld &w) {
			std::string    text(100, 'x');

			try {
				w.nobody.send(std::move(text));
			} catch (...) {
				EXPECT_EQ(text, std::string(100, 'x'));
				throw;
			}
		},
		[](withheld &w) { w.full.send(2); },
		[](withheld &w) { w.f.wait(); },
		[](withheld &w) {
			try {
				w.f.get();
			} catch (...) {
				EXPECT_TRUE(w.f.valid());
				throw;
			}
		},
		[](withheld &w) { w.shared.get(); },
		[](withheld &w) { sennit::wait_any(w.f, w.shared); },
		[](withheld &w) { sennit::wait_all(w.f, w.shared); },
		[](withheld &w) { sennit::wait_any(w.unset); },
		[](withheld &w) { sennit::wait_all(w.unset); },
		[](withheld &w) { static_cast<void>(w.pool.borrow()); },
		[](withheld &w) { w.second.wait(); },
		[](withheld &w) {
			w.wait_locked([&](auto &lock) { w.c.wait(lock); });
		},
		[](withheld &w) {
			w.wait_locked([&](auto &lock) {
				w.c.wait(lock, [] { return false; });
			});
		},
		[](withheld &w) {
			sennit::select(
				sennit::on_receive(w.nobody, [](auto) {}),
				sennit::on_event(w.never_set, [] {}));
		},
		[](withheld &w) {
			sennit::select(
				sennit::on_ready(w.f, [] {}),
				sennit::on_time(
					std::chrono::steady_clock::now() + 1h,
					[] {}));
		},
		[](withheld &) { sennit::this_fiber::sleep_for(1h); },
		[](withheld &) {
			sennit::this_fiber::sleep_until(
				std::chrono::steady_clock::now() + 1h);
		},
		[](withheld &) {
			sennit::this_fiber::sleep_until(
				std::chrono::system_clock::now() + 1h);
		},
	};

	return all;
}

/* Returns are results at a deadline of their own: here there are none. */
#define FAIL_IF(claim) \
	if (claim)     \
	ADD_FAILURE() << #claim

const std::vector<wait> &waits_with_deadline()
{
	const auto never = sennit::never;

	static const std::vector<wait> all = {
		[](withheld &w) { FAIL_IF(!w.never_set.wait_for(1h)); },
		[=](withheld &w) { FAIL_IF(!w.never_set.wait_until(never)); },
		[](withheld &w) {
			FAIL_IF(!w.never_set.wait_until(
				std::chrono::system_clock::now() + 1h));
		},
		[](withheld &w) { FAIL_IF(!w.none.try_acquire_for(1h)); },
		[=](withheld &w) { FAIL_IF(!w.none.try_acquire_until(never)); },
		[](withheld &w) { FAIL_IF(!w.nobody.receive_for(1h)); },
		[=](withheld &w) { FAIL_IF(!w.nobody.receive_until(never)); },
		[](withheld &w) {
			FAIL_IF(w.full.send_for(1, 1h) !=
				sennit::channel_status::done);
		},
		[=](withheld &w) {
			FAIL_IF(w.nobody.send_until("x", never) !=
				sennit::channel_status::done);
		},
		[](withheld &w) { FAIL_IF(!w.f.wait_for(1h)); },
		[=](withheld &w) { FAIL_IF(!w.shared.wait_until(never)); },
		[](withheld &w) { FAIL_IF(!sennit::wait_any_for(1h, w.f)); },
		[](withheld &w) { FAIL_IF(!sennit::wait_all_for(1h, w.f)); },
		[=](withheld &w) {
			FAIL_IF(!sennit::wait_any_until(never, w.unset));
		},
		[=](withheld &w) {
			FAIL_IF(!sennit::wait_all_until(never, w.unset));
		},
		[](withheld &w) { FAIL_IF(!w.pool.borrow_for(1h)); },
		[=](withheld &w) { FAIL_IF(!w.pool.borrow_until(never)); },
		[](withheld &w) { FAIL_IF(!w.second.wait_for(1h)); },
		[](withheld &w) {
			w.wait_locked([&](auto &lock) {
				FAIL_IF(w.c.wait_for(lock, 1h) !=
					std::cv_status::no_timeout);
			});
		},
		[=](withheld &w) {
			w.wait_locked([&](auto &lock) {
				FAIL_IF(!w.c.wait_until(lock, never,
							[] { return false; }));
			});
		},
		[](withheld &w) {
			w.wait_locked([&](auto &lock) {
				FAIL_IF(!w.c.wait_for(lock, 1h,
						      [] { return false; }));
			});
		},
		[](withheld &w) {
			FAIL_IF(!sennit::select_for(
				1h, sennit::on_receive(w.nobody, [](auto) {})));
		},
		[=](withheld &w) {
			FAIL_IF(!sennit::select_until(
				never, sennit::on_event(w.never_set, [] {})));
		},
		[](withheld &w) { FAIL_IF(!w.counted.wait_for(1h)); },
		[](withheld &w) { FAIL_IF(!w.two.arrive_and_wait_for(1h)); },
	};

	return all;
}

/* A wait that began before the group's end and one that begins after it. */
template <typename Error>
void expect_ended(sennit::group &g, withheld &w, const wait &one)
{
	EXPECT_TRUE(g.spawn([&] {
		EXPECT_THROW(one(w), Error);
		one(w);
		ADD_FAILURE() << "it returned";
	}));
}

void expect_cancelled(const std::vector<wait> &all)
{
	withheld w;

	for (const wait &one : all) {
		sennit::group g;

		expect_ended<sennit::cancelled>(g, w, one);
		g.cancel();
		EXPECT_THROW(g.wait(), sennit::cancelled);
	}
}

void expect_timed_out(const std::vector<wait> &all)
{
	withheld w;

	for (const wait &one : all) {
		sennit::group g(std::chrono::steady_clock::now() + 100us);

		expect_ended<sennit::timed_out>(g, w, one);
		EXPECT_THROW(g.wait(), sennit::timed_out);
	}
}

TEST_P(interrupted, waits_throw_cancelled)
{
	expect_cancelled(waits_without_deadline());
	expect_cancelled(waits_with_deadline());
}

TEST_P(interrupted, waits_throw_timed_out)
{
	expect_timed_out(waits_without_deadline());
	expect_timed_out(waits_with_deadline());
}

TEST_P(interrupted, waits_are_those_of_any_place_in_a_group)
{
	withheld w;

	for (const wait &one : waits_without_deadline()) {
		sennit::group g;

		EXPECT_TRUE(g.spawn([&] {
			sennit::group inner;

			inner.spawn([&] { one(w); });
			inner.wait();
			ADD_FAILURE() << "it returned";
		}));
		g.cancel();
		EXPECT_THROW(g.wait(), sennit::cancelled);
	}
}

TEST_P(interrupted, waits_end_at_their_own_deadline_with_a_result)
{
	withheld      w;
	sennit::group g(std::chrono::steady_clock::now() + 1h);

	EXPECT_TRUE(g.spawn([&] {
		EXPECT_FALSE(w.never_set.wait_for(10us));
		EXPECT_FALSE(w.none.try_acquire_for(10us));
		EXPECT_EQ(w.nobody.receive_for(10us).status(),
			  sennit::channel_status::timeout);
		EXPECT_FALSE(w.f.wait_for(10us));
		EXPECT_FALSE(sennit::wait_any_for(10us, w.f, w.shared));
		EXPECT_FALSE(sennit::wait_all_for(10us, w.f, w.shared));
		EXPECT_FALSE(w.pool.borrow_for(10us));
		EXPECT_FALSE(w.second.wait_for(10us));
		sennit::this_fiber::sleep_for(10us);
	}));
	g.wait();
}

TEST_P(interrupted, attempts_do_not_throw)
{
	withheld      w;
	sennit::group g(std::chrono::steady_clock::now() - 1s);
	const auto    attempt = [&] {
                EXPECT_TRUE(sennit::this_fiber::is_cancelled());
                EXPECT_FALSE(w.never_set.try_wait());
                EXPECT_FALSE(w.none.try_acquire());
                EXPECT_EQ(w.nobody.try_receive().status(),
			     sennit::channel_status::timeout);
                EXPECT_EQ(w.full.try_send(1), sennit::channel_status::timeout);
                EXPECT_FALSE(w.pool.try_borrow());
                EXPECT_FALSE(sennit::try_wait_any(w.unset));
                EXPECT_FALSE(sennit::try_wait_all(w.f));
                EXPECT_FALSE(sennit::try_select(
			   sennit::on_event(w.never_set, [] {})));
	};

	EXPECT_TRUE(g.spawn(attempt));
	g.wait();

	sennit::group cancelled;

	EXPECT_TRUE(cancelled.spawn([&] {
		while (!sennit::this_fiber::is_cancelled())
			sennit::this_fiber::yield();
		attempt();
	}));
	cancelled.cancel();
	EXPECT_THROW(cancelled.wait(), sennit::cancelled);
}

TEST_P(interrupted, waits_get_what_is_there)
{
	sennit::group g;
	auto          f = sennit::async([] { return 5; });

	f.wait();
	EXPECT_TRUE(g.spawn([&] {
		sennit::event     set(sennit::event_mode::manual, true);
		sennit::semaphore one(1);
		sennit::channel<std::string> c(1);

		while (!sennit::this_fiber::is_cancelled())
			sennit::this_fiber::yield();
		set.wait();
		one.acquire();
		EXPECT_TRUE(c.send("kept"));
		EXPECT_EQ(*c.receive(), "kept");
		EXPECT_EQ(f.get(), 5);
		EXPECT_EQ(sennit::wait_any(set), 0u);
	}));
	g.cancel();
	EXPECT_THROW(g.wait(), sennit::cancelled);
}

TEST_P(interrupted, waits_may_be_uncancelled)
{
	sennit::event                go_on, waits;
	sennit::channel<std::string> c;
	sennit::group                g;

	EXPECT_TRUE(g.spawn([&] {
		EXPECT_THROW(go_on.wait(), sennit::cancelled);
		waits.set();
		EXPECT_TRUE(go_on.wait_until(sennit::uncancelled));
		EXPECT_EQ(*c.receive_until(sennit::uncancelled), "text");
	}));
	g.cancel();
	waits.wait();
	go_on.set();
	EXPECT_TRUE(c.send("text"));
	EXPECT_THROW(g.wait(), sennit::cancelled);
}

TEST_P(interrupted, locks_and_joins_are_not)
{
	sennit::mutex        m;
	sennit::shared_mutex shared;
	sennit::event        held, release, never_set;
	int                  ran = 0;
	sennit::group        g;

	sennit::schedule([&] {
		const std::scoped_lock both(m, shared);

		held.set();
		release.wait();
		sennit::this_fiber::yield();
	});
	held.wait();
	EXPECT_TRUE(g.spawn([&] {
		sennit::wait_group helper;
		sennit::once       once;

		EXPECT_THROW(never_set.wait(), sennit::cancelled);
		helper.spawn([&] {
			sennit::this_fiber::sleep_for(10us); /* no member */
			ran++;
		});
		release.set();
		m.lock();
		shared.lock_shared();
		helper.wait();
		once.call([&] { ran++; });
		m.unlock();
		shared.unlock_shared();
	}));
	g.cancel();
	EXPECT_THROW(g.wait(), sennit::cancelled);
	EXPECT_EQ(ran, 2);
}

/* Destructors join while sennit::cancelled unwinds the stack. */
TEST_P(interrupted, unwinding_joins)
{
	struct joins {
		sennit::wait_group helpers;

		~joins()
		{
			EXPECT_EQ(std::uncaught_exceptions(), 1);
			helpers.wait();
			EXPECT_EQ(std::uncaught_exceptions(), 1);
		}
	};
	std::atomic<int>   ended{ 0 };
	sennit::event      never_set;
	sennit::wait_group begun(10);
	sennit::group      g;

	for (int i = 0; i < 10; i++)
		EXPECT_TRUE(g.spawn([&] {
			joins         j;
			sennit::group inner;

			j.helpers.spawn([&] {
				sennit::this_fiber::sleep_for(10us);
				++ended;
			});
			EXPECT_TRUE(inner.spawn([&] {
				try {
					never_set.wait();
				} catch (const sennit::interrupted &) {
					sennit::this_fiber::yield();
					++ended;
					throw;
				}
			}));
			begun.done();
			never_set.wait();
			ADD_FAILURE() << "it returned";
		}));
	begun.wait();
	g.cancel();
	EXPECT_THROW(g.wait(), sennit::cancelled);
	EXPECT_EQ(ended, 20);
}

TEST_P(interrupted, members_do_not_hide_an_exception)
{
	sennit::event never_set;
	sennit::group g(std::chrono::steady_clock::now() + 1ms);

	for (int i = 0; i < 5; i++)
		EXPECT_TRUE(g.spawn([&] { never_set.wait(); }));
	EXPECT_TRUE(g.spawn([&] {
		try {
			never_set.wait();
		} catch (const sennit::interrupted &) {
			throw std::runtime_error("real");
		}
	}));
	EXPECT_THROW(g.wait(), std::runtime_error);

	sennit::group h(std::chrono::steady_clock::now() - 1s,
			sennit::group_flags::keep_going);

	EXPECT_TRUE(h.spawn([&] { never_set.wait(); }));
	EXPECT_TRUE(h.spawn([&] { throw 5; }));
	EXPECT_EQ(h.wait(std::nothrow), std::errc::state_not_recoverable);
}

TEST_P(interrupted, waits_throw_what_can_be_told_apart)
{
	sennit::event never_set;
	sennit::group g(std::chrono::steady_clock::now() - 1s), h;

	EXPECT_TRUE(g.spawn([&] {
		try {
			never_set.wait();
			ADD_FAILURE();
		} catch (const sennit::cancelled &) {
			ADD_FAILURE();
		} catch (const sennit::interrupted &e) {
			EXPECT_EQ(e.code(), std::errc::timed_out);
		}
	}));
	g.wait();
	EXPECT_TRUE(h.spawn([&] {
		try {
			never_set.wait();
			ADD_FAILURE();
		} catch (const std::exception &e) {
			EXPECT_TRUE(
				dynamic_cast<const sennit::cancelled *>(&e));
			EXPECT_NE(std::string(e.what()), "");
		}
	}));
	h.cancel();
	EXPECT_THROW(h.wait(), sennit::cancelled);
}

/* What runs in parts, or elsewhere, passes the end on. */
TEST_P(interrupted, waits_leave_loops_and_futures)
{
	sennit::event never_set;
	sennit::group g;

	EXPECT_TRUE(g.spawn([&] {
		EXPECT_THROW(sennit::parallel_for(
				     0, 4, [&](int) { never_set.wait(); }),
			     sennit::cancelled);
	}));
	EXPECT_TRUE(g.spawn([&] {
		sennit::dag_builder<> b;

		b.add([&] { never_set.wait(); });
		EXPECT_THROW(b.build().run(), sennit::cancelled);
	}));
	EXPECT_TRUE(g.spawn([&] {
		sennit::promise<int> p;

		p.set_by([&] {
			never_set.wait();
			return 1;
		});
		EXPECT_THROW(p.get_future().get(), sennit::cancelled);
	}));
	g.cancel();
	EXPECT_THROW(g.wait(), sennit::cancelled);
}

} // namespace
