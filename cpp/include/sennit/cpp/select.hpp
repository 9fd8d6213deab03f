/* SPDX-License-Identifier: Apache-2.0 */
/* select.hpp - select.h for objects: wait for the first of several cases, each
 * with a function.
 *
 *	sennit::select(
 *		sennit::on_receive(jobs, [&](auto job) { ... }),
 *		sennit::on_event(quit, [&] { running = false; }));
 *
 * A range of cases takes the place of the list if their number is known at run
 * time only:
 *
 *	std::vector<sennit::select_case> cases;
 *
 *	for (auto &c : inputs)
 *		cases.push_back(sennit::on_receive(c, [&](auto v) { ... }));
 *	sennit::select(cases);		// any number of times
 */
#ifndef SENNIT_CPP_SELECT_HPP
#define SENNIT_CPP_SELECT_HPP

#include "sennit/cpp/channel.hpp"
#include "sennit/cpp/event.hpp"
#include "sennit/cpp/wait_any.hpp"
#include "sennit/select.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

SENNIT_CPP_BEGIN

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
	/* Cases move only between selects. Then there are no bytes. */
	boxed_value(boxed_value &&other) noexcept : boxed(other)
	{
	}
	std::optional<packed<T>> bytes;
};

/* The room of a case that receives. Cases move only between selects. Then it is
 * empty. */
template <typename T> struct empty_room {
	empty_room() = default;
	empty_room(empty_room &&) noexcept
	{
	}
	room<T> bytes;
};

/* The function of a case that calls it with these arguments. */
template <typename F, typename... Args>
using called_with =
	std::conditional_t<std::is_invocable_v<std::decay_t<F> &, Args...>,
			   std::decay_t<F>, wrong>;

template <typename T, typename F> struct receive_case {
	channel<T>                        &from;
	F                                  f;
	empty_room<typename wire<T>::form> value{};

	sennit_case arm(boxes_of_select &)
	{
		return sennit_case_receive(from.native_handle(),
					   &value.bytes.value);
	}
	void note(int)
	{
	}
	void tell(int err)
	{
		if (err)
			std::invoke(f, received<T>(channel_status_of(err)));
		else
			std::invoke(f, received<T>(std::in_place,
						   wire<T>::unpack(
							   value.bytes.value)));
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

template <typename Future, typename F> struct ready_case {
	const Future &future;
	F             f;

	sennit_case arm(boxes_of_select &)
	{
		return future.valid() ? sennit_case_future(
						future.native_handle(), nullptr)
				      : sennit_case{};
	}
	void note(int)
	{
	}
	void tell(int)
	{
		std::invoke(f);
	}
};

/* A case of C without a value. */
template <typename F> struct native_case {
	sennit_case native;
	F           f;

	sennit_case arm(boxes_of_select &)
	{
		return native;
	}
	void note(int)
	{
	}
	void tell(int err)
	{
		if constexpr (std::is_invocable_v<F &, int>)
			std::invoke(f, err);
		else
			std::invoke(f);
	}
};

} // namespace detail

/* Any case that is made below, or none: a case made by default or moved from
 * never happens. For ranges of cases. Takes memory from operator new. */
class select_case
{
public:
	select_case() noexcept = default;
	template <
		typename Case,
		typename = std::enable_if_t<!std::is_lvalue_reference_v<Case>>,
		typename = decltype(std::declval<Case &>().tell(0))>
	select_case(Case &&c)
	    : held_(std::make_unique<holder<Case>>(std::move(c)))
	{
	}

	sennit_case arm(detail::boxes_of_select &boxes)
	{
		return held_ ? held_->arm(boxes) : sennit_case{};
	}
	void note(int err)
	{
		held_->note(err);
	}
	void tell(int err)
	{
		held_->tell(err);
	}

private:
	struct any {
		virtual ~any() = default;
		virtual sennit_case arm(detail::boxes_of_select &boxes) = 0;
		virtual void        note(int err) = 0;
		virtual void        tell(int err) = 0;
	};
	template <typename Case> struct holder : any {
		explicit holder(Case &&c) : held(std::move(c))
		{
		}
		sennit_case arm(detail::boxes_of_select &boxes) override
		{
			return held.arm(boxes);
		}
		void note(int err) override
		{
			held.note(err);
		}
		void tell(int err) override
		{
			held.tell(err);
		}

		Case held;
	};

	std::unique_ptr<any> held_;
};

namespace detail
{

/* The cases of one select, armed. with(i, f) calls f with case i. */
template <typename... Cases> struct selection {
	explicit selection(Cases &...given)
	    : cases(given...), armed{ given.arm(boxes)... }
	{
	}
	template <typename F> void with(std::size_t which, const F &f)
	{
		std::size_t i = 0;

		std::apply(
			[&](Cases &...c) {
				static_cast<void>((
					(i++ == which && (f(c), true)) || ...));
			},
			cases);
	}

	boxes_of_select        boxes;
	std::tuple<Cases &...> cases;
	std::size_t            count = sizeof...(Cases);
	sennit_case            armed[sizeof...(Cases)];
};

/* The same of a range. */
template <typename Range> struct range_selection {
	explicit range_selection(Range &given) : cases(given)
	{
		for (auto &c : cases) {
			if (count == SENNIT_SELECT_MAX)
				misuse("sennit::select",
				       "more than SENNIT_SELECT_MAX cases");
			armed[count] = c.arm(boxes);
			count++;
		}
	}
	template <typename F> void with(std::size_t which, const F &f)
	{
		f(*std::next(std::begin(cases),
			     static_cast<std::ptrdiff_t>(which)));
	}

	boxes_of_select boxes;
	Range          &cases;
	std::size_t     count = 0;
	sennit_case     armed[SENNIT_SELECT_MAX];
};

template <typename... Cases> struct selection_type {
	using type = selection<Cases...>;
};
template <typename Range> struct selection_type<Range> {
	using type = std::conditional_t<is_range<Range>, range_selection<Range>,
					selection<Range>>;
};
template <typename... Cases>
using selection_for =
	typename selection_type<std::remove_reference_t<Cases>...>::type;

/* The case `which` of the select has happened: call its function, after the
 * values that were not sent have gone back. */
template <typename Selection>
std::optional<std::size_t> finish_select(Selection &s, int err,
					 std::size_t which)
{
	if (err)
		return std::nullopt;

	const int result = s.armed[which].result;

	s.with(which, [&](auto &c) { c.note(result); });
	s.boxes.put_back();
	s.with(which, [&](auto &c) { c.tell(result); });
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
detail::native_case<detail::called_with<F>> on_event(event &e, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &>,
		      "sennit: on_event needs a function without arguments");
	return { sennit_case_event(e.native_handle()), std::forward<F>(f) };
}

/* A case that calls f() when the future is ready. f may get the value: a case
 * of a future without a state never happens, so that a range of these cases,
 * one for each future, gives the values in the order in which they come. */
template <typename T, typename F>
detail::ready_case<detail::future_base<T>, detail::called_with<F>> on_ready(
	const detail::future_base<T> &future, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &>,
		      "sennit: on_ready needs a function without arguments");
	return { future, std::forward<F>(f) };
}
template <typename T, typename F>
void on_ready(const detail::future_base<T> &&, F &&) = delete;

/* A case that calls f() at this time, or at once if it has passed. If other
 * cases can be done as well, any of them is. */
template <typename Clock, typename Duration, typename F>
detail::native_case<detail::called_with<F>> on_time(
	const std::chrono::time_point<Clock, Duration> &t, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &>,
		      "sennit: on_time needs a function without arguments");
	return { sennit_case_deadline(detail::deadline_of(t)),
		 std::forward<F>(f) };
}

