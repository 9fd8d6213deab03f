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

inline void begin(sennit_wait_group *)
{
}

template <typename F, typename... Others>
inline void begin(sennit_wait_group *left, const F &f, const Others &...others)
{
	schedule([left, f] {
		f();
		sennit_wait_group_done(left);
	});
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
