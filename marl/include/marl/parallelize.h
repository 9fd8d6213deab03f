/* SPDX-License-Identifier: Apache-2.0 */
/* parallelize.h - runs several functions at the same time. */
#ifndef marl_parallelize_h
#define marl_parallelize_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "scheduler.h"
#include "waitgroup.h"

#include <utility>

namespace marl
{
namespace detail
{

/* A copy of one of the functions, as a task. When it is destroyed, the function
 * is destroyed first and counted after that. */
template <typename F> struct Branch {
	struct Count {
		explicit Count(sennit_wait_group *g) : left(g)
		{
		}
		Count(Count &&other) noexcept : left(other.left)
		{
			other.left = nullptr;
		}
		~Count()
		{
			if (left)
				sennit_wait_group_done(left);
		}

		sennit_wait_group *left;
	};

	Branch(sennit_wait_group *g, const F &function) : count(g), f(function)
	{
	}
	void operator()()
	{
		f();
	}

	Count count;
	F     f;
};

/* The count of the functions that have not returned. If an exception leaves the
 * call they go on, as in marl: so it is not in the caller's frame, and a task
 * gives it back after the last one. */
class Together
{
public:
	explicit Together(unsigned int count)
	    : left_(static_cast<sennit_wait_group *>(Blocks::take())),
	      unbegun_(count)
	{
		sennit_wait_group_init(left_, count);
	}
	~Together()
	{
		sennit_wait_group *left = left_;

		if (!left)
			return;
		for (; unbegun_ > 0; --unbegun_)
			sennit_wait_group_done(left);
		schedule([left] { end(left); });
	}
	Together(const Together &) = delete;
	Together &operator=(const Together &) = delete;

	/* For one more, which counts itself from here on. */
	sennit_wait_group *next()
	{
		--unbegun_;
		return left_;
	}
	void wait()
	{
		end(left_);
		left_ = nullptr;
	}

private:
	static void end(sennit_wait_group *left)
	{
		sennit_wait_group_wait(left);
		Blocks::give(left);
	}

	sennit_wait_group *left_;
	unsigned int       unbegun_;
};

static_assert(sizeof(sennit_wait_group) <= Blocks::SIZE, "in a block");

inline void begin(Together &)
{
}

/* A copy that throws has counted itself. */
template <typename F, typename... Others>
inline void begin(Together &all, const F &f, const Others &...others)
{
	schedule(Branch<F>(all.next(), f));
	begin(all, others...);
}

} // namespace detail

/* Schedule copies of all functions except the first, call the first here, and
 * wait until all have returned. If the first or a copy throws, the exception
 * leaves the call at once, and those that were scheduled go on. */
template <typename First, typename... Others>
inline void parallelize(First &&first, Others &&...others)
{
	detail::Together all(sizeof...(Others));

	detail::begin(all, others...);
	first();
	all.wait();
}

} // namespace marl

#endif
#endif
