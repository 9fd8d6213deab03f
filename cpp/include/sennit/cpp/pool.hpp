/* SPDX-License-Identifier: Apache-2.0 */
/* pool.hpp - pool.h for objects, with loans that return themselves.
 *
 *	sennit::pool<connection> connections(8, [] { return connect(); });
 *	auto loan = connections.borrow();
 *	loan->send(request);
 */
#ifndef SENNIT_CPP_POOL_HPP
#define SENNIT_CPP_POOL_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/cpp/unbounded.hpp"
#include "sennit/pool.h"

#include <functional>

SENNIT_CPP_BEGIN

enum class pool_policy {
	preserve,   /* an object is made at its first loan, and keeps its state
		     * until the pool is destroyed */
	reconstruct /* an object is made for each loan */
};

template <typename T> class pool
{
	/* An item of the C pool. Only the borrower knows and changes whether
	 * it holds an object. So an exception of the construction leaves
	 * borrow(). */
	struct item {
		detail::room<T> object;
		bool            made = false;
	};

public:
	/* An object on loan, or none. The destructor returns it. */
	class loan
	{
	public:
		loan() noexcept = default;
		loan(loan &&other) noexcept
		    : pool_(other.pool_),
		      item_(std::exchange(other.item_, nullptr))
		{
		}
		loan &operator=(loan other) noexcept
		{
			std::swap(pool_, other.pool_);
			std::swap(item_, other.item_);
			return *this;
		}
		~loan()
		{
			reset();
		}
		void reset() noexcept
		{
			if (item_)
				pool_->give(std::exchange(item_, nullptr));
		}
		T *get() const noexcept
		{
			return item_ ? &item_->object.value : nullptr;
		}
		T &operator*() const noexcept
		{
			return *object();
		}
		T *operator->() const noexcept
		{
			return object();
		}
		explicit operator bool() const noexcept
		{
			return item_ != nullptr;
		}

	private:
		friend class pool;
		loan(pool *p, item *i) noexcept : pool_(p), item_(i)
		{
		}
		T *object() const noexcept
		{
			return detail::needed(get(), "sennit::pool::loan",
					      "it is empty: nothing was "
					      "borrowed, or it was moved from "
					      "or reset");
		}

		pool *pool_ = nullptr;
		item *item_ = nullptr;
	};

	/* A pool of `count` objects, at least one, or unbounded; made by T().
	 */
	explicit pool(std::size_t count, pool_policy policy = {})
	    : pool(count, maker(make_default), policy)
	{
		static_assert(std::is_default_constructible_v<T>,
			      "sennit: T() makes no object of this pool: give "
			      "it a function that does");
	}
	/* A pool of `count` objects, made from the result of make(). borrow()
	 * calls make, on several threads at once. make may wait. */
	template <typename Make, typename = std::enable_if_t<
					 !std::is_same_v<Make, pool_policy>>>
	pool(std::size_t count, Make make, pool_policy policy = {})
	    : pool(count, maker_of(std::move(make)), policy)
	{
	}
	pool(const pool &) = delete;
	pool &operator=(const pool &) = delete;
	~pool()
	{
		sennit_pool_destroy(&p_);
	}

	/* Borrow an object. Throws std::bad_alloc, or what making the object
	 * throws. */
	[[nodiscard]] loan borrow() &
	{
		void *memory;

		return lend(memory, detail::for_ever(sennit_pool_borrow_until,
						     &p_, &memory));
	}
	/* Borrow an object without waiting; returns an empty loan if there is
	 * none. */
	[[nodiscard]] loan try_borrow() &
	{
		void *memory;

		return lend(memory, detail::at_once(sennit_pool_borrow_until,
						    &p_, &memory));
	}
	template <typename Rep, typename Period>
	[[nodiscard]] loan borrow_for(
		const std::chrono::duration<Rep, Period> &d) &
	{
		void *memory;

		return lend(memory, detail::within(d, sennit_pool_borrow_until,
						   &p_, &memory));
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] loan borrow_until(
		const std::chrono::time_point<Clock, Duration> &t) &
	{
		void *memory;

		return lend(memory, detail::until(t, sennit_pool_borrow_until,
						  &p_, &memory));
	}

private:
	using maker = std::function<void(void *)>;

	static void make_default([[maybe_unused]] void *room)
	{
		if constexpr (std::is_default_constructible_v<T>)
			::new (room) T();
	}

	template <typename Make> static maker maker_of(Make make)
	{
		using made = detail::result_of<Make &>;
		constexpr bool makes = std::is_same_v<made, T> ||
				       std::is_constructible_v<T, made>;

		static_assert(
			makes && std::is_copy_constructible_v<Make>,
			"sennit: a pool needs a function, which can be "
			"copied, without arguments that returns an object "
			"of the pool");
		if constexpr (makes && std::is_copy_constructible_v<Make>)
			return [make = std::move(make)](void *room) mutable {
				::new (room) T(make());
			};
		else
			return nullptr;
	}

	pool(std::size_t count, maker make, pool_policy policy)
	    : make_(std::move(make)), policy_(policy)
	{
		sennit_pool_config c{};

		c.size = sizeof(c);
		c.item_size = sizeof(item);
		c.alignment = alignof(item) < alignof(void *) ? alignof(void *)
							      : alignof(item);
		c.count = count == unbounded ? 0 : count;
		c.construct = [](void *, void *memory) noexcept {
			::new (memory) item;
			return 0;
		};
		c.destroy = [](void *, void *memory) noexcept {
			unmake(*static_cast<item *>(memory));
		};
		detail::check(count ? sennit_pool_init(&p_, &c) : -EINVAL,
			      "pool");
	}

	static void unmake(item &i) noexcept
	{
		if (std::exchange(i.made, false))
			i.object.value.~T();
	}

	/* Lend the item at `memory`, or nothing if err says so. */
	loan lend(void *&memory, int err)
	{
		if (err == -ETIMEDOUT)
			return loan();
		detail::check(err, "borrow");

		loan l(this, static_cast<item *>(memory));

		if (!l.item_->made) {
			make_(&l.item_->object.value);
			l.item_->made = true;
		}
		return l;
	}

	void give(item *i) noexcept
	{
		if (policy_ == pool_policy::reconstruct)
			unmake(*i);
		sennit_pool_return(&p_, i);
	}

	sennit_pool p_;
	maker       make_;
	pool_policy policy_;
};

SENNIT_CPP_END

#endif
