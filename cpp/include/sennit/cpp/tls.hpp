/* SPDX-License-Identifier: Apache-2.0 */
/* tls.hpp - TLS over sockets: tls.h.
 *
 * In libsennit-tls. io.hpp does not include this header: link to sennit::tls.
 *
 *	sennit::io::tls_context c(sennit::io::tls_config()
 *		.certificate("server.pem").key("key.pem"));
 *	sennit::io::tls peer = sennit::io::accept_tls(c, l.accept(), 10s);
 *
 *	while (const std::size_t n = peer.read(bytes, 30s))
 *		peer.write_all({ bytes, n }, 30s);
 *	peer.shutdown(30s);
 *
 * Memory, deadlines and errors are given as in io.hpp. The errors are those of
 * tls.h: ECONNABORTED is an end without the closing alert, EKEYREJECTED a
 * certificate that is not accepted, EPROTO another violation of the protocol.
 * tls::error() has their reason as a text.
 */
#ifndef SENNIT_CPP_TLS_HPP
#define SENNIT_CPP_TLS_HPP

#include "sennit/cpp/socket.hpp"
#include "sennit/tls.h"

#include <string>
#include <utility>

SENNIT_CPP_BEGIN

namespace io
{

/* What a context is made of. Each text and each name of a file that is empty
 * has its default. A certificate, a key and what is trusted are in PEM form, in
 * a file or, with _text, in memory. */
class tls_config
{
public:
	/* The own certificate, then those of its issuers in order. A server
	 * needs one. */
	tls_config &certificate(std::string file)
	{
		certificate_ = std::move(file);
		return *this;
	}
	tls_config &certificate_text(std::string pem)
	{
		certificate_text_ = std::move(pem);
		return *this;
	}
	/* The key of the certificate, without a passphrase. */
	tls_config &key(std::string file)
	{
		key_ = std::move(file);
		return *this;
	}
	tls_config &key_text(std::string pem)
	{
		key_text_ = std::move(pem);
		return *this;
	}
	/* The issuers whose certificates are accepted; else those that the
	 * system trusts. */
	tls_config &trusted(std::string file)
	{
		trusted_ = std::move(file);
		return *this;
	}
	tls_config &trusted_text(std::string pem)
	{
		trusted_text_ = std::move(pem);
		return *this;
	}
	/* For ALPN: names, separated by commas, the preferred one first. */
	tls_config &protocols(std::string names)
	{
		protocols_ = std::move(names);
		return *this;
	}
	/* A server requires a certificate of each client. */
	tls_config &ask_clients()
	{
		flags_ |= SENNIT_TLS_ASK_CLIENTS;
		return *this;
	}
	/* A client accepts any certificate: no protection against a man in the
	 * middle. */
	tls_config &trust_all()
	{
		flags_ |= SENNIT_TLS_TRUST_ALL;
		return *this;
	}

private:
	friend class tls_context;

	static const char *given(const std::string &text) noexcept
	{
		return text.empty() ? nullptr : text.c_str();
	}
	/* Valid as long as this object is not changed. */
	sennit_tls_config native() const noexcept
	{
		sennit_tls_config c{};

		c.size = sizeof(c);
		c.certificate = given(certificate_);
		c.certificate_text = given(certificate_text_);
		c.key = given(key_);
		c.key_text = given(key_text_);
		c.trusted = given(trusted_);
		c.trusted_text = given(trusted_text_);
		c.protocols = given(protocols_);
		c.flags = flags_;
		return c;
	}

	std::string   certificate_, certificate_text_, key_, key_text_;
	std::string   trusted_, trusted_text_, protocols_;
	std::uint32_t flags_ = 0;
};

/* What connections share: certificates, and the issuers that are trusted. For
 * any number of connections, of clients and of servers, on any threads. A
 * connection keeps what it needs of it. */
class tls_context
{
public:
	/* Without a configuration: for clients, all defaults. what() of the
	 * error says which part of the configuration is not valid, and why. */
	template <typename... How>
	explicit tls_context(const tls_config &config = tls_config(),
			     How &&...how)
	{
		const sennit_tls_config c = config.native();
		char                    why[256] = "";

		pass(detail::limit::of(how...),
		     sennit_tls_context_create(&c_, &c, why, sizeof(why)), why);
	}
	tls_context(tls_context &&other) noexcept
	    : c_(std::exchange(other.c_, nullptr))
	{
	}
	tls_context &operator=(tls_context &&other) noexcept
	{
		tls_context old(std::move(other));

		std::swap(c_, old.c_);
		return *this;
	}
	~tls_context()
	{
		sennit_tls_context_destroy(c_);
	}

