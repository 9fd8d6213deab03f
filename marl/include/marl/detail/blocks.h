/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - memory for functions that cannot be copied as bytes.
 *
 * All blocks have one size. Each thread has a short list of its own. If one
 * thread makes functions that others run, lists travel through a depot, BATCH
 * blocks at a time, so the depot's lock is taken once for each batch.
 *
 *	take() <-- thread's list --> give()
 *	               ^  |
 *	     one batch |  | one batch, when 2 * BATCH are there
 *	               |  v
 *	             the depot
 *
 * A thread's list is freed when the thread ends, the depot when the last
 * scheduler ends. Under AddressSanitizer there are no lists, so that it detects
 * every use after free; nor where a thread's variables end too early.
 */
#ifndef marl_detail_blocks_h
#define marl_detail_blocks_h

#include "../debug.h"
#include "../export.h"
#include "../sanitizers.h"
#include "system.h"

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

namespace marl
{
namespace detail
{

class MARL_OWN Blocks
{
public:
	static constexpr size_t SIZE = 64;
	static constexpr bool   HAS_LISTS = !MARL_ADDRESS_SANITIZER_ENABLED &&
					  THREAD_LOCALS_LAST;

	static void *take()
	{
		if (!HAS_LISTS)
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
		if (!HAS_LISTS)
			return std::free(memory);

		Own &own = mine();

		if (!is_open(own))
			return std::free(memory);

		Block *block = new (memory) Block; /* another object from now
						    * on */

		block->next = own.first;
		own.first = block;
		if (++own.count == 2 * BATCH)
			depot().store(own);
	}

	/* Memory of any size, which is to be freed. */
	static void *heap(size_t size)
	{
		void *memory = std::malloc(size);

		require(memory != nullptr, "out of memory");
		return memory;
	}

	/* A scheduler begins or ends: see above. */
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

	/* All bytes zero at first, so that a thread need not initialise it. */
	struct Own {
		Block   *first;
		unsigned count;
		State    state;
	};

	class Depot
	{
	public:
		/* Fill an empty list. Returns false if there is no batch. */
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

		/* Take one batch out of a list of two. */
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

	/* Return whether the thread has a list. It has none when it is about to
	 * end. */
	static bool is_open(Own &own)
	{
		return own.state == OPEN || (own.state == NEW && open(own));
	}

	static bool open(Own &own)
	{
		MARL_ENDS_LATE_BEGIN
		static thread_local Closer closer{ &own };
		(void)closer;
		MARL_ENDS_LATE_END

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
