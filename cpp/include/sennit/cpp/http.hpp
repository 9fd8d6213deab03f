/* SPDX-License-Identifier: Apache-2.0 */
/* http.hpp - HTTP/1.1, servers and clients: http.h.
 *
 * In libsennit-http. io.hpp does not include this header: link to sennit::http.
 *
 *	l.accept_each(acceptors, connections, [](sennit::io::socket s) {
 *		sennit::io::serve_http(
 *			std::move(s), [](sennit::io::http &peer,
 *					 const sennit::io::http_head &request) {
 *				peer.answer(200, "hello\n", 30s);
 *			});
 *	});
 *
 *	sennit::io::http_client server("http://localhost:8080", 30s);
 *
 *	server.ask("GET", "/", {}, 30s);
 *	if (server.next(30s))
 *		while (const auto part = server.read(30s))
 *			std::cout << *part;
 *
 * Memory, deadlines and errors are given as in io.hpp. The errors are those of
 * http.h: EPROTO is a violation of the protocol, EMSGSIZE a head or a body that
 * is too large, ENODATA an end within a message.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_CPP_HTTP_HPP
#define SENNIT_CPP_HTTP_HPP

#include "sennit/cpp/socket.hpp"
#include "sennit/http.h"

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

SENNIT_CPP_BEGIN

namespace io
{

/* A configuration with all defaults; http.h has its members. */
inline sennit_http_config http_config() noexcept
{
	sennit_http_config c{};

	c.size = sizeof(c);
	return c;
}

/* The head of a request or of an answer. It refers to the memory of the
 * connection, and is valid until that connection's next call of next(), ask()
 * or its end. */
class http_head
{
public:
	explicit http_head(const sennit_http_head *h) noexcept : h_(h)
	{
	}

	std::string_view method() const noexcept
	{
		return view(h_->method);
	}
	/* As it was sent. */
	std::string_view target() const noexcept
	{
		return view(h_->target);
	}
	/* Of the target if it has one, else of the field Host. */
	std::string_view host() const noexcept
	{
		return view(h_->host);
	}
	unsigned status() const noexcept
	{
		return h_->status;
	}
	/* The length of the body in bytes; nothing if it is not known. */
	std::optional<std::uint64_t> length() const noexcept
	{
		if (h_->length == SENNIT_HTTP_UNKNOWN)
			return std::nullopt;
		return h_->length;
	}
	/* The value of the first field with this name, whatever the case of its
	 * letters. */
	std::optional<std::string_view> field(const std::string &name) const
	{
		const auto value = sennit_http_find(h_, name.c_str());

		if (!value.at)
			return std::nullopt;
		return view(value);
	}

	const sennit_http_head *native_handle() const noexcept
	{
		return h_;
	}

private:
	static std::string_view view(sennit_http_text text) noexcept
	{
		return { text.at, text.size };
	}

	const sennit_http_head *h_;
};

/* A connection, which belongs to somebody else: what serve_http() passes, and
 * what http_client is. One fiber at a time may use it. */
class http
{
public:
	explicit http(sennit_http *h) noexcept : h_(h)
	{
	}
	http(const http &) = delete;
	http &operator=(const http &) = delete;

	/* Wait for the next request or answer. Nothing: there are no more. */
	template <typename... How> std::optional<http_head> next(How &&...how)
	{
		static constexpr char   call[] = "sennit::io::http::next";
		const auto              l = detail::limit::of(how...);
		const sennit_http_head *head = nullptr;

		if (l.pass(sennit_http_next(needed(call), &head, l.deadline()),
			   call) > 0)
			return http_head(head);
		return std::nullopt;
	}

	/* Wait for a part of the body, which is valid until the next call.
	 * Nothing: the body has ended. */
	template <typename... How>
	std::optional<std::string_view> read(How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::read";
		const auto            l = detail::limit::of(how...);
		sennit_http_text      part{};

		if (l.pass_size(
			    sennit_http_read(needed(call), &part, l.deadline()),
			    call))
			return std::string_view(part.at, part.size);
		return std::nullopt;
	}

	/* Add a field to the head of the next answer or request. An error comes
	 * from the call that sends the head. */
	http &add_field(const std::string &name, const std::string &value)
	{
		sennit_http_add_field(needed("sennit::io::http::add_field"),
				      name.c_str(), value.c_str());
		return *this;
	}

