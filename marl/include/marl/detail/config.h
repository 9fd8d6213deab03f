/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - a sennit_config from a Scheduler::Config. */
#ifndef marl_detail_config_h
#define marl_detail_config_h

#include "../containers.h"
#include "../memory.h"
#include "../sanitizers.h"
#include "../thread.h"

#include "sennit/scheduler.h"

#include <memory>
#include <new>

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

/* An Allocator for sennit. An Allocator need not align by more than MOST, which
 * is all that marl asks for. So each block is larger than what sennit wants,
 * and aligned inside. Where the block begins is stored before sennit's part;
 * how large it is follows from sennit's size, because sennit passes only that
 * when it frees the memory.
 *
 *	| ... | Start | what sennit wants | ... |
 *	begin         aligned
 */
struct NativeAllocator {
	static void *allocate(void *from, size_t size, size_t alignment)
	{
		const Allocation::Request wanted = request(size);

		require(alignment <= MOST_WANTED,
			"an alignment that was not foreseen");

		void *begin =
			static_cast<Allocator *>(from)->allocate(wanted).ptr;

		if (!begin)
			return nullptr;

		size_t       spare = wanted.size - sizeof(Start);
		void        *aligned = static_cast<Start *>(begin) + 1;
		const size_t step = alignment_of(size);

		require(std::align(step, size, aligned, spare) != nullptr,
			"a block without room to align");
		new (static_cast<Start *>(aligned) - 1) Start{ begin };
		return aligned;
	}

	static void release(void *to, void *memory, size_t size)
	{
		Allocation allocation;

		allocation.ptr = (static_cast<Start *>(memory) - 1)->begin;
		allocation.request = request(size);
		static_cast<Allocator *>(to)->free(allocation);
	}

private:
	static constexpr size_t MOST = 16;
	static constexpr size_t LEAST_WANTED = 128;
	static constexpr size_t MOST_WANTED = 4096;

	struct Start {
		void *begin;
	};

	/* How sennit's block is aligned, which follows from its size and is
	 * never less than sennit asks for. Whole pages are aligned as pages. */
	static size_t alignment_of(size_t size)
	{
		const size_t divisor = size & (~size + 1);

		return divisor < LEAST_WANTED  ? LEAST_WANTED
		       : divisor > MOST_WANTED ? MOST_WANTED
					       : divisor;
	}

	static Allocation::Request request(size_t size)
	{
		Allocation::Request r;

		r.size = size + alignment_of(size) + sizeof(Start);
		r.alignment = MOST;
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
