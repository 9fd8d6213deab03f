/* SPDX-License-Identifier: Apache-2.0 */
/* waitgroup.h - a wait group: a counter that tasks and threads wait on until it
 * is zero.
 *
 * Copies share one count, so capture it by value.
 */
#ifndef marl_waitgroup_h
#define marl_waitgroup_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "conditionvariable.h"
#include "debug.h"
#include "memory.h"

#include "detail/handle.h"

#include "sennit/wait_group.h"

namespace marl
{
namespace detail
{

/* A wait group of this frame. The end of its scope waits for all that count, as
 * they refer to the frame: also if an exception leaves it. */
struct Joined {
	Joined()
	{
		sennit_wait_group_init(&left, 0);
	}
	~Joined()
	{
		sennit_wait_group_wait(&left);
	}
	Joined(const Joined &) = delete;
	Joined &operator=(const Joined &) = delete;

	sennit_wait_group left;
};

} // namespace detail

class WaitGroup
{
public:
	WaitGroup(unsigned int initialCount = 0,
		  Allocator   *allocator = Allocator::Default)
	    : shared_(detail::share<Shared>(allocator, initialCount))
	{
	}

	/* Add to the count, which is at most SENNIT_WAIT_GROUP_MAX. */
	void add(unsigned int count = 1) const
	{
		sennit_wait_group_add(&shared_->native, count);
	}

	/* Subtract one from the count, which must be above zero. Returns
	 * whether the count became zero, which releases all waiters. */
	bool done() const
	{
		return sennit_wait_group_done(&shared_->native);
	}

	/* Wait until the count is zero. */
	void wait() const
	{
		sennit_wait_group_wait(&shared_->native);
	}

private:
	struct Shared : detail::Counted {
		Shared(Allocator *allocator, unsigned int count)
		    : Counted(allocator)
		{
			sennit_wait_group_init(&native, count);
		}

		sennit_wait_group native;
	};

	detail::Handle<Shared> shared_;
};

} // namespace marl

#endif
#endif
