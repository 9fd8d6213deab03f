/* SPDX-License-Identifier: Apache-2.0 */
/* loan.h - the common part of all pools: items, loans of items, and lists of
 * items that are not lent.
 */
#ifndef marl_detail_loan_h
#define marl_detail_loan_h

#include "object.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace marl
{

enum class PoolPolicy {
	Reconstruct, /* made when borrowed, destroyed when returned */
	Preserve     /* made once, and lent as the last borrower left it */
};

/* The common part of all pools of T. */
template <typename T> class Pool
{
protected:
	struct Item;
	class Lender;

public:
	class Loan
	{
	public:
		Loan() = default;
		Loan(Item *item, const std::shared_ptr<Lender> &lender)
		    : item_(item)
		{
			item_->loans.store(1, std::memory_order_relaxed);
			item_->lender = lender;
		}
		Loan(const Loan &other) : item_(other.item_)
		{
			if (item_)
				item_->loans.fetch_add(
					1, std::memory_order_relaxed);
		}
		Loan(Loan &&other) noexcept : item_(other.item_)
		{
			other.item_ = nullptr;
		}
		Loan &operator=(const Loan &other)
		{
			Loan copy(other);

			std::swap(item_, copy.item_);
			return *this;
		}
		Loan &operator=(Loan &&other) noexcept
		{
			Loan moved(std::move(other));

			std::swap(item_, moved.item_);
			return *this;
		}
		~Loan()
		{
			reset();
		}

		T &operator*() const
		{
			return *item_->get();
		}
		T *operator->() const
		{
			return item_->get();
		}
		T *get() const
		{
			return item_ ? item_->get() : nullptr;
		}

		/* Become an empty loan. */
		void reset()
		{
			Item *item = item_;

			item_ = nullptr;
			/* acq_rel: the next borrower sees the effects of all
			 * copies. */
			if (!item || item->loans.fetch_sub(
					     1, std::memory_order_acq_rel) != 1)
				return;

			std::shared_ptr<Lender> lender;

			lender.swap(item->lender);
			lender->take_back(item);
		}

	private:
		Item *item_ = nullptr;
	};

protected:
	Pool() = default;

	class Lender
	{
	public:
		virtual ~Lender() = default;
		virtual void take_back(Item *) = 0;
	};

	struct Item {
		T *get()
		{
			return detail::made_in<T>(data);
		}
		void construct()
		{
			new (data) T;
		}
		void destruct()
		{
			get()->~T();
		}

		alignas(T) unsigned char data[sizeof(T)];
		std::atomic<int>        loans{ 0 };
		Item                   *next = nullptr; /* of a list */
		std::shared_ptr<Lender> lender;         /* while lent */
	};

	/* A list of items that are not lent. */
	class Items
	{
	public:
		void push(Item *item)
		{
			item->next = first_;
			first_ = item;
			size_++;
		}
		Item *pop()
		{
			Item *item = first_;

			first_ = item->next;
			size_--;
			return item;
		}
		void move(size_t n, Items &to)
		{
			for (; n > 0; --n)
				to.push(pop());
		}
		size_t size() const
		{
			return size_;
		}

	private:
		Item  *first_ = nullptr;
		size_t size_ = 0;
	};

	/* Returns the items that have not become a loan, without an object: a
	 * constructor or the borrower's function may throw. */
	template <typename Store> struct Taken {
		explicit Taken(const std::shared_ptr<Store> &from) : store(from)
		{
		}
		~Taken()
		{
			while (items.size() > 0)
				store->put(items.pop());
		}
		Taken(const Taken &) = delete;
		Taken &operator=(const Taken &) = delete;

		Loan lend(PoolPolicy policy)
		{
			Item *item = items.pop();

			items.push(item);
			if (policy == PoolPolicy::Reconstruct)
				item->construct();
			items.pop();
			return Loan(item, store);
		}

		const std::shared_ptr<Store> &store;
		Items                         items;
	};
};

template <typename T> using Loan = typename Pool<T>::Loan;

} // namespace marl

#endif
