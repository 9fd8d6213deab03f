/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - a sennit_config from a Scheduler::Config. */
#ifndef marl_detail_config_h
#define marl_detail_config_h

#include "../containers.h"
#include "../memory.h"
#include "../sanitizers.h"
#include "../thread.h"

#include "sennit/scheduler.h"

namespace marl
{
namespace detail
{

/* The CPUs that each worker may use. */
class Masks
{
public:
	Masks(int workers, const Thread::Affinity::Policy &policy,
	      Allocator *allocator)
	{
		for (int i = 0; i < workers; ++i)
			add(policy.get(static_cast<uint32_t>(i), allocator));
		for (size_t i = 0; i < masks_.size(); ++i)
			masks_[i].cpus = cpus_[i].data();
	}

	const sennit_cpu_mask *data() const
	{
		return masks_.data();
	}

private:
	using Cpus = containers::vector<uint32_t, 8>;

	/* A worker without an existing CPU could not run. */
	void add(const Thread::Affinity &wanted)
	{
		Cpus cpus;

		take(wanted, cpus);
		if (cpus.size() == 0)
			take(all_, cpus);
		masks_.push_back(sennit_cpu_mask{ nullptr, cpus.size() });
		cpus_.push_back(cpus);
	}

	void take(const Thread::Affinity &from, Cpus &to) const
	{
		for (size_t i = 0; i < from.count(); ++i)
			for (size_t k = 0; k < all_.count(); ++k)
				if (from[i] == all_[k])
					to.push_back(from[i].pthread.index);
	}

	const Thread::Affinity all_ = Thread::Affinity::all();

	containers::vector<sennit_cpu_mask, 8> masks_;
	containers::vector<Cpus, 8>            cpus_;
};

/* An Allocator for sennit. When sennit frees memory it passes less than an
 * Allocator needs. So the alignment follows from the size, and is never less
 * than sennit asks for. */
struct NativeAllocator {
	static void *allocate(void *from, size_t size, size_t alignment)
	{
		const Allocation::Request wanted = request(size);

		require(alignment <= wanted.alignment,
			"an alignment that was not foreseen");
		return static_cast<Allocator *>(from)->allocate(wanted).ptr;
	}

	static void release(void *to, void *memory, size_t size)
	{
		Allocation allocation;

		allocation.ptr = memory;
		allocation.request = request(size);
		static_cast<Allocator *>(to)->free(allocation);
	}

private:
	static constexpr size_t LEAST = 128;
	static constexpr size_t MOST = 4096;

	/* Whole pages are aligned as pages. */
	static size_t alignment_of(size_t size)
	{
		const size_t divisor = size & (~size + 1);

		return divisor < LEAST  ? LEAST
		       : divisor > MOST ? MOST
					: divisor;
	}

	static Allocation::Request request(size_t size)
	{
		Allocation::Request r;

		r.size = size;
		r.alignment = alignment_of(size);
		r.usage = Allocation::Usage::Create;
		return r;
	}
};

inline sennit_allocator native(Allocator *allocator)
{
	return { NativeAllocator::allocate, NativeAllocator::release,
		 allocator };
}

inline size_t stack_size(size_t wanted)
{
	const size_t least = MARL_ADDRESS_SANITIZER_ENABLED ||
					     MARL_THREAD_SANITIZER_ENABLED
				     ? 256 * 1024
				     : 16 * 1024;

	return wanted < least ? least : wanted;
}

} // namespace detail
} // namespace marl

#endif
