/* SPDX-License-Identifier: Apache-2.0 */
/* parallelize.h - runs several functions at the same time. */
#ifndef marl_parallelize_h
#define marl_parallelize_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "scheduler.h"
#include "waitgroup.h"

#include "sennit/wait_group.h"

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

inline void begin(sennit_wait_group *)
{
}

template <typename F, typename... Others>
inline void begin(sennit_wait_group *left, const F &f, const Others &...others)
{
	schedule(Branch<F>(left, f));
	begin(left, others...);
}

} // namespace detail

/* Schedule copies of all functions except the first, call the first here, and
 * wait until all have returned. */
template <typename First, typename... Others>
inline void parallelize(First &&first, Others &&...others)
{
	sennit_wait_group left;

	sennit_wait_group_init(&left, sizeof...(Others));
	detail::begin(&left, others...);
	first();
	sennit_wait_group_wait(&left);
}

} // namespace marl

#endif
#endif
