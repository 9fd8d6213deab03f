/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - pools of objects to borrow, of a fixed number or unbounded.
 *
 * The last copy of a Loan returns its object, from any thread, also after the
 * pool has been destroyed. Functions passed to borrow() run without any lock.
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
#include <new>
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
			Waiter me = { n, &to, SENNIT_EVENT_INIT(0), nullptr };

			detail::require(n <= size_t(N),
					"BoundedPool::borrow() of more than "
					"the pool has");
			{
				marl::lock held(lock_);

				*last_ = &me;
				last_ = &me.next;
				serve();
			}
			(void)!sennit_event_wait_until(&me.ready,
						       SENNIT_UNCANCELLED);
		}

		bool try_take(Items &to)
		{
			marl::lock held(lock_);

			if (first_ || free_.size() == 0)
				return false;
			free_.move(1, to);
			return true;
		}

		void put(Item *item)
		{
			marl::lock held(lock_);

			free_.push(item);
			serve();
		}

		void take_back(Item *item) override
		{
			if (POLICY == PoolPolicy::Reconstruct)
				item->destruct();
			put(item);
		}

	private:
		/* A waiter that is served may be destroyed at once. */
		void serve()
		{
			while (first_ && first_->wanted <= free_.size()) {
				Waiter *w = first_;

				free_.move(w->wanted, *w->items);
				first_ = w->next;
				if (!first_)
					last_ = &first_;
				sennit_event_set(&w->ready);
			}
		}

		Item     items_[N];
		mutex    lock_;
		Items    free_;            /* under lock_ */
		Waiter  *first_ = nullptr; /* under lock_ */
		Waiter **last_ = &first_;  /* under lock_ */
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
		explicit Lender(Allocator *allocator)
		    : allocator_(allocator), all_(allocator)
		{
		}
		~Lender() override
		{
			for (Item *item : all_) {
				if (POLICY == PoolPolicy::Preserve)
					item->destruct();
				allocator_->destroy(item);
			}
		}
		Lender(const Lender &) = delete;
		Lender &operator=(const Lender &) = delete;

		void take(size_t n, Items &to)
		{
			marl::lock held(lock_);

			free_.move(std::min(n, free_.size()), to);
			while (to.size() < n)
				to.push(make());
		}

		void put(Item *item)
		{
			marl::lock held(lock_);

			free_.push(item);
		}

		void take_back(Item *item) override
		{
			if (POLICY == PoolPolicy::Reconstruct)
				item->destruct();
			put(item);
		}

	private:
		Item *make()
		{
			Item *item = allocator_->create<Item>();

			if (POLICY == PoolPolicy::Preserve)
				item->construct();
			all_.push_back(item);
			return item;
		}

		Allocator *const allocator_;
		mutex            lock_;
		Items            free_; /* under lock_ */

		containers::vector<Item *, 4> all_; /* under lock_ */
	};

	using Taken = typename Pool<T>::template Taken<Lender>;

	std::shared_ptr<Lender> lender_;
};

} // namespace marl

#endif
#endif
