/* SPDX-License-Identifier: Apache-2.0 */
/* closure.h - any function object as a task of sennit.
 *
 * What is plain bytes, such as a lambda that captured pointers and numbers,
 * travels in the scheduler's own copy: up to SENNIT_COPY_SMALL bytes of it
 * without any allocation. Anything else, such as a lambda that captured a
 * WaitGroup by value, is made in a block, and destroyed when it has run.
 */
#ifndef marl_detail_closure_h
#define marl_detail_closure_h

#include "blocks.h"

#include "sennit/task.h"

#include <new>
#include <type_traits>
#include <utility>

namespace marl
{
namespace detail
{

/* Of the copy that sennit makes. */
constexpr size_t COPY_ALIGNMENT = 16;

template <typename F> struct IsPlain {
	static constexpr bool value =
		std::is_trivially_copyable<F>::value &&
		std::is_trivially_destructible<F>::value &&
		alignof(F) <= COPY_ALIGNMENT;
};

/* A function made of bytes. An exception that leaves a task ends the process,
 * as one that leaves a thread does. */
template <typename F, bool plain = IsPlain<F>::value> class Closure
{
public:
	template <typename Given>
	explicit Closure(Given &&function)
	    : function_(std::forward<Given>(function))
	{
	}

	/* Fill in the function and its argument; *this must live until sennit
	 * has got the task. */
	void put_into(sennit_task &task)
	{
		task.run = run;
		task.argument = &function_;
		task.copy_size = sizeof(F);
	}

private:
	static void run(void *argument) noexcept
	{
		(*static_cast<F *>(argument))();
	}

	F function_;
};

/* Any other. */
template <typename F> class Closure<F, false>
{
public:
	template <typename Given>
	explicit Closure(Given &&function)
	    : function_(new (take()) F(std::forward<Given>(function)))
	{
	}

	void put_into(sennit_task &task)
	{
		task.run = run;
		task.argument = function_;
	}

private:
	static constexpr bool FITS = sizeof(F) <= Blocks::SIZE &&
				     alignof(F) <= alignof(std::max_align_t);

	static void *take()
	{
		void *memory = nullptr;

		if (FITS)
			return Blocks::take();
		if (alignof(F) <= alignof(std::max_align_t))
			return Blocks::heap(sizeof(F));
		require(!posix_memalign(&memory, alignof(F), sizeof(F)),
			"out of memory");
		return memory;
	}

	static void give(void *memory)
	{
		if (FITS)
			Blocks::give(memory);
		else
			std::free(memory);
	}

	static void run(void *argument) noexcept
	{
		F *function = static_cast<F *>(argument);

		(*function)();
		function->~F();
		give(function);
	}

	F *function_;
};

/* Hand the function over: to the scheduler, or to the bound one (NULL). */
template <typename Given>
inline void post(sennit_scheduler *to, Given &&function, uint32_t flags = 0)
{
	Closure<typename std::decay<Given>::type> closure(
		std::forward<Given>(function));
	sennit_task task = {};

	task.flags = flags;
	closure.put_into(task);
	require(!(to ? sennit_enqueue(to, &task) : sennit_schedule_task(&task)),
		"no memory for a task");
}

} // namespace detail
} // namespace marl

#endif