	/* Use another configuration for connections that are made from now on.
	 * Any thread may do this at any time. */
	template <typename... How>
	void reload(const tls_config &config, How &&...how)
	{
		const sennit_tls_config c = config.native();
		char                    why[256] = "";

		pass(detail::limit::of(how...),
		     sennit_tls_context_reload(native_handle(), &c, why,
					       sizeof(why)),
		     why);
	}

	sennit_tls_context *native_handle() const noexcept
	{
		return detail::needed(
			c_, "sennit::io::tls_context",
			"it could not be made, or was moved from");
	}

private:
	static void pass(const detail::limit &l, int err, const char *why)
	{
		const std::string text =
			std::string("sennit::io::tls_context: ") + why;

		l.pass(err, text.c_str());
	}

	sennit_tls_context *c_ = nullptr;
};

/* A TLS connection, which owns its socket. One fiber may read while another one
 * writes. After an error other than a deadline or a cancellation all further
 * calls fail with the same error. */
class tls
{
public:
	tls() noexcept = default;
	/* Make a connection over s. Nothing is sent yet: accept() or connect()
	 * comes first. */
	template <typename... How>
	tls(const tls_context &c, socket s, How &&...how)
	    : socket_(std::move(s))
	{
		detail::limit::of(how...).pass(
			sennit_tls_create(&t_, c.native_handle(),
					  socket_.native_handle()),
			"sennit::io::tls");
	}
	tls(tls &&other) noexcept
	    : socket_(std::move(other.socket_)),
	      t_(std::exchange(other.t_, nullptr))
	{
	}
	tls &operator=(tls &&other) noexcept
	{
		if (this != &other) {
			sennit_tls_destroy(t_); /* before its socket */
			t_ = std::exchange(other.t_, nullptr);
			socket_ = std::move(other.socket_);
		}
		return *this;
	}
	~tls()
	{
		sennit_tls_destroy(t_);
	}

	explicit operator bool() const noexcept
	{
		return t_ != nullptr;
	}

	/* Perform the handshake, as the server, or as a client of `host`, a
	 * name or an address for which the server's certificate must be valid.
	 */
	template <typename... How> void accept(How &&...how)
	{
		static constexpr char call[] = "sennit::io::tls::accept";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_tls_accept(needed(call), l.deadline()), call);
	}
	template <typename... How>
	void connect(const std::string &host, How &&...how)
	{
		static constexpr char call[] = "sennit::io::tls::connect";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_tls_connect(needed(call), host.c_str(),
					  l.deadline()),
		       call);
	}

	/* Read up to to.size() bytes. Returns how many there were; 0: the peer
	 * has said that there are no more. */
	template <typename... How>
	std::size_t read(mutable_buffer to, How &&...how)
	{
		return read_by(detail::limit::of(how...), to);
	}

	/* Wait until read() has something to return. A connection receives
	 * ahead, so its socket does not tell. In a select write
	 * sennit::on_case(sennit_case_tls(t.native_handle()), f). */
	template <typename... How> void wait_readable(How &&...how)
	{
		static constexpr char call[] = "sennit::io::tls::wait_readable";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_tls_wait_readable(needed(call), l.deadline()),
		       call);
	}

	/* Write up to from.size() bytes, one at least. Returns how many were
	 * written. */
	template <typename... How>
	std::size_t write(const_buffer from, How &&...how)
	{
		static constexpr char call[] = "sennit::io::tls::write";
		const auto            l = detail::limit::of(how...);

		return l.pass_size(sennit_tls_write(needed(call), from.data(),
						    from.size(), l.deadline()),
				   call);
	}

	/* Write all of it. If it fails, some bytes may have been written. */
	template <typename... How>
	void write_all(const_buffer from, How &&...how)
	{
		std::size_t done = 0;

		write_all_by(detail::limit::of(how...), from, done);
	}

	/* Tell the peer that no more data will be written. Reading is still
	 * possible. Without this call, the end looks truncated to the peer. */
	template <typename... How> void shutdown(How &&...how)
	{
		static constexpr char call[] = "sennit::io::tls::shutdown";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_tls_shutdown(needed(call), l.deadline()), call);
	}

	/* Why the connection has failed, in OpenSSL's words; "" if it has not,
	 * or if there is no text. */
	std::string error() const
	{
		const char *why =
			sennit_tls_error(needed("sennit::io::tls::error"));

		return why ? why : "";
	}
	/* The protocol that ALPN selected; "": none. */
	std::string protocol() const
	{
		const char *name =
			sennit_tls_alpn(needed("sennit::io::tls::protocol"));

		return name ? name : "";
	}

	/* The socket, for its addresses and for shutdown(), which ends calls
	 * that wait. */
	const io::socket &lower() const noexcept
	{
		return socket_;
	}
	sennit_tls *native_handle() const noexcept
	{
		return needed("sennit::io::tls");
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. The object and the memory must exist until the
	 * coroutine continues. */
	template <typename... How>
	auto async_read(mutable_buffer to, How &&...how)
	{
		return detail::io_awaiter(detail::limit::of(how...),
					  [this, to](const detail::limit &l) {
						  return read_by(l, to);
					  });
	}
	template <typename... How>
	auto async_write_all(const_buffer from, How &&...how)
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this, from,
			 done = std::size_t()](const detail::limit &l) mutable {
				write_all_by(l, from, done);
			});
	}
