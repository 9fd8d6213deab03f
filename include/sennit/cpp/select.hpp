/* SPDX-License-Identifier: Apache-2.0 */
/* select.hpp - select.h for objects: wait for the first of several cases, each
 * with a function.
 *
 *	sennit::select(
 *		sennit::on_receive(jobs, [&](auto job) { ... }),
 *		sennit::on_event(quit, [&] { running = false; }));
 */
#ifndef SENNIT_CPP_SELECT_HPP
#define SENNIT_CPP_SELECT_HPP

#include "sennit/cpp/channel.hpp"
#include "sennit/cpp/event.hpp"
#include "sennit/select.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

namespace sennit
{

namespace detail
{

template <typename T, typename F> struct receive_case {
	channel<T>                          &from;
	F                                    f;
	room<typename detail::wire<T>::form> value{};

	sennit_case arm()
	{
		return sennit_case_receive(from.native_handle(), &value.value);
	}
	void happened(int err)
	{
		if (err)
			std::invoke(f, received<T>(channel_status_of(err)));
		else
			std::invoke(f,
				    received<T>(wire<T>::unpack(value.value)));
	}
};

template <typename T, typename F> struct send_case {
	channel<T>              &to;
	T                       &value;
	F                        f;
	std::optional<packed<T>> bytes{};

	sennit_case arm()
	{
		bytes.emplace(std::move(value));
		return sennit_case_send(to.native_handle(), bytes->bytes());
	}
	void happened(int err)
	{
		bytes->sent(err);
		bytes.reset();
		std::invoke(f, channel_status_of(err));
	}
};

template <typename F> struct event_case {
	event &e;
	F      f;

	sennit_case arm()
	{
		return sennit_case_event(e.native_handle());
	}
	void happened(int)
	{
		std::invoke(f);
	}
};

/* Pass the result to the case with the index that the select stored. */
template <std::size_t... I, typename... Cases>
void tell(std::index_sequence<I...>, std::size_t which, int result,
	  Cases &...cases)
{
	static_cast<void>(
		((I == which && (cases.happened(result), true)) || ...));
}

template <typename Wait, typename... Cases>
std::optional<std::size_t> select_with(const Wait &wait, Cases &...cases)
{
	sennit_case armed[] = { cases.arm()... };
	std::size_t which = 0;
	const int   err = wait([&](sennit_time deadline) {
                return sennit_select_until(armed, sizeof...(cases), &which,
					     deadline);
        });

	if (!waited(err))
		return std::nullopt;
	tell(std::index_sequence_for<Cases...>(), which, armed[which].result,
	     cases...);
	return which;
}

} // namespace detail

/* A case that calls f(received<T>) with a value of the channel, or with the
 * status that it is closed. */
template <typename T, typename F>
detail::receive_case<T, std::decay_t<F>> on_receive(channel<T> &c, F &&f)
{
	return { c, std::forward<F>(f) };
}

/* A case that moves `value` into the channel and calls f(channel_status), with
 * the status that it was sent or that the channel is closed. If another case
 * happens, the value is unchanged. */
template <typename T, typename F>
detail::send_case<T, std::decay_t<F>> on_send(channel<T> &c, T &value, F &&f)
{
	return { c, value, std::forward<F>(f) };
}

/* A case that calls f() when the event is set. */
template <typename F>
detail::event_case<std::decay_t<F>> on_event(event &e, F &&f)
{
	return { e, std::forward<F>(f) };
}

/* Do the first of the cases that can be done, and call its function. Returns
 * its index. The other cases have no effect. */
template <typename... Cases> std::size_t select(Cases &&...cases)
{
	sennit_case       armed[] = { cases.arm()... };
	const std::size_t which = sennit_select(armed, sizeof...(cases));

	detail::tell(std::index_sequence_for<Cases...>(), which,
		     armed[which].result, cases...);
	return which;
}

/* Like select(), without waiting. Returns nothing if no case can be done. */
template <typename... Cases>
std::optional<std::size_t> try_select(Cases &&...cases)
{
	return detail::select_with([](auto &&call) { return call(0); },
				   cases...);
}
template <typename Rep, typename Period, typename... Cases>
std::optional<std::size_t> select_for(
	const std::chrono::duration<Rep, Period> &d, Cases &&...cases)
{
	return detail::select_with(
		[&](auto &&call) { return call(detail::after(d)); }, cases...);
}
template <typename Clock, typename Duration, typename... Cases>
std::optional<std::size_t> select_until(
	const std::chrono::time_point<Clock, Duration> &t, Cases &&...cases)
{
	return detail::select_with(
		[&](auto &&call) { return detail::until(t, call); }, cases...);
}

} // namespace sennit

#endif
