/* SPDX-License-Identifier: Apache-2.0 */
/* closure.h - any function object as a task of sennit, which is a function and
 * a pointer.
 *
 * A function object of at most the size of a pointer, for example a lambda that
 * captured one, is stored in the pointer itself. Any other one is constructed
 * in a block, and destroyed after it has run.
 */
#ifndef marl_detail_closure_h
#define marl_detail_closure_h

#include "blocks.h"
#include "system.h"

#include "sennit/task.h"

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace marl
{
namespace detail
{

template <typename F> struct FitsPointer {
	static constexpr bool value =
		std::is_trivially_copyable<F>::value &&
		std::is_trivially_destructible<F>::value &&
		sizeof(F) <= sizeof(void *) && alignof(F) <= alignof(void *);
};

/* In a block. make() returns the argument of run(), a sennit_task_fn. run() is
 * not noexcept: an exception that leaves a task ends the process, and sennit
 * names the task. */
template <typename F, bool fits = FitsPointer<F>::value> struct Closure {
	template <typename Given> static void *make(Given &&function)
	{
		Room  room;
		void *made = new (room.memory) F(std::forward<Given>(function));

		room.memory = nullptr;
		return made;
	}

	static void run(void *argument)
	{
		F *function = static_cast<F *>(argument);

		(*function)();
		function->~F();
		give(argument);
	}

private:
	static constexpr bool IS_ALIGNED = alignof(F) <=
					   alignof(std::max_align_t);
	static constexpr bool IS_SMALL = IS_ALIGNED &&
					 sizeof(F) <= Blocks::SIZE;

	static void *take()
	{
		if (IS_SMALL)
			return Blocks::take();
		if (IS_ALIGNED)
			return Blocks::heap(sizeof(F));

		void *memory = takeAligned(alignof(F), sizeof(F));

		require(memory != nullptr, "out of memory");
		return memory;
	}

	static void give(void *memory)
	{
		if (IS_SMALL)
			Blocks::give(memory);
		else if (IS_ALIGNED)
			std::free(memory);
		else
			giveAligned(memory);
	}

	/* Given back if the copy of the function throws. */
	struct Room {
		Room() = default;
		~Room()
		{
			if (memory)
				give(memory);
		}
		Room(const Room &) = delete;
		Room &operator=(const Room &) = delete;

		void *memory = take();
	};
};

/* In the pointer: its bytes are copied back into a function object. To read the
 * pointer as a function object would be undefined. */
template <typename F> struct Closure<F, true> {
	static void *make(const F &function)
	{
		void *argument = nullptr;

		std::memcpy(&argument, &function, sizeof(F));
		return argument;
	}

	static void run(void *argument)
	{
		union Copy {
			Copy()
			{
			}
			F function;
		} copy;

		std::memcpy(static_cast<void *>(&copy.function), &argument,
			    sizeof(F));
		copy.function();
	}
};

/* Pass the function to the scheduler, or to the bound one if `to` is NULL. */
template <typename Given>
inline void post(sennit_scheduler *to, Given &&function, uint32_t flags = 0)
{
	using Task = Closure<typename std::decay<Given>::type>;

	void *argument = Task::make(std::forward<Given>(function));
	int   error;

	if (!to && !flags) {
		error = sennit_schedule(Task::run, argument);
	} else {
		sennit_task task = {};

		task.run = Task::run;
		task.argument = argument;
		task.flags = flags;
		error = to ? sennit_schedule_task_on(to, &task)
			   : sennit_schedule_task(&task);
	}
	require(!error, "no memory for a task");
}

} // namespace detail
} // namespace marl

#endif
