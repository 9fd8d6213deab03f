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

/* A value that a case of a running select has moved into its box. */
struct boxed {
	const void *home;
	const void *type;
	void (*put_back)(boxed *);
	boxed *next;
};

/* The boxed values of a select. Those that were not sent go back when it ends,
 * before a function is called, and however it ends. */
class boxes_of_select
{
public:
	boxes_of_select() = default;
	boxes_of_select(const boxes_of_select &) = delete;
	boxes_of_select &operator=(const boxes_of_select &) = delete;
	~boxes_of_select()
	{
		put_back();
	}
	void add(boxed *b) noexcept
	{
		b->next = first_;
		first_ = b;
	}
	boxed *find(const void *home, const void *type) const noexcept
	{
		boxed *b = first_;

		while (b && (b->home != home || b->type != type))
			b = b->next;
		return b;
	}
	void put_back() noexcept
	{
		while (first_) {
			boxed *const b = std::exchange(first_, first_->next);

			b->put_back(b);
		}
	}

private:
	boxed *first_ = nullptr;
};

/* Its address stands for the type. */
template <typename T> inline char type_mark;

template <typename T> struct boxed_value : boxed {
	explicit boxed_value(T &value) noexcept
	    : boxed{ std::addressof(value), &type_mark<T>,
		     [](boxed *b) {
			     static_cast<boxed_value *>(b)->bytes.reset();
		     },
		     nullptr }
	{
	}
	std::optional<packed<T>> bytes;
};

/* The function of a case that calls it with these arguments. */
template <typename F, typename... Args>
using called_with =
	std::conditional_t<std::is_invocable_v<std::decay_t<F> &, Args...>,
			   std::decay_t<F>, wrong>;

template <typename T, typename F> struct receive_case {
	channel<T>                          &from;
	F                                    f;
	room<typename detail::wire<T>::form> value{};

	sennit_case arm(boxes_of_select &)
	{
		return sennit_case_receive(from.native_handle(), &value.value);
	}
	void note(int)
	{
	}
	void tell(int err)
	{
		if (err)
			std::invoke(f, received<T>(channel_status_of(err)));
		else
			std::invoke(f,
				    received<T>(wire<T>::unpack(value.value)));
	}
};

/* If several cases send one value, they share its box. */
template <typename T, typename F> struct send_case {
	channel<T>     &to;
	T              &value;
	F               f;
	boxed_value<T>  own{ value };
	boxed_value<T> *box = nullptr;

	sennit_case arm(boxes_of_select &boxes)
	{
		box = static_cast<boxed_value<T> *>(
			boxes.find(own.home, own.type));
		if (!box) {
			box = &own;
			own.bytes.emplace(std::move(value));
			boxes.add(&own);
		}
		return sennit_case_send(to.native_handle(),
					box->bytes->bytes());
	}
	void note(int err)
	{
		box->bytes->sent(err);
	}
	void tell(int err)
	{
		std::invoke(f, channel_status_of(err));
	}
};

template <typename F> struct event_case {
	event &e;
	F      f;

	sennit_case arm(boxes_of_select &)
	{
		return sennit_case_event(e.native_handle());
	}
	void note(int)
	{
	}
	void tell(int)
	{
		std::invoke(f);
	}
};

/* Call f with the case that has this index. */
template <std::size_t... I, typename F, typename... Cases>
void with_case(std::index_sequence<I...>, std::size_t which, const F &f,
	       Cases &...cases)
{
	static_cast<void>(((I == which && (f(cases), true)) || ...));
}

/* The case `which` has happened with this result. */
template <typename... Cases>
void finish_select(boxes_of_select &boxes, std::size_t which, int result,
		   Cases &...cases)
{
	const auto all = std::index_sequence_for<Cases...>();

	with_case(
		all, which, [&](auto &c) { c.note(result); }, cases...);
	boxes.put_back();
	with_case(
		all, which, [&](auto &c) { c.tell(result); }, cases...);
}

template <typename Wait, typename... Cases>
std::optional<std::size_t> select_with(const Wait &wait, Cases &...cases)
{
	boxes_of_select boxes;
	sennit_case     armed[] = { cases.arm(boxes)... };
	std::size_t     which = 0;
	const int       err = wait([&](sennit_time deadline) {
                return sennit_select_until(armed, sizeof...(cases), &which,
						 deadline);
        });

	if (!waited(err))
		return std::nullopt;
	finish_select(boxes, which, armed[which].result, cases...);
	return which;
}

} // namespace detail

/* A case that calls f(received<T>) with a value of the channel, or with the
 * status that it is closed. */
template <typename T, typename F>
detail::receive_case<T, detail::called_with<F, received<T>>> on_receive(
	channel<T> &c, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &, received<T>>,
		      "sennit: on_receive needs a function of a received<T>");
	return { c, std::forward<F>(f) };
}

/* A case that moves `value` into the channel and calls f(channel_status), with
 * the status that it was sent or that the channel is closed. If it is not sent,
 * for any reason, `value` is as before when a function is called or the select
 * returns, if it is assignable. Several cases may send one value; one of them
 * does. */
template <typename T, typename F>
detail::send_case<T, detail::called_with<F, channel_status>> on_send(
	channel<T> &c, T &value, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &, channel_status>,
		      "sennit: on_send needs a function of a channel_status");
	return { c, value, std::forward<F>(f) };
}

/* A case that calls f() when the event is set. */
template <typename F>
detail::event_case<detail::called_with<F>> on_event(event &e, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &>,
		      "sennit: on_event needs a function without arguments");
	return { e, std::forward<F>(f) };
}

/* Do the first of the cases that can be done, and call its function. Returns
 * its index. The other cases have no effect. */
template <typename... Cases> std::size_t select(Cases &&...cases)
{
	detail::boxes_of_select boxes;
	sennit_case             armed[] = { cases.arm(boxes)... };
	std::size_t             which = 0;

	(void)!sennit_select_until(armed, sizeof...(cases), &which,
				   SENNIT_UNCANCELLED);
	detail::finish_select(boxes, which, armed[which].result, cases...);
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
