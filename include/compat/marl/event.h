/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - an event: a flag that tasks and threads can wait for.
 *
 * Copies share one event, so capture it by value.
 */
#ifndef marl_event_h
#define marl_event_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "conditionvariable.h"
#include "containers.h"
#include "export.h"
#include "memory.h"

#include "detail/deadline.h"
#include "detail/handle.h"

#include "sennit/event.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace marl
{

class Event
{
public:
	enum class Mode : uint8_t {
		Auto,  /* lets one waiter through and clears itself */
		Manual /* lets all waiters through until it is cleared */
	};

	Event(Mode mode = Mode::Auto, bool initialState = false,
	      Allocator *allocator = Allocator::Default)
	    : shared_(detail::share<Shared>(allocator, mode, initialState))
	{
	}

	/* Signal the event: let one waiter through, or the next caller; for a
	 * Manual event, let all through. */
	void signal() const
	{
		/* A released waiter may destroy the last other copy at once. */
		detail::Handle<Shared> keep(shared_);

		keep->signal();
	}

	/* Clear the event: it is no longer signalled. */
	void clear() const
	{
		sennit_event_clear(&shared_->native);
	}

	/* Wait until it is signalled. */
	void wait() const
	{
		(void)!sennit_event_wait_until(&shared_->native,
					       SENNIT_UNCANCELLED);
	}

	/* Wait at most this long. Returns whether it was signalled. */
	template <typename Rep, typename Period>
	bool wait_for(const std::chrono::duration<Rep, Period> &duration) const
	{
		return wait(detail::after(duration));
	}

	/* Wait at most until this time of any clock. Returns whether it was
	 * signalled. */
	template <typename Clock, typename Duration>
	bool wait_until(
		const std::chrono::time_point<Clock, Duration> &timeout) const
	{
		return wait(detail::until(timeout));
	}

	/* Return whether it is signalled. An Auto event is cleared. */
	bool test() const
	{
		return wait(sennit_time(0));
	}

	/* Return whether it is signalled. The event does not change. */
	bool isSignalled() const
	{
		return sennit_event_is_set(&shared_->native);
	}

	/* Return an event that is signalled whenever one of these events is,
	 * and at once if one of them is signalled now. It does not take their
	 * signals from other waiters. When its last copy is destroyed, it
	 * leaves the events. */
	template <typename Iterator>
	static Event any(Mode mode, const Iterator &begin, const Iterator &end)
	{
		Event result(mode);

		for (Iterator it = begin; it != end; ++it)
			result.shared_->follow((*it).shared_);
		return result;
	}

	template <typename Iterator>
	static Event any(const Iterator &begin, const Iterator &end)
	{
		return any(Mode::Auto, begin, end);
	}

private:
	/* An event signals its followers. Each follower keeps the event alive
	 * and removes itself from the event's list before it is destroyed. So
	 * there are no cycles, and locks are taken from the event to its
	 * followers. */
	struct Shared : detail::Counted {
		Shared(Allocator *allocator, Mode mode, bool signalled)
		    : Counted(allocator), followers(allocator),
		      sources(allocator)
		{
			sennit_event_init(&native,
					  mode == Mode::Auto
						  ? SENNIT_EVENT_AUTO
						  : SENNIT_EVENT_MANUAL,
					  signalled);
		}
		~Shared()
		{
			for (detail::Handle<Shared> &source : sources)
				source->forget(this);
		}

		/* This call reads is_followed after the event is set; a
		 * follower reads the event after is_followed is set. Both
		 * change the word, so one of them is second and sees the
		 * other's change. */
		void signal()
		{
			sennit_event_set(&native);
			if (is_followed.fetch_or(0, std::memory_order_acq_rel))
				forward();
		}

		void follow(const detail::Handle<Shared> &source)
		{
			sources.push_back(source);
			{
				marl::lock held(source->lock);

				source->followers.push_back(this);
				source->is_followed.fetch_or(
					1, std::memory_order_acq_rel);
			}
			if (sennit_event_is_set(&source->native))
				signal();
		}

		/* The lock keeps followers alive that are about to be
		 * destroyed. */
		void forward()
		{
			marl::lock held(lock);

			for (Shared *follower : followers)
				follower->signal();
		}

		void forget(const Shared *follower)
		{
			marl::lock held(lock);
			Shared   **last = followers.end() - 1;

			*std::find(followers.begin(), last, follower) = *last;
			followers.pop_back();
			if (followers.size() == 0)
				is_followed.store(0, std::memory_order_relaxed);
		}

		sennit_event          native;
		std::atomic<unsigned> is_followed{
			0
		}; /* any; set under lock */
		mutex lock;

		containers::vector<Shared *, 1>               followers;
		containers::vector<detail::Handle<Shared>, 1> sources;
	};

	bool wait(sennit_time deadline) const
	{
		return !sennit_event_wait_until(&shared_->native, deadline);
	}

	detail::Handle<Shared> shared_;
};

} // namespace marl

#endif
#endif
