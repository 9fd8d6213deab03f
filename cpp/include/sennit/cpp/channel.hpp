/* SPDX-License-Identifier: Apache-2.0 */
/* channel.hpp - channel.h for objects.
 *
 * A trivially copyable value passes through the channel directly, and a
 * std::unique_ptr passes as its pointer. Any other value passes in a box from
 * operator new: it is moved into the box once and out of it once. The
 * destructor of a channel destroys the values that it still holds.
 */
#ifndef SENNIT_CPP_CHANNEL_HPP
#define SENNIT_CPP_CHANNEL_HPP

#include "sennit/channel.h"
#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/cpp/unbounded.hpp"

#include <iterator>
#include <memory>
#include <optional>

SENNIT_CPP_BEGIN

static_assert(unbounded == SENNIT_CHANNEL_UNBOUNDED);

enum class channel_status { done, closed, timeout };

/* The result of a receive: a value, or the reason why there is none. */
template <typename T> class received
{
public:
	/* No value. */
	explicit received(channel_status why) noexcept : why_(why)
	{
	}
	/* A value, made from these. */
	template <typename... Args>
	explicit received(std::in_place_t, Args &&...args)
	    : value_(std::in_place, std::forward<Args>(args)...),
	      why_(channel_status::done)
	{
	}

	channel_status status() const noexcept
	{
		return why_;
	}

	/* The value as in a std::optional. */
	bool has_value() const noexcept
	{
		return value_.has_value();
	}
	explicit operator bool() const noexcept
	{
		return has_value();
	}
	T &operator*() &noexcept
	{
		return *value_;
	}
	const T &operator*() const &noexcept
	{
		return *value_;
	}
	T &&operator*() &&noexcept
	{
		return *std::move(value_);
	}
	T *operator->() noexcept
	{
		return value_.operator->();
	}
	const T *operator->() const noexcept
	{
		return value_.operator->();
	}
	T &value() &
	{
		return value_.value();
	}
	const T &value() const &
	{
		return value_.value();
	}
	T &&value() &&
	{
		return std::move(value_).value();
	}
	template <typename U> T value_or(U &&other) const &
	{
		return value_.value_or(std::forward<U>(other));
	}
	template <typename U> T value_or(U &&other) &&
	{
		return std::move(value_).value_or(std::forward<U>(other));
	}

private:
	std::optional<T> value_;
	channel_status   why_;
};

namespace detail
{

/* How a T passes through a channel: as a `form`, which may be copied as
 * bytes. */
template <typename T, typename = void> struct wire {
	using form = T *;

	template <typename From> static form pack(From &&value)
	{
		return new T(std::forward<From>(value));
	}
	static T unpack(form &f)
	{
		const std::unique_ptr<T> box(f);

		return std::move(*box);
	}
};

template <typename T>
struct wire<T, std::enable_if_t<std::is_trivially_copyable_v<T>>> {
	using form = T;

	static T unpack(form &f)
	{
		return std::move(f);
	}
};

template <typename T> struct wire<std::unique_ptr<T>> {
	using form = typename std::unique_ptr<T>::pointer;

	static form pack(std::unique_ptr<T> &&value)
	{
		return value.release();
	}
	static std::unique_ptr<T> unpack(form &f)
	{
		return std::unique_ptr<T>(f);
	}
};

inline channel_status channel_status_of(int err)
{
	if (!err)
		return channel_status::done;
	if (err == -EPIPE)
		return channel_status::closed;
	if (err != -ETIMEDOUT)
		check(err, "send");
	return channel_status::timeout;
}

/* A value that is packed for a send. If it is not sent, it is moved back. */
template <typename T, typename = void> class packed
{
public:
	explicit packed(T &&value)
	    : form_(wire<T>::pack(std::move(value))),
	      home_(std::addressof(value))
	{
	}
	explicit packed(const T &value) : form_(wire<T>::pack(value))
	{
	}
	packed(const packed &) = delete;
	packed &operator=(const packed &) = delete;
	~packed()
	{
		if (sent_)
			return;
		if constexpr (std::is_move_assignable_v<T>) {
			if (home_) {
				*home_ = wire<T>::unpack(form_);
				return;
			}
		}
		static_cast<void>(wire<T>::unpack(form_));
	}
	const void *bytes() const noexcept
	{
		return &form_;
	}
	/* Store the result of the send. */
	int sent(int err) noexcept
	{
		sent_ = !err;
		return err;
	}

private:
	typename wire<T>::form form_;
	T                     *home_ = nullptr;
	bool                   sent_ = false;
};

/* A trivially copyable value stays where it is. */
template <typename T>
class packed<T, std::enable_if_t<std::is_trivially_copyable_v<T>>>
{
public:
	explicit packed(const T &value) noexcept : value_(std::addressof(value))
	{
	}
	packed(const packed &) = delete;
	packed     &operator=(const packed &) = delete;
	const void *bytes() const noexcept
	{
		return value_;
	}
	int sent(int err) noexcept
	{
		return err;
	}

private:
	const T *value_;
};

} // namespace detail

