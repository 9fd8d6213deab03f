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

#include <atomic>
#include <chrono>
#include <mutex>

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
	 * and leaves the event's list before it is destroyed. So there are no
	 * cycles, and locks are taken from the event to its followers. A lock
	 * is held for a few lines, which neither wait nor call the program. */
	struct Shared;

	struct Link {
		Link(const detail::Handle<Shared> &followed, Shared *following,
		     Link *before)
		    : source(followed), follower(following), older(before)
		{
		}

		const detail::Handle<Shared> source;
		Shared *const                follower;
		Link *const                  older; /* of the same follower */
		Link                        *next = nullptr; /* under
							      * source->lock */
		Link                       **at = nullptr;   /* the same */
	};

	struct Shared : detail::Counted {
		Shared(Allocator *allocator, Mode mode, bool signalled)
		    : Counted(allocator)
		{
			sennit_event_init(
				&native,
				(mode == Mode::Auto ? SENNIT_EVENT_AUTO
						    : SENNIT_EVENT_MANUAL) |
					(signalled ? SENNIT_EVENT_SET : 0));
		}
		~Shared()
		{
			while (sources) {
				Link *link = sources;

				sources = link->older;
				link->source->forget(link);
				allocator()->destroy(link);
			}
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
			sources = allocator()->template create<Link>(
				source, this, sources);
			source->add(sources);
			if (sennit_event_is_set(&source->native))
				signal();
		}

		void add(Link *link)
		{
			std::lock_guard<std::mutex> held(lock);

			link->at = last;
			*last = link;
			last = &link->next;
			is_followed.fetch_or(1, std::memory_order_acq_rel);
		}

		/* The lock keeps followers alive that are about to be
		 * destroyed. */
		void forward()
		{
			std::lock_guard<std::mutex> held(lock);

			for (Link *link = first; link; link = link->next)
				link->follower->signal();
		}

		void forget(Link *link)
		{
			std::lock_guard<std::mutex> held(lock);

			*link->at = link->next;
			(link->next ? link->next->at : last) = link->at;
			if (!first)
				is_followed.store(0, std::memory_order_relaxed);
		}

		sennit_event          native;
		std::atomic<unsigned> is_followed{
			0
		}; /* any; set under lock */
		std::mutex lock;
		Link      *first = nullptr;   /* under lock */
		Link     **last = &first;     /* under lock */
		Link      *sources = nullptr; /* its own links: before anyone
					       * else has it, and at its end */
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
