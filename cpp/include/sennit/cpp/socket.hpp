/* SPDX-License-Identifier: Apache-2.0 */
/* socket.hpp - addresses, connections, listeners: net.h, address.h, listen.h,
 * stream.h and resolve.h.
 *
 * In libsennit-io.
 */
#ifndef SENNIT_CPP_SOCKET_HPP
#define SENNIT_CPP_SOCKET_HPP

#include "sennit/cpp/descriptor.hpp"
#include "sennit/cpp/group.hpp"
#include "sennit/address.h"
#include "sennit/listen.h"
#include "sennit/net.h"
#include "sennit/resolve.h"
#include "sennit/socket_option.h"
#include "sennit/stream.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

SENNIT_CPP_BEGIN

namespace io
{

/* The address of a socket. */
class address
{
public:
	address() noexcept = default;
	address(const sockaddr *from, socklen_t size) noexcept : size_(size)
	{
		std::memcpy(&storage_, from, size);
	}

	const sockaddr *data() const noexcept
	{
		return reinterpret_cast<const sockaddr *>(&storage_);
	}
	socklen_t size() const noexcept
	{
		return size_;
	}
	int family() const noexcept
	{
		return storage_.ss_family;
	}
	/* The text that connect_to() takes; "" if the family has none. */
	std::string text() const
	{
		char      text[SENNIT_ADDRESS_TEXT];
		const int err = sennit_address_text(data(), size(), text,
						    sizeof(text));

		return err ? "" : text;
	}

	/* The address that `get`, getsockname() or getpeername(), returns. */
	template <typename Get> static address of(int fd, Get get)
	{
		address   found;
		socklen_t size = sizeof(found.storage_);

		if (!get(fd, reinterpret_cast<sockaddr *>(&found.storage_),
			 &size))
			found.size_ = size;
		return found;
	}

private:
	sockaddr_storage storage_{};
	socklen_t        size_ = 0;
};

/* Look up the addresses of a host and a service, as names or numbers, for
 * sockets of this type. */
template <typename... How>
std::vector<address> resolve(const std::string &host,
			     const std::string &service, How &&...how)
{
	const auto           l = detail::limit::of(how...);
	std::vector<address> all;
	addrinfo             hints = {};
	addrinfo            *first = nullptr;

	hints.ai_socktype = SOCK_STREAM;
	l.pass(sennit_resolve(host.empty() ? nullptr : host.c_str(),
			      service.empty() ? nullptr : service.c_str(),
			      &hints, &first, l.deadline()),
	       "sennit::io::resolve");

	const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(
		first, ::freeaddrinfo);
	for (const addrinfo *a = first; a; a = a->ai_next)
		all.emplace_back(a->ai_addr, a->ai_addrlen);
	return all;
}

namespace detail
{

/* Set and read an option of socket_option.h. */
template <typename... How>
void set_option(int fd, const char *call, sennit_socket_option option,
		int value, How &&...how)
{
	limit::of(how...).pass(sennit_socket_set(fd, option, value), call);
}
template <typename... How>
int get_option(int fd, const char *call, sennit_socket_option option,
	       How &&...how)
{
	int value = 0;

	limit::of(how...).pass(sennit_socket_get(fd, option, &value), call);
	return value;
}

} // namespace detail

/* A connection. What descriptor has also works here; but a socket sends, as
 * write() would raise SIGPIPE. */
class socket : public descriptor
{
public:
	using descriptor::descriptor;

	template <typename... T> void write(T &&...) const = delete;
	template <typename... T> void write_all(T &&...) const = delete;
	template <typename... T> void async_write_all(T &&...) const = delete;

	/* Receive up to to.size() bytes, with flags of recv(). Returns how many
	 * there were; 0: the peer has ended its direction. */
	template <typename... How>
	std::size_t receive(mutable_buffer to, int flags, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::socket::receive";
		const auto            l = detail::limit::of(how...);

		return l.pass_size(sennit_recv(needed(call), to.data(),
					       to.size(), flags, l.deadline()),
				   call);
	}

	/* Send up to from.size() bytes, one at least. Returns how many were
	 * sent. */
	template <typename... How>
	std::size_t send(const_buffer from, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::socket::send";
		const auto            l = detail::limit::of(how...);

		return l.pass_size(sennit_send(needed(call), from.data(),
					       from.size(), 0, l.deadline()),
				   call);
	}

	/* Send all of it. If it fails, some bytes may have been sent. */
	template <typename... How>
	void send_all(const_buffer from, How &&...how) const
	{
		std::size_t done = 0;

		send_all_by(detail::limit::of(how...), from, done);
	}

	/* End a direction, or both: SHUT_RD, SHUT_WR, SHUT_RDWR. Calls that
	 * wait for it return as at the end. Any fiber or thread may do this. If
	 * the peer has reset the connection, both have ended: that is no error.
	 */
	template <typename... How> void shutdown(int which, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::socket::shutdown";
		const int err = sennit_shutdown(needed(call), which);

		detail::limit::of(how...).pass(err == -ENOTCONN ? 0 : err,
					       call);
	}