#endif

private:
	template <typename... How>
	friend tls accept_tls(const tls_context &c, socket s, How &&...how);
	template <typename... How>
	friend tls connect_tls(const tls_context &c, socket s,
			       const std::string &host, How &&...how);

	/* A connection after its handshake; host: nullptr for the server. */
	static tls made(const detail::limit &l, const tls_context &c, socket s,
			const char *host, std::string call)
	{
		tls t;
		int err;

		t.socket_ = std::move(s);
		err = sennit_tls_create(&t.t_, c.native_handle(),
					t.socket_.native_handle());
		if (!err)
			err = host ? sennit_tls_connect(t.t_, host,
							l.deadline())
				   : sennit_tls_accept(t.t_, l.deadline());
		if (err && t.t_)
			call += t.error();
		l.pass(err, call.c_str());
		return err ? tls() : std::move(t);
	}

	sennit_tls *needed(const char *call) const noexcept
	{
		return detail::needed(
			t_, call,
			"the sennit::io::tls is empty: made by "
			"default, moved from, or not made because "
			"of an error");
	}
	std::size_t read_by(const detail::limit &l, mutable_buffer to)
	{
		static constexpr char call[] = "sennit::io::tls::read";

		return l.pass_size(sennit_tls_read(needed(call), to.data(),
						   to.size(), l.deadline()),
				   call);
	}
	void write_all_by(const detail::limit &l, const_buffer from,
			  std::size_t &done)
	{
		static constexpr char call[] = "sennit::io::tls::write_all";

		l.pass(sennit_tls_write_all(needed(call), from.data(),
					    from.size(), &done, l.deadline()),
		       call);
	}

	io::socket  socket_;
	sennit_tls *t_ = nullptr;
};

/* Make a connection over s and perform the handshake, as the server. what() of
 * the error has OpenSSL's words. */
template <typename... How>
tls accept_tls(const tls_context &c, socket s, How &&...how)
{
	return tls::made(detail::limit::of(how...), c, std::move(s), nullptr,
			 "sennit::io::accept_tls: ");
}

/* The same as a client of `host`. */
template <typename... How>
tls connect_tls(const tls_context &c, socket s, const std::string &host,
		How &&...how)
{
	return tls::made(detail::limit::of(how...), c, std::move(s),
			 host.c_str(), "sennit::io::connect_tls: ");
}

/* A buffered reader of a TLS connection, which must exist as long as the reader
 * does: not a temporary, and not moved from. */
class tls_reader : public reader
{
public:
	explicit tls_reader(tls &source, std::size_t size = 8192)
	{
		sennit_reader_init_tls(reader::native_handle(),
				       source.native_handle(), nullptr, size);
	}
	explicit tls_reader(tls &&, std::size_t = 0) = delete;
};

} // namespace io

SENNIT_CPP_END

#endif