template <typename T> class channel
{
	using wire = detail::wire<T>;
	using form = detail::room<typename wire::form>;

public:
	/* A capacity of 0 makes a rendezvous channel. */
	explicit channel(std::size_t capacity = 0)
	{
		detail::check(sennit_channel_init(&c_, capacity,
						  sizeof(typename wire::form),
						  nullptr),
			      "channel");
	}
	channel(const channel &) = delete;
	channel &operator=(const channel &) = delete;
	~channel()
	{
		while (try_receive().has_value())
			;
		sennit_channel_destroy(&c_);
	}

	/* Send the value. Returns true if it was sent, or false if the channel
	 * is closed. A value that was not sent, for any reason, is moved back
	 * if it is assignable. Throws std::bad_alloc, too. */
	bool send(T &&value)
	{
		return send_always(detail::packed<T>(std::move(value)));
	}
	bool send(const T &value)
	{
		return send_always(detail::packed<T>(value));
	}
	[[nodiscard]] channel_status try_send(T &&value)
	{
		return send_at_once(detail::packed<T>(std::move(value)));
	}
	[[nodiscard]] channel_status try_send(const T &value)
	{
		return send_at_once(detail::packed<T>(value));
	}
	template <typename Rep, typename Period>
	[[nodiscard]] channel_status send_for(
		T &&value, const std::chrono::duration<Rep, Period> &d)
	{
		return send_within(detail::packed<T>(std::move(value)), d);
	}
	template <typename Rep, typename Period>
	[[nodiscard]] channel_status send_for(
		const T &value, const std::chrono::duration<Rep, Period> &d)
	{
		return send_within(detail::packed<T>(value), d);
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] channel_status send_until(
		T &&value, const std::chrono::time_point<Clock, Duration> &t)
	{
		return send_before(detail::packed<T>(std::move(value)), t);
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] channel_status send_until(
		const T                                        &value,
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return send_before(detail::packed<T>(value), t);
	}

	/* Receive a value, or none if the channel is closed and empty. */
	[[nodiscard]] received<T> receive()
	{
		form r;

		return got(r, detail::for_ever(sennit_channel_receive_until,
					       &c_, &r.value));
	}
	[[nodiscard]] received<T> try_receive()
	{
		form r;

		return got(r, detail::at_once(sennit_channel_receive_until, &c_,
					      &r.value));
	}
	template <typename Rep, typename Period>
	[[nodiscard]] received<T> receive_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		form r;

		return got(r, detail::within(d, sennit_channel_receive_until,
					     &c_, &r.value));
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] received<T> receive_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		form r;

		return got(r, detail::until(t, sennit_channel_receive_until,
					    &c_, &r.value));
	}

	void close() noexcept
	{
		sennit_channel_close(&c_);
	}
	std::size_t length() noexcept
	{
		return sennit_channel_length(&c_);
	}

	/* The end of the values. */
	struct sentinel {
	};
	/* Iterates over all values until the channel is closed: for (T &value :
	 * channel). A channel is an input range of C++20. The value is in the
	 * iterator. */
	class iterator
	{
	public:
		using iterator_category = std::input_iterator_tag;
		using value_type = T;
		using difference_type = std::ptrdiff_t;
		using pointer = T *;
		using reference = T &;

		explicit iterator(channel &c) : c_(&c)
		{
			++*this;
		}
		iterator &operator++()
		{
			auto r = c_->receive();

			value_.reset();
			if (r)
				value_.emplace(std::move(*r));
			else
				c_ = nullptr;
			return *this;
		}
		void operator++(int)
		{
			++*this;
		}
		T &operator*() const
		{
			return *value_;
		}
		T *operator->() const
		{
			return std::addressof(*value_);
		}
		friend bool operator==(const iterator &i, sentinel) noexcept
		{
			return !i.c_;
		}
		friend bool operator!=(const iterator &i, sentinel) noexcept
		{
			return i.c_;
		}
		friend bool operator==(sentinel, const iterator &i) noexcept
		{
			return !i.c_;
		}
		friend bool operator!=(sentinel, const iterator &i) noexcept
		{
			return i.c_;
		}

	private:
		channel                 *c_;
		mutable std::optional<T> value_;
	};
	iterator begin()
	{
		return iterator(*this);
	}
	sentinel end() noexcept
	{
		return {};
	}

	sennit_channel *native_handle() noexcept
	{
		return &c_;
	}

private:
	bool send_always(detail::packed<T> &&p)
	{
		return detail::channel_status_of(p.sent(detail::for_ever(
			       sennit_channel_send_until, &c_, p.bytes()))) ==
		       channel_status::done;
	}
	channel_status send_at_once(detail::packed<T> &&p)
	{
		return detail::channel_status_of(p.sent(detail::at_once(
			sennit_channel_send_until, &c_, p.bytes())));
	}
	template <typename Span>
	channel_status send_within(detail::packed<T> &&p, const Span &d)
	{
		return detail::channel_status_of(p.sent(detail::within(
			d, sennit_channel_send_until, &c_, p.bytes())));
	}
	template <typename Time>
	channel_status send_before(detail::packed<T> &&p, const Time &t)
	{
		return detail::channel_status_of(p.sent(detail::until(
			t, sennit_channel_send_until, &c_, p.bytes())));
	}
	static received<T> got(form &r, int err)
	{
		if (err)
			return received<T>(detail::channel_status_of(err));
		return received<T>(std::in_place, wire::unpack(r.value));
	}

	sennit_channel c_;
};

SENNIT_CPP_END

#endif
