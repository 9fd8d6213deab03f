/* SPDX-License-Identifier: Apache-2.0 */
/* weak.hpp - end.h: weak handles to schedulers, and calls at a scheduler's end.
 */
#ifndef SENNIT_CPP_WEAK_HPP
#define SENNIT_CPP_WEAK_HPP

#include "sennit/cpp/domain.hpp"
#include "sennit/end.h"

SENNIT_CPP_BEGIN

/* A weak handle, or none. */
class weak_scheduler
    : public detail::handle<sennit_weak_scheduler, sennit_weak_scheduler_retain,
			    sennit_weak_scheduler_release>
{
public:
	weak_scheduler() noexcept = default;

	/* Construct a weak handle to s, which may be none. */
	explicit weak_scheduler(const scheduler &s) noexcept
	    : handle(s ? sennit_scheduler_weak(s.get()) : nullptr)
	{
	}
	/* Return a reference, or none if the scheduler has ended. */
	scheduler lock() const noexcept
	{
		sennit_scheduler *s;

		if (!object_ || sennit_weak_scheduler_lock(object_, &s))
			return scheduler();
		return scheduler::adopt(s);
	}

	/* Call f() when the scheduler has ended; at once if it has ended
	 * already. Throws std::bad_alloc. */
	template <typename F> void on_end(F &&f) const
	{
		sennit_weak_scheduler *const weak = detail::needed(
			object_, "sennit::weak_scheduler::on_end",
			"the sennit::weak_scheduler is empty: made by default, "
			"of no scheduler, or moved from");
		auto made = detail::make_told(std::forward<F>(f));
		using callable = typename decltype(made)::element_type;

		detail::check(sennit_weak_scheduler_on_end(
				      weak, detail::tell<callable>, made.get()),
			      "on_end");
		static_cast<void>(made.release());
	}
};

SENNIT_CPP_END

#endif
