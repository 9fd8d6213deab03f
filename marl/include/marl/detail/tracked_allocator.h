/* SPDX-License-Identifier: Apache-2.0 */
/* tracked_allocator.h - an Allocator that counts its allocations. */
#ifndef marl_detail_tracked_allocator_h
#define marl_detail_tracked_allocator_h

#include "../memory.h"

#include <array>
#include <cstddef>
#include <mutex>

namespace marl
{

/* Counts the memory that was taken from another allocator and not given
 * back. */
class TrackedAllocator : public Allocator
{
public:
	struct UsageStats {
		size_t count = 0;
		size_t bytes = 0;
	};

	struct Stats {
		size_t numAllocations() const
		{
			size_t sum = 0;

			for (const UsageStats &usage : byUsage)
				sum += usage.count;
			return sum;
		}
		size_t bytesAllocated() const
		{
			size_t sum = 0;

			for (const UsageStats &usage : byUsage)
				sum += usage.bytes;
			return sum;
		}

		std::array<UsageStats, size_t(Allocation::Usage::Count)>
			byUsage;
	};

	TrackedAllocator(Allocator *allocator) : allocator_(allocator)
	{
	}

	Stats stats()
	{
		std::lock_guard<std::mutex> lock(mutex_);

		return stats_;
	}

	Allocation allocate(const Allocation::Request &request) override
	{
		{
			std::lock_guard<std::mutex> lock(mutex_);
			UsageStats                 &usage = of(request);

			usage.count++;
			usage.bytes += request.size;
		}
		return allocator_->allocate(request);
	}

	void free(const Allocation &allocation) override
	{
		{
			std::lock_guard<std::mutex> lock(mutex_);
			UsageStats &usage = of(allocation.request);

			detail::require(usage.count > 0 &&
						usage.bytes >=
							allocation.request.size,
					"TrackedAllocator::free() of what it "
					"did not allocate");
			usage.count--;
			usage.bytes -= allocation.request.size;
		}
		allocator_->free(allocation);
	}

private:
	UsageStats &of(const Allocation::Request &request)
	{
		return stats_.byUsage[size_t(request.usage)];
	}

	Allocator *const allocator_;
	std::mutex       mutex_;
	Stats            stats_;
};

} // namespace marl

#endif
