/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - the default allocator: the heap, or mapped pages between two pages
 * that fault.
 */
#ifndef marl_detail_heap_h
#define marl_detail_heap_h

#include "../memory.h"

#include <sys/mman.h>

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
		if (!allocation.request.useGuards)
			return std::free(allocation.ptr);
		munmap(static_cast<char *>(allocation.ptr) - pageSize(),
		       inside(allocation.request) + 2 * pageSize());
	}

private:
	static void *heap(const Allocation::Request &request)
	{
		void *memory = nullptr;

		if (request.alignment <= alignof(std::max_align_t))
			return std::malloc(request.size ? request.size : 1);
		if (posix_memalign(&memory, request.alignment, request.size))
			return nullptr;
		return memory;
	}

	static size_t inside(const Allocation::Request &request)
	{
		return alignUp(request.size ? request.size : 1, pageSize());
	}

	static void *map(const Allocation::Request &request)
	{
		size_t page = pageSize();
		size_t size = inside(request);
		void  *all = mmap(nullptr, size + 2 * page, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		require(request.alignment <= page,
			"guarded memory is aligned to a page at most");
		if (all == MAP_FAILED)
			return nullptr;
		char *memory = static_cast<char *>(all) + page;
		if (mprotect(memory, size, PROT_READ | PROT_WRITE)) {
			munmap(all, size + 2 * page);
			return nullptr;
		}
		return memory;
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
	MARL_EXPORT static Heap heap;
};
template <typename Unused> Heap OneHeap<Unused>::heap;

template <typename Unused>
Allocator *DefaultAllocator<Unused>::Default = &OneHeap<Unused>::heap.allocator;

} // namespace detail
} // namespace marl

#endif
