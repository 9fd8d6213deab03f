/* SPDX-License-Identifier: Apache-2.0 */
/* serve.hpp - a server in one call, and bytes that many connections send:
 * serve.h and buffer.h.
 *
 *	io::signal_set::block({ SIGTERM });	// in main()
 *	...
 *	io::serve(io::listen_at(":8080"), [](io::socket s) { ... },
 *		  io::serve_options().signals({ SIGTERM }).patience(10s));
 *
 * In libsennit-io.
 */
#ifndef SENNIT_CPP_SERVE_HPP
#define SENNIT_CPP_SERVE_HPP

#include "sennit/cpp/event.hpp"
#include "sennit/cpp/handle.hpp"
#include "sennit/cpp/socket.hpp"
#include "sennit/buffer.h"
#include "sennit/serve.h"

#include <signal.h>

#include <functional>
#include <initializer_list>

SENNIT_CPP_BEGIN

namespace io
{

class serve_options;

template <typename Serve>
bool serve(listener at, Serve &&serve_one, const serve_options &options);

namespace detail
{

template <typename Serve> struct service;

} // namespace detail

/* How a server stops. */
class serve_options
{
public:
	/* Each of these signals stops it. Block them first, in main()
	 * (signal_set::block). */
	serve_options &signals(std::initializer_list<int> which)
	{
		sigemptyset(&set_);
		for (const int one : which)
			sigaddset(&set_, one);
		has_signals_ = true;
		return *this;
	}
	/* The event stops it, and must exist until it has. */
	serve_options &stop(sennit::event &e)
	{
		stop_ = e.native_handle();
		return *this;
	}
	serve_options &stop(sennit::event &&) = delete;
	/* f() is called when no more connections are accepted, before the
	 * others are waited for. */
	serve_options &stopping(std::function<void()> f)
	{
		stopping_ = std::move(f);
		return *this;
	}
	/* How long connections may go on after that. By default they are
	 * cancelled at once. */
	template <typename Rep, typename Period>
	serve_options &patience(const std::chrono::duration<Rep, Period> &d)
	{
		patience_ = detail::nanoseconds_of(d);
		return *this;
	}

private:
	template <typename Serve> friend struct detail::service;
	template <typename Serve>
	friend bool serve(listener at, Serve &&serve_one,
			  const serve_options &options);

	/* For sennit_serve(); refers to this object. */
	sennit_serve_options native(sennit_task_fn *before_drain) const noexcept
	{
		sennit_serve_options o = {};

		o.size = sizeof(o);
		o.signals = has_signals_ ? &set_ : nullptr;
		o.stop = stop_;
		o.stopping = stopping_ ? before_drain : nullptr;
		o.patience = patience_;
		return o;
	}

	sigset_t              set_{};
	bool                  has_signals_ = false;
	sennit_event         *stop_ = nullptr;
	std::function<void()> stopping_;
	sennit_time           patience_ = 0;
};

namespace detail
{

/* What a server calls. */
template <typename Serve> struct service {
	static void run(void *argument, int fd) noexcept
	{
		auto *s = static_cast<service *>(argument);

		s->thrown.run([&] { serve_connection(s->serve, fd); });
	}
	static void stopping(void *argument) noexcept
	{
		auto *s = static_cast<service *>(argument);

		s->thrown.run(s->options.stopping_);
	}

	Serve               &serve;
	const serve_options &options;
	caught               thrown;
};

} // namespace detail

/* Accept connections on every worker, until a signal, the event of the options,
 * an error of the listener or the caller's group stops the server; then let
 * those that are open end by themselves, for the patience of the options, or
 * until one more signal, and cancel the rest (sennit_serve). Each connection is
 * a task that calls serve(socket), at the same time as others. The listener is
 * closed when no more connections are accepted.
 *
 * An exception that leaves serve ends that connection and no other, as
 * accept_each says; the first one that is no end of a connection is rethrown
 * after the last connection, and so is one of the options' function.
 * Returns whether all connections ended by themselves. Throws sennit::cancelled
 * or timed_out if the caller's group has ended, and std::system_error for an
 * error of the listener or a signal that is not blocked. */
template <typename Serve>
bool serve(listener at, Serve &&serve_one, const serve_options &options)
{
	static constexpr char call[] = "sennit::io::serve";

	static_assert(std::is_invocable_v<std::decay_t<Serve> &, socket>,
		      "sennit: serve needs a function of a socket");
	detail::needed(at ? &at : nullptr, call,
		       "the listener is empty: made by default, moved from or "
		       "released");

	using service = detail::service<std::remove_reference_t<Serve>>;
	service    s{ serve_one, options, {} };
	const auto how = options.native(service::stopping);
	const int  err = sennit_serve(at.release(), service::run, &s, &how);

	s.thrown.rethrow();
	if ((err != -ECANCELED && err != -ETIMEDOUT) ||
	    sennit_check_cancelled())
		detail::check(err, call);
	return !err;
}

/* The same until the caller's group ends, or the listener fails. */
template <typename Serve> bool serve(listener at, Serve &&serve_one)
{
	return serve(std::move(at), serve_one, serve_options());
}

/* Bytes that do not change, with a reference count: one copy for all that send
 * it. A copy of the object refers to the same bytes. One made by default or
 * moved from is empty. */
class shared_buffer
    : public sennit::detail::handle<sennit_buffer, sennit_buffer_retain,
				    sennit_buffer_release>
{
public:
	shared_buffer() noexcept = default;
	/* Copy the bytes. */
	explicit shared_buffer(const_buffer from)
	{
		detail::check(sennit_buffer_create(&this->object_, from.data(),
						   from.size()),
			      "sennit::io::shared_buffer");
	}

	const char *data() const noexcept
	{
		return this->object_
			       ? static_cast<const char *>(
					 sennit_buffer_data(this->object_))
			       : nullptr;
	}
	std::size_t size() const noexcept
	{
		return this->object_ ? sennit_buffer_size(this->object_) : 0;
	}
};

} // namespace io

SENNIT_CPP_END

#endif