	/* Answer the request with a status and the whole body. */
	template <typename... How>
	void answer(unsigned status, const_buffer body = {}, How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::answer";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_http_answer(needed(call), status, body.data(),
					  body.size(), l.deadline()),
		       call);
	}
	/* Answer with a body that follows by write() and ends by end(), in
	 * chunks or with a length. */
	template <typename... How>
	void begin_answer(unsigned status, std::optional<std::uint64_t> length,
			  How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::begin_answer";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_http_answer(needed(call), status, nullptr,
					  length.value_or(SENNIT_HTTP_UNKNOWN),
					  l.deadline()),
		       call);
		empty_ = length == std::uint64_t(0);
	}

	/* Ask the server, with the whole body. */
	template <typename... How>
	void ask(const std::string &method, const std::string &target,
		 const_buffer body = {}, How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::ask";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_http_ask(needed(call), method.c_str(),
				       target.c_str(), body.data(), body.size(),
				       l.deadline()),
		       call);
	}
	/* Ask with a body that follows by write() and ends by end(), in chunks
	 * or with a length. */
	template <typename... How>
	void begin_ask(const std::string &method, const std::string &target,
		       std::optional<std::uint64_t> length, How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::begin_ask";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_http_ask(needed(call), method.c_str(),
				       target.c_str(), nullptr,
				       length.value_or(SENNIT_HTTP_UNKNOWN),
				       l.deadline()),
		       call);
		empty_ = length == std::uint64_t(0);
	}

	/* Send the next bytes of the body that has begun. */
	template <typename... How> void write(const_buffer bytes, How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::write";
		const auto            l = detail::limit::of(how...);

		if (bytes.size())
			l.pass(sennit_http_write(needed(call), bytes.data(),
						 bytes.size(), l.deadline()),
			       call);
	}
	/* End that body. */
	template <typename... How> void end(How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::end";
		const auto            l = detail::limit::of(how...);

		/* A body of no bytes has ended with its head. */
		if (!std::exchange(empty_, false))
			l.pass(sennit_http_end(needed(call), l.deadline()),
			       call);
	}

	/* Send what is collected. */
	template <typename... How> void flush(How &&...how)
	{
		static constexpr char call[] = "sennit::io::http::flush";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_http_flush(needed(call), l.deadline()), call);
	}

	/* The status with which the last message was refused; 0: it was not. */
	unsigned refused() const noexcept
	{
		return sennit_http_refused(needed("sennit::io::http::refused"),
					   nullptr);
	}

	sennit_http *native_handle() const noexcept
	{
		return needed("sennit::io::http");
	}

protected:
	sennit_http *needed(const char *call) const noexcept
	{
		return detail::needed(h_, call,
				      "the sennit::io::http is empty: "
				      "not made because of an error, "
				      "or moved from");
	}

	sennit_http *h_;

private:
	bool empty_ = false; /* the body that has begun */
};

/* A connection to a server, which connects again when the server has ended it.
 */
class http_client : public http
{
public:
	/* Connect to the server of the URL. */
	template <typename... How>
	explicit http_client(const std::string &url, How &&...how)
	    : http(nullptr)
	{
		connect(detail::limit::of(how...), url, http_config());
	}
	template <typename... How>
	http_client(const std::string &url, sennit_http_config config,
		    How &&...how)
	    : http(nullptr)
	{
		connect(detail::limit::of(how...), url, config);
	}
	http_client(http_client &&other) noexcept
	    : http(std::exchange(other.h_, nullptr))
	{
	}
	http_client &operator=(http_client &&other) noexcept
	{
		std::swap(h_, other.h_);
		return *this;
	}
	~http_client()
	{
		sennit_http_destroy(h_);
	}

	explicit operator bool() const noexcept
	{
		return h_ != nullptr;
	}

private:
	void connect(const detail::limit &l, const std::string &url,
		     const sennit_http_config &config)
	{
		l.pass(sennit_http_connect(&h_, url.c_str(), &config,
					   l.deadline()),
		       "sennit::io::http_client");
	}
};

namespace detail
{

/* A function of a request. What it throws must not pass through the library. */
template <typename Answer> struct http_handler {
	Answer            &answer;
	std::exception_ptr thrown{};

	static int run(sennit_http *h, const sennit_http_head *request,
		       void *handler) noexcept
	{
		auto *self = static_cast<http_handler *>(handler);
		http  peer(h);

#if SENNIT_CPP_EXCEPTIONS
		try {
			self->answer(peer, http_head(request));
		} catch (...) {
			self->thrown = std::current_exception();
			return -ECONNABORTED;
		}
#else
		self->answer(peer, http_head(request));
#endif
		return 0;
	}
};

} // namespace detail

/* Serve a connection: answer(http &, http_head) for each request, until it
 * ends. What the function throws ends the connection, with the status 500 if it
 * has not answered, and comes out of this call. An end by the peer or by its
 * errors is no error of this call; a group that is cancelled is. */
template <typename Answer>
void serve_http(socket s, Answer &&answer,
		const sennit_http_config &config = http_config())
{
	using handler = detail::http_handler<std::remove_reference_t<Answer>>;
	handler   h{ answer };
	const int err = sennit_http_serve(s.release(), &config, handler::run,
					  &h);

#if SENNIT_CPP_EXCEPTIONS
	if (h.thrown)
		std::rethrow_exception(h.thrown);
#endif
	if (err == -ECANCELED || err == -EINVAL || err == -E2BIG ||
	    err == -ENOMEM || err == -ENOTSUP)
		detail::limit(SENNIT_NEVER, nullptr)
			.pass(err, "sennit::io::serve_http");
}

} // namespace io

SENNIT_CPP_END

#endif