/* A case of C that has no form of its own here, for example one of io.h, which
 * calls f() or f(result of the case). */
template <typename F>
detail::native_case<
	std::conditional_t<std::is_invocable_v<std::decay_t<F> &>,
			   std::decay_t<F>, detail::called_with<F, int>>>
on_case(const sennit_case &c, F &&f)
{
	static_assert(std::is_invocable_v<std::decay_t<F> &> ||
			      std::is_invocable_v<std::decay_t<F> &, int>,
		      "sennit: on_case needs a function without arguments or "
		      "of an int");
	return { c, std::forward<F>(f) };
}

/* Do the first of the cases, or of a range of cases, that can be done, and call
 * its function. Returns its index. The other cases have no effect. The wait
 * throws as all waits do (time.hpp). The function may add cases to the range;
 * it must not remove its own. */
template <typename... Cases> std::size_t select(Cases &&...cases)
{
	detail::selection_for<Cases...> s(cases...);
	std::size_t                     which = 0;

	detail::check(sennit_select(s.armed, s.count, &which), "select");
	return *detail::finish_select(s, 0, which);
}

/* Like select(), without waiting. Returns nothing if no case can be done. */
template <typename... Cases>
[[nodiscard]] std::optional<std::size_t> try_select(Cases &&...cases)
{
	detail::selection_for<Cases...> s(cases...);
	std::size_t                     which = 0;
	const int err = detail::at_once(sennit_select_until, s.armed, s.count,
					&which);

	return detail::finish_select(s, err, which);
}
template <typename Rep, typename Period, typename... Cases>
[[nodiscard]] std::optional<std::size_t> select_for(
	const std::chrono::duration<Rep, Period> &d, Cases &&...cases)
{
	detail::selection_for<Cases...> s(cases...);
	std::size_t                     which = 0;
	const int err = detail::within(d, sennit_select_until, s.armed, s.count,
				       &which);

	return detail::finish_select(s, err, which);
}
template <typename Clock, typename Duration, typename... Cases>
[[nodiscard]] std::optional<std::size_t> select_until(
	const std::chrono::time_point<Clock, Duration> &t, Cases &&...cases)
{
	detail::selection_for<Cases...> s(cases...);
	std::size_t                     which = 0;
	const int err = detail::until(t, sennit_select_until, s.armed, s.count,
				      &which);

	return detail::finish_select(s, err, which);
}

SENNIT_CPP_END

#endif