	/* Set and read an option of socket_option.h:
	 * s.set_option(SENNIT_SOCKET_NO_DELAY, 0). */
	template <typename... How>
	void set_option(sennit_socket_option option, int value,
			How &&...how) const
	{
		static constexpr char call[] = "sennit::io::socket::set_option";

		detail::set_option(needed(call), call, option, value, how...);
	}
	template <typename... How>
	int option(sennit_socket_option option, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::socket::option";

		return detail::get_option(needed(call), call, option, how...);
	}

	/* This end's and the other end's address; empty after an error. */
	address local_address() const
	{
		return address::of(needed("sennit::io::socket::local_address"),
				   ::getsockname);
	}
	address peer_address() const
	{
		return address::of(needed("sennit::io::socket::peer_address"),
				   ::getpeername);
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. The object and the memory must exist until the
	 * coroutine continues. */
	template <typename... How>
	auto async_send_all(const_buffer from, How &&...how) const
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this, from,
			 done = std::size_t()](const detail::limit &l) mutable {
				send_all_by(l, from, done);
			});
	}
#endif

private:
	void send_all_by(const detail::limit &l, const_buffer from,
			 std::size_t &done) const
	{
		static constexpr char call[] = "sennit::io::socket::send_all";

		l.pass(sennit_send_all(needed(call), from.data(), from.size(),
				       0, &done, l.deadline()),
		       call);
	}
};

/* Connect to an address as a text: "host:port" and the others of address.h. */
template <typename... How>
socket connect_to(const std::string &where, How &&...how)
{
	const auto l = detail::limit::of(how...);
	const int  fd = sennit_connect_to(where.c_str(), l.deadline());

	l.pass(fd, "sennit::io::connect_to");
	return fd < 0 ? socket() : socket(fd);
}

/* Connect by TCP to a host and a service, as names or numbers, by the first of
 * their addresses that answers. */
template <typename... How>
socket connect_host(const std::string &host, const std::string &service,
		    How &&...how)
{
	const auto l = detail::limit::of(how...);
	const int  fd = sennit_connect_host(host.c_str(), service.c_str(),
					    l.deadline());

	l.pass(fd, "sennit::io::connect_host");
	return fd < 0 ? socket() : socket(fd);
}

/* Connect to an address. Like those of the two calls above, a socket of TCP has
 * TCP_NODELAY. */
