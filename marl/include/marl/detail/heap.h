/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - the default allocator: the heap, or mapped pages between two pages
 * that fault.
 */
#ifndef marl_detail_heap_h
#define marl_detail_heap_h

#include "../memory.h"
#include "system.h"

#include <cstddef>
#include <cstdlib>

namespace marl
{
namespace detail
{

class HeapAllocator : public Allocator
{
public:
	constexpr HeapAllocator()
	{
	}

	Allocation allocate(const Allocation::Request &request) override
	{
		Allocation result;

		result.request = request;
		result.ptr = request.useGuards ? map(request) : heap(request);
		require(result.ptr != nullptr, "out of memory");
		return result;
	}

	void free(const Allocation &allocation) override
	{
		if (!allocation.ptr)
			return;
		if (allocation.request.useGuards)
			giveGuarded(allocation.ptr, inside(allocation.request),
				    pageSize());
		else if (fits(allocation.request))
			std::free(allocation.ptr);
		else
			giveAligned(allocation.ptr);
	}

private:
	/* Whether malloc() aligns it. */
	static bool fits(const Allocation::Request &request)
	{
		return request.alignment <= alignof(std::max_align_t);
	}

	static void *heap(const Allocation::Request &request)
	{
		if (fits(request))
			return std::malloc(request.size ? request.size : 1);
		return takeAligned(request.alignment, request.size);
	}

	static size_t inside(const Allocation::Request &request)
	{
		return alignUp(request.size ? request.size : 1, pageSize());
	}

	static void *map(const Allocation::Request &request)
	{
		require(request.alignment <= pageSize(),
			"guarded memory is aligned to a page at most");
		return takeGuarded(inside(request), pageSize());
	}
};

/* It exists before any constructor runs and is never destroyed, since other
 * objects may still use it then. */
union Heap {
	constexpr Heap() : allocator()
	{
	}
	~Heap()
	{
	}
	HeapAllocator allocator;
};

template <typename Unused> struct OneHeap {
	MARL_OWN MARL_STAYS static Heap heap;
};
template <typename Unused> Heap OneHeap<Unused>::heap;

template <typename Unused>
Allocator *DefaultAllocator<Unused>::Default = &OneHeap<Unused>::heap.allocator;

} // namespace detail
} // namespace marl

#endif
