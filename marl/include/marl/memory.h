/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - allocators for primitives and containers.
 *
 * An Allocator returns the requested memory or does not return. Stacks of
 * fibers do not come from it: sennit maps and guards them itself.
 */
#ifndef marl_memory_h
#define marl_memory_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "debug.h"
#include "detail/system.h"
#include "export.h"

#include <stdint.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace marl
{

class Allocator;
template <typename T> struct StlAllocator;

/* The size of a page of memory in bytes. */
inline size_t pageSize()
{
	static const size_t size = detail::systemPageSize();

	return size;
}

/* Return the smallest multiple of `alignment` that is not less than `value`. */
template <typename T> inline T alignUp(T value, T alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

/* Storage for an object of the given size and alignment. */
template <size_t SIZE, size_t ALIGNMENT> struct aligned_storage {
	struct alignas(ALIGNMENT) type {
		unsigned char data[SIZE];
	};
};

struct Allocation {
	enum class Usage : uint8_t {
		Undefined = 0,
		Stack, /* sennit never requests it */
		Create,
		Vector,
		List,
		Stl,
		Count /* the number of values */
	};

	struct Request {
		size_t size = 0;
		size_t alignment = 0;
		bool   useGuards = false; /* pages that fault on both sides */
		Usage  usage = Usage::Undefined;
	};

	void   *ptr = nullptr;
	Request request;
};

namespace detail
{

/* A static member of a class template may be defined in a header. Each program
 * or shared library has its own. */
template <typename Unused> struct DefaultAllocator {
	MARL_OWN static Allocator *Default;
};

} // namespace detail

class Allocator : public detail::DefaultAllocator<void>
{
public:
	/* What unique_ptr calls for the `count` objects that it owns. */
	struct Deleter {
		Deleter() = default;
		Deleter(Allocator *from, size_t number)
		    : allocator(from), count(number)
		{
		}
		template <typename T> void operator()(T *object)
		{
			allocator->destroy_n(object, count);
		}

		Allocator *allocator = nullptr;
		size_t     count = 0;
	};

	template <typename T> using unique_ptr = std::unique_ptr<T, Deleter>;

	virtual ~Allocator() = default;

	virtual Allocation allocate(const Allocation::Request &) = 0;

	/* Free what allocate() returned. At least size, alignment, useGuards
	 * and usage of the request are unchanged. */
	virtual void free(const Allocation &) = 0;

	/* Construct a T from these arguments. destroy() destroys it. */
	template <typename T, typename... Arguments>
	T *create(Arguments &&...arguments)
	{
		Room<T> room(this, 1);

		new (room.memory()) T(std::forward<Arguments>(arguments)...);
		return room.keep();
	}

	template <typename T> void destroy(T *object)
	{
		destroy_n(object, 1);
	}

	template <typename T, typename... Arguments>
	unique_ptr<T> make_unique(Arguments &&...arguments)
	{
		return unique_ptr<T>(
			create<T>(std::forward<Arguments>(arguments)...),
			Deleter(this, 1));
	}

	/* Construct n consecutive objects, each from copies of these
	 * arguments. */
	template <typename T, typename... Arguments>
	unique_ptr<T> make_unique_n(size_t n, Arguments &&...arguments)
	{
		if (n == 0)
			return unique_ptr<T>(nullptr, Deleter(this, 0));

		Room<T> room(this, n);

		for (; room.made < n; ++room.made)
			new (room.memory() + room.made) T(arguments...);
		return unique_ptr<T>(room.keep(), Deleter(this, n));
	}

	template <typename T, typename... Arguments>
	std::shared_ptr<T> make_shared(Arguments &&...arguments)
	{
		return std::shared_ptr<T>(
			create<T>(std::forward<Arguments>(arguments)...),
			Deleter(this, 1));
	}

protected:
	Allocator() = default;

private:
	/* Memory for n objects. Unless it is kept, the destructor destroys the
	 * objects made in it and frees it, since a constructor may throw. */
	template <typename T> struct Room {
		Room(Allocator *from, size_t n)
		    : allocator(from), allocation(from->allocate(request<T>(n)))
		{
			detail::require(allocation.ptr != nullptr,
					"out of memory");
		}
		~Room()
		{
			if (!allocation.ptr)
				return;
			while (made > 0)
				memory()[--made].~T();
			allocator->free(allocation);
		}
		Room(const Room &) = delete;
		Room &operator=(const Room &) = delete;

		T *memory()
		{
			return static_cast<T *>(allocation.ptr);
		}
		T *keep()
		{
			T *object = memory();

			allocation.ptr = nullptr;
			return object;
		}

		Allocator *allocator;
		Allocation allocation;
		size_t     made = 0;
	};

	template <typename T> static Allocation::Request request(size_t n)
	{
		Allocation::Request r;

		r.size = sizeof(T) * n;
		r.alignment = alignof(T);
		r.usage = Allocation::Usage::Create;
		return r;
	}

	template <typename T> void destroy_n(T *objects, size_t n)
	{
		Allocation allocation;

		for (size_t i = n; i > 0; --i)
			objects[i - 1].~T();
		allocation.ptr =
			const_cast<typename std::remove_const<T>::type *>(
				objects);
		allocation.request = request<T>(n);
		free(allocation);
	}
};

} // namespace marl

#include "detail/heap.h"
#include "detail/stl_allocator.h"
#include "detail/tracked_allocator.h"

#endif
#endif
