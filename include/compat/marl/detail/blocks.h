/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - memory for functions that cannot be copied byte by byte.
 *
 * Blocks of one size. Each thread has a short list of its own; where a thread
 * makes what others run, lists travel through a depot, BATCH blocks at a time,
 * so its lock is taken once for that many.
 *
 *	take() <-- thread's list --> give()
 *	               ^  |
 *	     one batch |  | one batch, when 2 * BATCH are there
 *	               |  v
 *	             the depot
 *
 * A thread's list is freed when the thread ends, the depot when the last
 * scheduler ends. Under AddressSanitizer, which is to see every use after free,
 * there are no lists.
 */
#ifndef marl_detail_blocks_h
#define marl_detail_blocks_h

#include "../debug.h"
#include "../export.h"
#include "../sanitizers.h"

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

namespace marl
{
namespace detail
{

class MARL_EXPORT Blocks
{
public:
	static constexpr size_t SIZE = 64;

	static void *take()
	{
		if (MARL_ADDRESS_SANITIZER_ENABLED)
			return heap(SIZE);

		Own &own = mine();

		if (!own.first && !(is_open(own) && depot().fetch(own)))
			return heap(SIZE);

		Block *block = own.first;

		own.first = block->next;
		own.count--;
		return block;
	}

	static void give(void *memory)
	{
		if (MARL_ADDRESS_SANITIZER_ENABLED)
			return std::free(memory);

		Own &own = mine();

		if (!is_open(own))
			return std::free(memory);

		Block *block = new (memory) Block; /* not what it was */

		block->next = own.first;
		own.first = block;
		if (++own.count == 2 * BATCH)
			depot().store(own);
	}

	/* Memory of any size, to be freed. */
	static void *heap(size_t size)
	{
		void *memory = std::malloc(size);

		require(memory != nullptr, "out of memory");
		return memory;
	}

	/* A scheduler begins, or ends: see above. */
	static void retain()
	{
		depot().retain();
	}
	static void release()
	{
		depot().release();
	}

private:
	static constexpr unsigned BATCH = 64;

	struct Block {
		Block *next;       /* of a list */
		Block *next_batch; /* of the depot, in a batch's first block */
	};

	enum State : unsigned char { NEW = 0, OPEN, CLOSED };

	/* Zero to begin with, so that a thread need not set it up. */
	struct Own {
		Block   *first;
		unsigned count;
		State    state;
	};

	class Depot
	{
	public:
		constexpr Depot() = default;

		/* Fill an empty list; false: there is nothing. */
		bool fetch(Own &own)
		{
			std::lock_guard<std::mutex> lock(mutex_);
			Block                      *batch = batches_;

			if (!batch)
				return false;
			batches_ = batch->next_batch;
			own.first = batch;
			own.count = count(batch);
			return true;
		}

		/* Take a batch out of a list of two. */
		void store(Own &own)
		{
			Block *batch = own.first;
			Block *last = batch;

			for (own.count--; own.count > BATCH; own.count--)
				last = last->next;
			std::lock_guard<std::mutex> lock(mutex_);
			own.first = last->next;
			last->next = nullptr;
			batch->next_batch = batches_;
			batches_ = batch;
		}

		void retain()
		{
			std::lock_guard<std::mutex> lock(mutex_);

			schedulers_++;
		}

		void release()
		{
			std::lock_guard<std::mutex> lock(mutex_);

			if (--schedulers_ > 0)
				return;
			while (Block *batch = batches_) {
				batches_ = batch->next_batch;
				while (Block *block = batch) {
					batch = block->next;
					std::free(block);
				}
			}
		}

	private:
		static unsigned count(const Block *list)
		{
			unsigned n = 0;

			for (; list; list = list->next)
				n++;
			return n;
		}

		std::mutex mutex_;
		Block     *batches_ = nullptr; /* under mutex_ */
		unsigned   schedulers_ = 0;    /* under mutex_ */
	};

	/* Empties the list when its thread ends. */
	struct Closer {
		Own *own;

		~Closer()
		{
			own->state = CLOSED;
			while (Block *block = own->first) {
				own->first = block->next;
				std::free(block);
			}
			own->count = 0;
		}
	};

	static Own &mine()
	{
		static thread_local Own own;

		return own;
	}

	/* Whether the thread has a list; not when it is about to end. */
	static bool is_open(Own &own)
	{
		return own.state == OPEN || (own.state == NEW && open(own));
	}

	static bool open(Own &own)
	{
		static thread_local Closer closer{ &own };

		(void)closer;
		own.state = OPEN;
		return true;
	}

	static Depot &depot()
	{
		static Depot one;

		return one;
	}
};

} // namespace detail
} // namespace marl

#endif
