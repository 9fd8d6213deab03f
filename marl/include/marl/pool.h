/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - pools of objects to borrow, of a fixed number or unbounded.
 *
 * The last copy of a Loan returns its object, from any thread, also after the
 * pool has been destroyed. The lock of a pool is held for a few lines, which
 * neither wait nor call the program: functions passed to borrow(), constructors
 * and the allocator run without it. So it is a std::mutex: sennit's would
 * suspend the fibers that meet there, each with its stack.
 */
#ifndef marl_pool_h
#define marl_pool_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "conditionvariable.h"
#include "containers.h"
#include "memory.h"
#include "mutex.h"

#include "detail/loan.h"

#include "sennit/event.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace marl
{

/* A pool of N objects. Further borrowers wait, first come first served. */
template <typename T, int N, PoolPolicy POLICY = PoolPolicy::Reconstruct>
class BoundedPool : public Pool<T>
{
public:
	using Item = typename Pool<T>::Item;
	using Loan = typename Pool<T>::Loan;

	BoundedPool(Allocator *allocator = Allocator::Default)
	    : lender_(allocator->make_shared<Lender>())
	{
	}

	/* Borrow an object. Wait until one is not lent. */
	Loan borrow() const
	{
		Taken taken(lender_);

		lender_->take(1, taken.items);
		return taken.lend(POLICY);
	}

	/* Wait until n objects, N at most, are not lent, and call f(Loan &&)
	 * with each. A waiter holds none of the objects that others wait
	 * for. */
	template <typename F> void borrow(size_t n, const F &f) const
	{
		Taken taken(lender_);

		lender_->take(n, taken.items);
		for (; n > 0; --n)
			f(taken.lend(POLICY));
	}

	/* Return an object and true; or an empty loan and false, if no object
	 * is free or others wait already. */
	std::pair<Loan, bool> tryBorrow() const
	{
		Taken taken(lender_);

		if (!lender_->try_take(taken.items))
			return std::make_pair(Loan(), false);
		return std::make_pair(taken.lend(POLICY), true);
	}

private:
	using Items = typename Pool<T>::Items;

	struct Waiter {
		size_t       wanted;
		Items       *items;
		sennit_event ready;
		Waiter      *next;
	};

	class Lender : public Pool<T>::Lender
	{
	public:
		Lender()
		{
			for (Item &item : items_) {
				if (POLICY == PoolPolicy::Preserve)
					item.construct();
				free_.push(&item);
			}
		}
		~Lender() override
		{
			if (POLICY == PoolPolicy::Preserve)
				for (Item &item : items_)
					item.destruct();
		}
		Lender(const Lender &) = delete;
		Lender &operator=(const Lender &) = delete;

		void take(size_t n, Items &to)
		{
			Waiter  me = { n, &to, SENNIT_EVENT_INIT(0), nullptr };
			Waiter *served;

			detail::require(n <= size_t(N),
					"BoundedPool::borrow() of more than "
					"the pool has");
			if (take_soon(n, to))
				return;
			{
				std::lock_guard<std::mutex> held(lock_);

				*last_ = &me;
				last_ = &me.next;
				served = serve();
			}
			wake(served);
			(void)!sennit_event_wait_until(&me.ready,
						       SENNIT_UNCANCELLED);
		}

		bool try_take(Items &to)
		{
			std::lock_guard<std::mutex> held(lock_);

			if (first_ || free_.size() == 0)
				return false;
			free_.move(1, to);
			return true;
		}

		void put(Item *item)
		{
			Waiter *served;
			{
				std::lock_guard<std::mutex> held(lock_);

				free_.push(item);
				served = serve();
			}
			wake(served);
		}

		void take_back(Item *item) override
		{
			if (POLICY == PoolPolicy::Reconstruct)
				item->destruct();
			put(item);
		}

	private:
		/* With more threads than CPUs, a task that has an object may
		 * have lost its CPU, for longer than others take to begin to
		 * wait by the thousand, each with a stack. So the first of
		 * them lets other threads run for a moment: 70 us if
		 * none wants to. */
		static constexpr int TRIES = 128;

		bool take_soon(size_t n, Items &to)
		{
			for (int i = 0; i < TRIES; i++) {
				{
					std::lock_guard<std::mutex> held(lock_);

					if (first_)
						return false;
					if (n <= free_.size()) {
						free_.move(n, to);
						return true;
					}
				}
				std::this_thread::yield();
			}
			return false;
		}

		/* Give the first waiters what they want. Returns them: they are
		 * no longer in the list. */
		Waiter *serve()
		{
			Waiter  *served = first_;
			Waiter **end = &served;

			for (; *end && (*end)->wanted <= free_.size();
			     end = &(*end)->next)
				free_.move((*end)->wanted, *(*end)->items);
			first_ = *end;
			*end = nullptr;
			if (!first_)
				last_ = &first_;
			return served;
		}

		/* A waiter that is woken may be destroyed at once. */
		static void wake(Waiter *served)
		{
			while (served) {
				Waiter *w = served;

				served = w->next;
				sennit_event_set(&w->ready);
			}
		}

		Item       items_[N];
		std::mutex lock_;
		Items      free_;            /* under lock_ */
		Waiter    *first_ = nullptr; /* under lock_ */
		Waiter   **last_ = &first_;  /* under lock_ */
	};

	using Taken = typename Pool<T>::template Taken<Lender>;

	std::shared_ptr<Lender> lender_;
};

/* A pool of as many objects as are wanted. Returned objects are lent again. */
template <typename T, PoolPolicy POLICY = PoolPolicy::Reconstruct>
class UnboundedPool : public Pool<T>
{
public:
	using Item = typename Pool<T>::Item;
	using Loan = typename Pool<T>::Loan;

	UnboundedPool(Allocator *allocator = Allocator::Default)
	    : lender_(allocator->make_shared<Lender>(allocator))
	{
	}

	Loan borrow() const
	{
		Taken taken(lender_);

		lender_->take(1, taken.items);
		return taken.lend(POLICY);
	}

	/* Call f(Loan &&) with each of n objects. */
	template <typename F> void borrow(size_t n, const F &f) const
	{
		Taken taken(lender_);

		lender_->take(n, taken.items);
		for (; n > 0; --n)
			f(taken.lend(POLICY));
	}

private:
	using Items = typename Pool<T>::Items;

	class Lender : public Pool<T>::Lender
	{
	public:
		explicit Lender(Allocator *allocator) : allocator_(allocator)
		{
		}
		~Lender() override
		{
			while (all_) {
				Made *item = all_;

				all_ = item->older;
				if (POLICY == PoolPolicy::Preserve)
					item->destruct();
				allocator_->destroy(item);
			}
		}
		Lender(const Lender &) = delete;
		Lender &operator=(const Lender &) = delete;

		void take(size_t n, Items &to)
		{
			{
				std::lock_guard<std::mutex> held(lock_);

				free_.move(std::min(n, free_.size()), to);
			}
			while (to.size() < n)
				to.push(make());
		}

		void put(Item *item)
		{
			std::lock_guard<std::mutex> held(lock_);

			free_.push(item);
		}

		void take_back(Item *item) override
		{
			if (POLICY == PoolPolicy::Reconstruct)
				item->destruct();
			put(item);
		}

	private:
		struct Made : Item {
			Made *older = nullptr; /* under lock_ */
		};

		/* The allocator and the constructor are the program's: they may
		 * wait, or throw. */
		Item *make()
		{
			auto item = allocator_->make_unique<Made>();

			if (POLICY == PoolPolicy::Preserve)
				item->construct();

			std::lock_guard<std::mutex> held(lock_);

			item->older = all_;
			all_ = item.get();
			return item.release();
		}

		Allocator *const allocator_;
		std::mutex       lock_;
		Items            free_;          /* under lock_ */
		Made            *all_ = nullptr; /* under lock_ */
	};

	using Taken = typename Pool<T>::template Taken<Lender>;

	std::shared_ptr<Lender> lender_;
};

} // namespace marl

#endif
#endif
