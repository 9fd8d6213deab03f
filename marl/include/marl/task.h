/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a function to run, with flags. */
#ifndef marl_task_h
#define marl_task_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "export.h"

#include <functional>
#include <utility>

namespace marl
{

class Task
{
public:
	using Function = std::function<void()>;

	enum class Flags {
		None = 0,
		SameThread = 1 /* run on the thread that schedules it */
	};

	Task() = default;
	Task(const Task &) = default;
	Task(Task &&other) = default;
	Task(const Function &f, Flags how = Flags::None)
	    : function(f), flags(how)
	{
	}
	Task(Function &&f, Flags how = Flags::None)
	    : function(std::move(f)), flags(how)
	{
	}
	Task &operator=(const Task &) = default;
	Task &operator=(Task &&) = default;
	Task &operator=(const Function &f)
	{
		return *this = Task(f);
	}
	Task &operator=(Function &&f)
	{
		return *this = Task(std::move(f));
	}

	/* Whether there is a function to run. */
	operator bool() const
	{
		return static_cast<bool>(function);
	}
	void operator()() const
	{
		function();
	}
	bool is(Flags flag) const
	{
		int bits = static_cast<int>(flag);

		return (static_cast<int>(flags) & bits) == bits;
	}

private:
	Function function;
	Flags    flags = Flags::None;
};

} // namespace marl

#endif
#endif
