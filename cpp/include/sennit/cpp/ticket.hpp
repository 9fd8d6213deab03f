/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.hpp - ticket.h with tickets whose destructor marks them as done.
 */
#ifndef SENNIT_CPP_TICKET_HPP
#define SENNIT_CPP_TICKET_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/ticket.h"

SENNIT_CPP_BEGIN

/* A queue. It must exist until all its tickets are done. */
class ticket_queue
{
public:
	constexpr ticket_queue() noexcept = default;
	ticket_queue(const ticket_queue &) = delete;
	ticket_queue &operator=(const ticket_queue &) = delete;

	sennit_ticket_queue *native_handle() noexcept
	{
		return &q_;
	}

private:
	sennit_ticket_queue q_ = SENNIT_TICKET_QUEUE_INIT;
};

/* A turn, taken by the constructor. The queue stores the address of the ticket,
 * so it can be neither copied nor moved. Hold it by a pointer to pass it on. */
class ticket
{
public:
	explicit ticket(ticket_queue &q) noexcept
	{
		sennit_ticket_queue_take(q.native_handle(), &t_);
	}
	ticket(const ticket &) = delete;
	ticket &operator=(const ticket &) = delete;
	~ticket()
	{
		if (taken_)
			done();
	}

	bool is_due() const noexcept
	{
		return sennit_ticket_is_due(&t_);
	}
	void wait()
	{
		detail::for_ever(sennit_ticket_wait_until, &t_);
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_ticket_wait_until, &t_) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool wait_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_ticket_wait_until, &t_) == 0;
	}

	/* Run f() as a task on the bound scheduler when this ticket is due. f,
	 * or a task that f leaves it to, must mark the ticket as done. The
	 * ticket must exist until then. */
	template <typename F> void on_call(F &&f)
	{
		call_when_due(detail::make_call(std::forward<F>(f)));
	}

	/* Mark the ticket, due or not, as done. */
	void done() noexcept
	{
		taken_ = false; /* the call below may free *this */
		sennit_ticket_done(&t_);
	}

	sennit_ticket *native_handle() noexcept
	{
		return &t_;
	}

private:
	template <typename F> void call_when_due(F &&f)
	{
		using callable = std::decay_t<F>;
		void *argument;
		int   err = detail::pack<callable>(nullptr, std::forward<F>(f),
                                                 argument);

		if (!err) {
			err = sennit_ticket_on_call(&t_, detail::run<callable>,
						    argument);
			if (err)
				detail::drop<callable>(nullptr, argument);
		}
		detail::check(err, "on_call");
	}

	sennit_ticket t_;
	bool          taken_ = true;
};

SENNIT_CPP_END

#endif