template <typename... How> socket connect(const address &to, How &&...how)
{
	const auto l = detail::limit::of(how...);
	socket     made(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
	int        err = made ? 0 : -errno;

	if (!err)
		err = sennit_connect(made.native_handle(), to.data(), to.size(),
				     l.deadline());
	if (!err) /* no error: a socket that is not of TCP */
		static_cast<void>(!sennit_socket_set(
			made.native_handle(), SENNIT_SOCKET_NO_DELAY, 1));
	l.pass(err, "sennit::io::connect");
	return err ? socket() : std::move(made);
}

namespace detail
{

/* Whether an error is the usual end of a connection: its peer or its network is
 * gone, its peer has sent a line that is too long, its deadline has passed, or
 * its group is cancelled. */
inline bool ends_connection(const std::error_code &code) noexcept
{
	static constexpr std::errc all[] = { std::errc::connection_reset,
					     std::errc::connection_aborted,
					     std::errc::broken_pipe,
					     std::errc::not_connected,
					     std::errc::timed_out,
					     std::errc::operation_canceled,
					     std::errc::host_unreachable,
					     std::errc::network_unreachable,
					     std::errc::network_down,
					     std::errc::network_reset,
					     std::errc::no_message_available,
					     std::errc::message_size };

	return std::find(std::begin(all), std::end(all), code) != std::end(all);
}

/* Call serve(socket), and drop what only says that the connection has ended. */
template <typename Serve> void serve_connection(Serve &serve, int fd)
{
#if SENNIT_CPP_EXCEPTIONS
	try {
		std::invoke(serve, socket(fd));
	} catch (const std::system_error &e) {
		if (!ends_connection(e.code()))
			throw;
	}
#else
	std::invoke(serve, socket(fd));
#endif
}

} // namespace detail

/* A socket that listens. */
class listener : public detail::owner
{
public:
	using owner::owner;

	/* Listen at an address. flags: SENNIT_LISTEN_SHARED or 0. */
	template <typename... How>
	static listener on(const address &at, std::uint32_t flags, How &&...how)
	{
		const int fd = sennit_listen(at.data(), at.size(), 0, flags);

		detail::limit::of(how...).pass(fd, "sennit::io::listener::on");
		return fd < 0 ? listener() : listener(fd);
	}

	/* Set and read an option of socket_option.h. */
	template <typename... How>
	void set_option(sennit_socket_option option, int value,
			How &&...how) const
	{
		static constexpr char call[] =
			"sennit::io::listener::set_option";

		detail::set_option(needed(call), call, option, value, how...);
	}
	template <typename... How>
	int option(sennit_socket_option option, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::listener::option";

		return detail::get_option(needed(call), call, option, how...);
	}

	/* Wait for a connection. */
	template <typename... How> socket accept(How &&...how) const
	{
		return accept_by(detail::limit::of(how...));
	}

	/* Accept on every worker (sennit_listen_each), until `acceptors` is
	 * cancelled. Each connection becomes a member of `connections` that
	 * calls serve(socket), on the worker that accepted it, at the same time
	 * as others. A temporary serve is moved into `connections`. Another one
	 * must exist until both groups have ended, as this listener must.
	 *
	 * An exception that leaves serve ends that connection and no other.
	 * sennit::interrupted, and errors of a connection, such as a reset, a
	 * peer that has gone in the middle, or a line that is too long,
	 * are dropped. The first one of
	 * another kind is rethrown by the wait for `connections`, after the
	 * last connection.
	 *
	 * Only the openers of the groups may call this. Make `connections`
	 * before `acceptors`: so its destructor comes after the other's. */
	template <typename Serve, typename... How>
	void accept_each(sennit::group &acceptors, sennit::group &connections,
			 Serve &&serve, How &&...how) const &
	{
		static constexpr char call[] =
			"sennit::io::listener::accept_each";
		const int  fd = needed(call);
		const auto l = detail::limit::of(how...);

		static_assert(
			std::is_invocable_v<Serve &, socket>,
			"sennit: accept_each needs a function of a socket");
		auto h = std::make_unique<handler<Serve>>(
			connections, std::forward<Serve>(serve));
		const int err =
			sennit_listen_each(fd, acceptors.native_handle(),
					   connections.native_handle(),
					   handler<Serve>::run, h.get());
		if (!err)
			connections.keep(std::move(h));
		l.pass(err, call);
	}
	template <typename Serve, typename... How>
	void accept_each(sennit::group &, sennit::group &, Serve &&,
			 How &&...) const && = delete;

	/* Where it listens, for example to learn the port. */
	address local_address() const
	{
		return address::of(
			needed("sennit::io::listener::local_address"),
			::getsockname);
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. */
	template <typename... How> auto async_accept(How &&...how) const
	{
		return detail::io_awaiter(detail::limit::of(how...),
					  [this](const detail::limit &l) {
						  return accept_by(l);
					  });
	}
#endif

private:
	/* A function for connections: owned, or (Serve is T &) the caller's. */
	template <typename Serve> struct handler final : detail::kept {
		handler(sennit::group &to, Serve &&f)
		    : connections(to), serve(std::forward<Serve>(f))
		{
		}

		static void run(void *argument, int fd) noexcept
		{
			auto *h = static_cast<handler *>(argument);

			h->connections.caught_.run([&] {
				detail::serve_connection(h->serve, fd);
			});
		}

		sennit::group &connections;
		Serve          serve;
	};

	socket accept_by(const detail::limit &l) const
	{
		static constexpr char call[] = "sennit::io::listener::accept";
		const int fd = sennit_accept(needed(call), nullptr, nullptr,
					     SOCK_CLOEXEC, l.deadline());

		l.pass(fd, call);
		return fd < 0 ? socket() : socket(fd);
	}
};

/* Listen at an address as a text: "host:port" and the others of address.h. */
template <typename... How>
listener listen_at(const std::string &where, How &&...how)
{
	const auto l = detail::limit::of(how...);
	const int  fd = sennit_listen_at(where.c_str(), 0, l.deadline());

	l.pass(fd, "sennit::io::listen_at");
	return fd < 0 ? listener() : listener(fd);
}

/* Receives from a connection without a buffer of its own while nothing comes
 * (stream.h), for servers with many idle connections. It belongs to the fiber
 * that made it. The socket must exist as long: no temporary. */
class stream
{
public:
	template <typename... How>
	explicit stream(const socket &from, How &&...how)
	{
		detail::limit::of(how...).pass(
			sennit_stream_open(&s_,
					   from.needed("sennit::io::stream")),
			"sennit::io::stream");
	}
	template <typename... How>
	explicit stream(const socket &&, How &&...) = delete;
	stream(const stream &) = delete;
	stream &operator=(const stream &) = delete;
	~stream()
	{
		if (s_)
			sennit_stream_close(s_);
	}

	/* Wait for bytes. They may be changed and are valid until the next
	 * call. None: the end. */
	template <typename... How> mutable_buffer next(How &&...how) &
	{
		const auto l = detail::limit::of(how...);
		void      *bytes = nullptr;
		const auto n = l.pass_size(sennit_stream_next(native_handle(),
							      &bytes,
							      l.deadline()),
					   "sennit::io::stream::next");

		return { bytes, n };
	}
	/* Give back the bytes, before a long wait for something else. */
	void give_back() noexcept
	{
		sennit_stream_give_back(native_handle());
	}

	sennit_stream *native_handle() const noexcept
	{
		return detail::needed(s_, "sennit::io::stream",
				      "it could not be opened");
	}

private:
	sennit_stream *s_ = nullptr;
};

} // namespace io

SENNIT_CPP_END

#endif
