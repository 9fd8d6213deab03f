/* SPDX-License-Identifier: Apache-2.0 */
/* stl_allocator.h - an Allocator for the containers of the standard library. */
#ifndef marl_detail_stl_allocator_h
#define marl_detail_stl_allocator_h

#include "../memory.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

namespace marl
{

/* For containers of the standard library. */
template <typename T> struct StlAllocator {
	using value_type = T;
	using pointer = T *;
	using const_pointer = const T *;
	using reference = T &;
	using const_reference = const T &;
	using size_type = size_t;
	using difference_type = ptrdiff_t;

	template <typename U> struct rebind {
		using other = StlAllocator<U>;
	};

	StlAllocator(Allocator *allocator) : allocator_(allocator)
	{
	}
	template <typename U>
	StlAllocator(const StlAllocator<U> &other)
	    : allocator_(other.allocator_)
	{
	}

	pointer address(reference x) const
	{
		return std::addressof(x);
	}
	const_pointer address(const_reference x) const
	{
		return std::addressof(x);
	}
	size_type max_size() const
	{
		return std::numeric_limits<size_type>::max() / sizeof(T);
	}

	T *allocate(size_t n)
	{
		Allocation a = allocator_->allocate(request(n));

		detail::require(a.ptr != nullptr, "out of memory");
		return static_cast<T *>(a.ptr);
	}
	void deallocate(T *memory, size_t n)
	{
		Allocation a;

		a.ptr = memory;
		a.request = request(n);
		allocator_->free(a);
	}

	template <typename U, typename... Arguments>
	void construct(U *memory, Arguments &&...arguments)
	{
		::new (static_cast<void *>(memory))
			U(std::forward<Arguments>(arguments)...);
	}
	template <typename U> void destroy(U *object)
	{
		object->~U();
	}

	template <typename U> bool operator==(const StlAllocator<U> &o) const
	{
		return allocator_ == o.allocator_;
	}
	template <typename U> bool operator!=(const StlAllocator<U> &o) const
	{
		return allocator_ != o.allocator_;
	}

private:
	template <typename U> friend struct StlAllocator;

	static Allocation::Request request(size_t n)
	{
		Allocation::Request r;

		r.size = sizeof(T) * n;
		r.alignment = alignof(T);
		r.usage = Allocation::Usage::Stl;
		return r;
	}

	Allocator *allocator_;
};

} // namespace marl

#endif
