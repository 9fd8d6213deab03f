/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - the state that copies of a primitive share, and a counted pointer
 * to it.
 *
 * A copy that is moved from is unchanged: programs written for marl may use it
 * further.
 */
#ifndef marl_detail_handle_h
#define marl_detail_handle_h

#include "../memory.h"

#include <atomic>

#if __has_include(<ext/atomicity.h>)
#include <ext/atomicity.h>
#endif

namespace marl
{
namespace detail
{

/* The number of handles. libstdc++'s std::shared_ptr, and so marl, leaves out
 * locked instructions in a process with one thread. So does this. */
#if __has_include(<ext/atomicity.h>)
class HandleCount
{
public:
	void add()
	{
		__gnu_cxx::__atomic_add_dispatch(&count_, 1);
	}

	/* Returns whether it was the last one, which sees the effects of all
	 * others. */
	bool drop()
	{
		return __gnu_cxx::__exchange_and_add_dispatch(&count_, -1) == 1;
	}

private:
	_Atomic_word count_ = 1; /* any */
};
#else
class HandleCount
{
public:
	void add()
	{
		count_.fetch_add(1, std::memory_order_relaxed);
	}
	bool drop()
	{
		return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
	}

private:
	std::atomic<size_t> count_{ 1 }; /* any */
};
#endif

class Counted
{
public:
	explicit Counted(Allocator *allocator) : allocator_(allocator)
	{
	}
	Counted(const Counted &) = delete;
	Counted &operator=(const Counted &) = delete;

	Allocator *allocator() const
	{
		return allocator_;
	}

private:
	template <typename T> friend class Handle;

	HandleCount      handles_;
	Allocator *const allocator_; /* fixed */
};

/* T is a Counted, created by this allocator. */
template <typename T> class Handle
{
public:
	Handle() = default;
	explicit Handle(T *made) : target_(made)
	{
	}
	Handle(const Handle &other) : target_(other.target_)
	{
		if (target_)
			target_->handles_.add();
	}
	Handle &operator=(const Handle &other)
	{
		Handle copy(other);

		swap(copy);
		return *this;
	}
	~Handle()
	{
		if (target_ && target_->handles_.drop())
			target_->allocator_->destroy(target_);
	}

	void swap(Handle &other)
	{
		std::swap(target_, other.target_);
	}
	T *get() const
	{
		return target_;
	}
	/* The handle has a target: without this, gcc 12 warns of an overflow
	 * where it has none. */
	T *operator->() const
	{
		if (!target_)
			__builtin_unreachable();
		return target_;
	}

private:
	T *target_ = nullptr;
};

/* Construct a T from its allocator and these arguments. Returns the first
 * handle. */
template <typename T, typename... Arguments>
inline Handle<T> share(Allocator *allocator, Arguments &&...arguments)
{
	return Handle<T>(allocator->create<T>(
		allocator, std::forward<Arguments>(arguments)...));
}

} // namespace detail
} // namespace marl

#endif
