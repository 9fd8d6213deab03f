/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - tickets: turns that are called in the order in which they were
 * taken.
 *
 * The first ticket of a queue is called at once. Each other ticket is called
 * when all tickets that were taken before it are done. A ticket is done when
 * done() is called, or when its last copy is destroyed. It may outlive its
 * queue.
 */
#ifndef marl_ticket_h
#define marl_ticket_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "conditionvariable.h"
#include "mutex.h"
#include "pool.h"
#include "scheduler.h"

#include "detail/handle.h"

#include "sennit/event.h"

#include <functional>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace marl
{

class Ticket
{
	struct Line;
	struct Record;

public:
	using OnCall = std::function<void()>;

	class Queue
	{
	public:
		/* Take a ticket behind all that were taken. */
		inline Ticket take();

		/* Take n consecutive tickets and call f(Ticket &&) with
		 * each. */
		template <typename F> inline void take(size_t n, const F &f);

	private:
		detail::Handle<Line> line_ =
			detail::share<Line>(Allocator::Default);
	};

	/* A ticket of no queue, to be assigned to. */
	Ticket() = default;
	Ticket(const Ticket &) = default;
	Ticket(Ticket &&other)
	{
		record_.swap(other.record_);
	}
	Ticket &operator=(const Ticket &) = default;
	Ticket &operator=(Ticket &&other)
	{
		Ticket moved(std::move(other));

		record_.swap(moved.record_);
		return *this;
	}

	/* Wait until it is called. A ticket that was done before is not waited
	 * for. */
	inline void wait() const;

	/* Mark it as done, so that the next ticket is called. Only the first
	 * call counts. */
	inline void done() const;

	/* Schedule f() when it is called; at once if it has been called.
	 * Several functions run in the order in which they were passed. */
	template <typename F> inline void onCall(F &&f) const;

private:
	using Calls = std::list<OnCall>;

	/* The records of a queue that are not done, the oldest first. The lock
	 * is held for a few lines, which neither wait nor call the program: no
	 * function is copied, moved or destroyed there. */
	struct Line : detail::Counted {
		explicit Line(Allocator *allocator) : Counted(allocator)
		{
		}

		std::mutex lock;
		Record    *first = nullptr; /* under lock */
		Record    *last = nullptr;  /* under lock */
	};

	struct Record : detail::Counted {
		Record(Allocator *allocator, const detail::Handle<Line> &in)
		    : Counted(allocator), line(in)
		{
		}
		~Record()
		{
			done();
		}

		inline void done();

		/* This record is first: let waiters through. What is in `turn`
		 * is to be scheduled after the lock is released. */
		void call(Calls &turn)
		{
			is_called = true;
			sennit_event_set(&called);
			turn.swap(calls);
		}

		/* Under the lock: keep these calls until it is called. Returns
		 * whether it has been called already. */
		bool is_called_or_keeps(Calls &more)
		{
			std::lock_guard<std::mutex> held(line->lock);

			if (!is_called && !is_done)
				calls.splice(calls.end(), more);
			return is_called;
		}

		const detail::Handle<Line> line;

		sennit_event called = SENNIT_EVENT_INIT(0);
		Record      *next = nullptr;    /* under line->lock */
		Record      *prev = nullptr;    /* under line->lock */
		Calls        calls;             /* under line->lock */
		bool         is_called = false; /* under line->lock */
		bool         is_done = true;    /* under line->lock; also before
						 * it joins the line */
	};

	explicit Ticket(const detail::Handle<Record> &record) : record_(record)
	{
	}

	static void schedule(Calls &&turn)
	{
		if (turn.empty())
			return;

		struct All {
			Calls calls;

			void operator()() const
			{
				for (const OnCall &call : calls)
					call();
			}
		};

		marl::schedule(All{ std::move(turn) });
	}

	detail::Handle<Record> record_;
};

inline void Ticket::Record::done()
{
	Calls turn;

	{
		std::lock_guard<std::mutex> held(line->lock);

		if (is_done)
			return;
		is_done = true;
		sennit_event_set(&called);
		(prev ? prev->next : line->first) = next;
		(next ? next->prev : line->last) = prev;
		if (!prev && next)
			next->call(turn);
	}
	schedule(std::move(turn));
}

inline void Ticket::wait() const
{
	detail::Handle<Record> keep(record_);

	(void)!sennit_event_wait_until(&keep->called, SENNIT_UNCANCELLED);
}

inline void Ticket::done() const
{
	detail::Handle<Record> keep(record_);

	keep->done();
}

template <typename F> inline void Ticket::onCall(F &&f) const
{
	Calls call;

	if (record_->is_called_or_keeps(call)) {
		marl::schedule(std::forward<F>(f));
		return;
	}
	call.emplace_back(std::forward<F>(f));
	if (record_->is_called_or_keeps(call))
		schedule(std::move(call));
}

inline Ticket Ticket::Queue::take()
{
	Ticket ticket;

	take(1, [&](Ticket &&taken) { ticket = std::move(taken); });
	return ticket;
}

template <typename F> inline void Ticket::Queue::take(size_t n, const F &f)
{
	std::vector<Ticket> tickets;
	Calls               none;

	tickets.reserve(n);
	for (size_t i = 0; i < n; ++i)
		tickets.push_back(Ticket(
			detail::share<Record>(Allocator::Default, line_)));
	{
		std::lock_guard<std::mutex> held(line_->lock);

		for (const Ticket &ticket : tickets) {
			Record *record = ticket.record_.get();

			record->is_done = false;
			record->prev = line_->last;
			(line_->last ? line_->last->next
				     : line_->first) = record;
			line_->last = record;
		}
		if (n > 0 && line_->first == tickets[0].record_.get())
			line_->first->call(none);
	}
	for (Ticket &ticket : tickets)
		f(std::move(ticket));
}

} // namespace marl

#endif
#endif
