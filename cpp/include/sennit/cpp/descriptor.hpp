/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.hpp - descriptors that close themselves, pipes and files: io.h and
 * file.h.
 *
 * In libsennit-io.
 */
#ifndef SENNIT_CPP_DESCRIPTOR_HPP
#define SENNIT_CPP_DESCRIPTOR_HPP

#include "sennit/cpp/io_call.hpp"
#include "sennit/file.h"
#include "sennit/io.h"
#include "sennit/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

SENNIT_CPP_BEGIN

namespace io
{

class reader;
class stream;

namespace detail
{

/* Owns a descriptor, or none, and closes it at its end. */
class owner
{
public:
	owner() noexcept = default;
	/* fd goes to the new object. */
	explicit owner(int fd) noexcept : fd_(fd)
	{
	}
	owner(owner &&other) noexcept : fd_(other.release())
	{
	}
	owner &operator=(owner &&other) noexcept
	{
		if (this != &other)
			shut(fd_.exchange(other.release()));
		return *this;
	}
	~owner()
	{
		shut(fd_);
	}

	/* Whether there is a descriptor. */
	explicit operator bool() const noexcept
	{
		return fd_ >= 0;
	}
	/* The descriptor; negative if there is none. */
	int native_handle() const noexcept
	{
		return fd_;
	}
	/* Return the descriptor, which is the caller's now. */
	int release() noexcept
	{
		return fd_.exchange(none);
	}
	/* Close the descriptor. Calls that wait on it, of any fiber or thread,
	 * end with sennit::cancelled; later ones fail with
	 * std::errc::bad_file_descriptor. io.h says what a close means for a
	 * call that begins on another thread at the same time. */
	template <typename... How> void close(How &&...how)
	{
		needed("sennit::io::close");
		limit::of(how...).pass(sennit_close(fd_.exchange(closed)),
				       "sennit::io::close");
	}

protected:
	/* The descriptor, for a call. After close() there is none, but the call
	 * is correct and fails. If there never was one, it is misuse. */
	int needed(const char *call) const noexcept
	{
		const int fd = fd_;

		if (fd == none)
			misuse(call, "there is no descriptor: the object was "
				     "made by default, moved from or released");
		return fd;
	}

private:
	friend class io::reader;
	friend class io::stream;

	static constexpr int none = -1, closed = -2;

	static void shut(int fd) noexcept
	{
		if (fd >= 0)
			static_cast<void>(sennit_close(fd));
	}

	std::atomic<int> fd_{ none };
};

/* The result of a C call that reads exactly what was asked for. Returns whether
 * it has; not if the end came before the first byte. */
inline bool pass_exactly(const limit &l, int err, std::size_t done,
			 const char *call)
{
	const bool ended = err == -ENODATA && !done;

	l.pass(ended ? 0 : err, call);
	return !err;
}

} // namespace detail

/* A descriptor that something else owns and closes, for the calls of T: a
 * descriptor, file, socket or listener. The descriptor must exist while calls
 * use it.
 *
 * Example:
 *	sennit::io::view<sennit::io::socket> peer(fd);
 *
 *	peer->send_all("hello");
 */
template <typename T> class view
{
public:
	explicit view(int fd) noexcept : object_(fd)
	{
	}
	view(const T &owner) noexcept : object_(owner.native_handle())
	{
	}
	view(const T &&) = delete;
	view(const view &other) noexcept : view(other.object_)
	{
	}
	view &operator=(const view &other) noexcept
	{
		object_.release();
		object_ = T(other.object_.native_handle());
		return *this;
	}
	~view()
	{
		object_.release();
	}

	/* const, so nothing can close the descriptor through the view. */
	const T &operator*() const noexcept
	{
		return object_;
	}
	const T *operator->() const noexcept
	{
		return &object_;
	}

private:
	T object_;
};

/* A descriptor of any kind. */
class descriptor : public detail::owner
{
public:
	using owner::owner;

	/* Read up to to.size() bytes. Returns how many there were; 0: the end.
	 */
	template <typename... How>
	std::size_t read(mutable_buffer to, How &&...how) const
	{
		return read_by(detail::limit::of(how...), to,
			       "sennit::io::descriptor::read");
	}

	/* Read until the buffer is full. Returns true, or false if the end came
	 * before the first byte. If it comes later, the error is ENODATA. */
	template <typename... How>
	[[nodiscard]] bool read_exactly(mutable_buffer to, How &&...how) const
	{
		std::size_t done = 0;

		return read_exactly_by(detail::limit::of(how...), to, done);
	}

	/* Read to the end. */
	template <typename... How> std::string read_all(How &&...how) const
	{
		const auto  l = detail::limit::of(how...);
		std::string all;
		std::size_t size = 0, got = 1;

		while (got) {
			all.resize(size + (size < 4096 ? 4096 : size));
			got = read_by(l, { &all[size], all.size() - size },
				      "sennit::io::descriptor::read_all");
			size += got;
		}
		all.resize(size);
		return all;
	}

	/* Write up to from.size() bytes, one at least. Returns how many were
	 * written. A pipe without a reader raises SIGPIPE. */
	template <typename... How>
	std::size_t write(const_buffer from, How &&...how) const
	{
		const auto l = detail::limit::of(how...);

		return l.pass_size(
			sennit_write(needed("sennit::io::descriptor::write"),
				     from.data(), from.size(), l.deadline()),
			"sennit::io::descriptor::write");
	}

	/* Write all of it. If it fails, some bytes may have been written. */
	template <typename... How>
	void write_all(const_buffer from, How &&...how) const
	{
		std::size_t done = 0;

		write_all_by(detail::limit::of(how...), from, done);
	}

	/* Wait for one of the events of poll(). Returns the events. */
	template <typename... How> int poll(short events, How &&...how) const
	{
		const auto l = detail::limit::of(how...);

		return l.pass(
			sennit_poll(needed("sennit::io::descriptor::poll"),
				    events, l.deadline()),
			"sennit::io::descriptor::poll");
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. The object and the memory must exist until the
	 * coroutine continues. */
	template <typename... How>
	auto async_read(mutable_buffer to, How &&...how) const
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this, to](const detail::limit &l) {
				return read_by(
					l, to,
					"sennit::io::descriptor::async_read");
			});
	}
	template <typename... How>
	auto async_read_exactly(mutable_buffer to, How &&...how) const
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this, to,
			 done = std::size_t()](const detail::limit &l) mutable {
				return read_exactly_by(l, to, done);
			});
	}
	template <typename... How>
	auto async_write_all(const_buffer from, How &&...how) const
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
	std::size_t read_by(const detail::limit &l, mutable_buffer to,
			    const char *call) const
	{
		return l.pass_size(sennit_read(needed(call), to.data(),
					       to.size(), l.deadline()),
				   call);
	}
	bool read_exactly_by(const detail::limit &l, mutable_buffer to,
			     std::size_t &done) const
	{
		static constexpr char call[] =
			"sennit::io::descriptor::read_exactly";
		const int err = sennit_read_exactly(needed(call), to.data(),
						    to.size(), &done,
						    l.deadline());

		return detail::pass_exactly(l, err, done, call);
	}
	void write_all_by(const detail::limit &l, const_buffer from,
			  std::size_t &done) const
	{
		static constexpr char call[] =
			"sennit::io::descriptor::write_all";

		l.pass(sennit_write_all(needed(call), from.data(), from.size(),
					&done, l.deadline()),
		       call);
	}
};

/* The two ends of a pipe. What is written to `out` is read from `in`; `in` ends
 * when all descriptors of the other end are closed. */
struct pipe {
	/* Make a pipe. Both ends are closed on exec. */
	template <typename... How> static pipe open(How &&...how)
	{
		int       fds[2];
		const int err = ::pipe2(fds, O_CLOEXEC) ? -errno : 0;

		detail::limit::of(how...).pass(err, "sennit::io::pipe::open");
		if (err)
			return {};
		return { descriptor(fds[0]), descriptor(fds[1]) };
	}

	descriptor in, out;
};

/* How a file is opened: the flags and the mode of open(). Files are closed on
 * exec. */
struct opening {
	opening(int flags_ = O_RDONLY, mode_t mode_ = 0666) noexcept
	    : flags(flags_), mode(mode_)
	{
	}

	int    flags;
	mode_t mode;
};

/* A file. read() and write() use its position. If the worker waits by io_uring
 * or the file is cached, no thread blocks for it (file.h). */
class file : public descriptor
{
public:
	using descriptor::descriptor;

	/* Open the file at `path`. */
	template <typename... How>
	static file open(const std::string &path, opening mode = opening(),
			 How &&...how)
	{
		const auto l = detail::limit::of(how...);
		const int fd = sennit_open(path.c_str(), mode.flags | O_CLOEXEC,
					   mode.mode, l.deadline());

		l.pass(fd, "sennit::io::file::open");
		return fd < 0 ? file() : file(fd);
	}

	/* The same at byte `at`, without the position. */
	template <typename... How>
	std::size_t read_at(mutable_buffer to, std::int64_t at,
			    How &&...how) const
	{
		static constexpr char call[] = "sennit::io::file::read_at";
		const auto            l = detail::limit::of(how...);

		return l.pass_size(sennit_pread(needed(call), to.data(),
						to.size(), at, l.deadline()),
				   call);
	}
	template <typename... How>
	std::size_t write_at(const_buffer from, std::int64_t at,
			     How &&...how) const
	{
		static constexpr char call[] = "sennit::io::file::write_at";
		const auto            l = detail::limit::of(how...);

		return l.pass_size(sennit_pwrite(needed(call), from.data(),
						 from.size(), at, l.deadline()),
				   call);
	}

	/* In bytes. */
	template <typename... How> std::uint64_t size(How &&...how) const
	{
		static constexpr char call[] = "sennit::io::file::size";
		const auto            l = detail::limit::of(how...);
		struct statx          found = {};

		l.pass(sennit_statx(needed(call), "", AT_EMPTY_PATH, STATX_SIZE,
				    &found, l.deadline()),
		       call);
		return found.stx_size;
	}
	/* Make it `size` bytes long. */
	template <typename... How>
	void resize(std::int64_t size, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::file::resize";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_ftruncate(needed(call), size, l.deadline()),
		       call);
	}
	/* Wait until everything that was written is on its disc. */
	template <typename... How> void sync(How &&...how) const
	{
		static constexpr char call[] = "sennit::io::file::sync";
		const auto            l = detail::limit::of(how...);

		l.pass(sennit_fsync(needed(call), l.deadline()), call);
	}
};

/* A buffered reader of a descriptor, a socket or a file, which must exist as
 * long as the reader does: not a temporary, and not moved from. Nothing else
 * may read from it meanwhile. No byte is lost: a call that ended at its
 * deadline or was cancelled can be repeated. */
class reader
{
public:
	/* size bounds a line with its end, and what read_delimited() and peek()
	 * return. The reader allocates `size` bytes when it first reads. */
	explicit reader(const descriptor &source, std::size_t size = 8192)
	{
		sennit_reader_init(&r_, source.needed("sennit::io::reader"),
				   nullptr, size);
	}
	explicit reader(const descriptor &&, std::size_t = 0) = delete;
	reader(const reader &) = delete;
	reader &operator=(const reader &) = delete;
	~reader()
	{
		sennit_reader_destroy(&r_);
	}

	/* Take the next line, without its end. It is valid until the next call.
	 * No value: no more lines come. A line for which there is no room is
	 * the error EMSGSIZE. */
	template <typename... How>
	[[nodiscard]] std::optional<std::string_view> read_line(How &&...how) &
	{
		return read_line_by(detail::limit::of(how...));
	}

	/* Take the bytes up to the next `delimiter`, which is among them. They
	 * are valid until the next call. No value: the end came first. */
	template <typename... How>
	[[nodiscard]] std::optional<std::string_view> read_delimited(
		char delimiter, How &&...how) &
	{
		const auto           l = detail::limit::of(how...);
		void                *bytes = nullptr;
		const std::ptrdiff_t n = sennit_reader_read_delimited(
			&r_, delimiter, &bytes, l.deadline());

		return piece(l, n, bytes, "sennit::io::reader::read_delimited");
	}

	/* As descriptor::read() and descriptor::read_exactly(). */
	template <typename... How>
	std::size_t read(mutable_buffer to, How &&...how)
	{
		return read_by(detail::limit::of(how...), to);
	}
	template <typename... How>
	[[nodiscard]] bool read_exactly(mutable_buffer to, How &&...how)
	{
		std::size_t done = 0;

		return read_exactly_by(detail::limit::of(how...), to, done);
	}

	/* Wait until there are at least `least` bytes, and look at those that
	 * there are. They are valid until the next call. No value: the end came
	 * first. skip() takes some of them. */
	template <typename... How>
	[[nodiscard]] std::optional<std::string_view> peek(std::size_t least,
							   How &&...how) &
	{
		const auto           l = detail::limit::of(how...);
		void                *bytes = nullptr;
		const std::ptrdiff_t n = sennit_reader_peek(&r_, least, &bytes,
							    l.deadline());

		return piece(l, n, bytes, "sennit::io::reader::peek");
	}
	void skip(std::size_t n) noexcept
	{
		sennit_reader_skip(&r_, n);
	}

	sennit_reader *native_handle() noexcept
	{
		return &r_;
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. */
	template <typename... How> auto async_read_line(How &&...how) &
	{
		return detail::io_awaiter(detail::limit::of(how...),
					  [this](const detail::limit &l) {
						  return read_line_by(l);
					  });
	}
	template <typename... How>
	auto async_read(mutable_buffer to, How &&...how)
	{
		return detail::io_awaiter(detail::limit::of(how...),
					  [this, to](const detail::limit &l) {
						  return read_by(l, to);
					  });
	}
	template <typename... How>
	auto async_read_exactly(mutable_buffer to, How &&...how)
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this, to,
			 done = std::size_t()](const detail::limit &l) mutable {
				return read_exactly_by(l, to, done);
			});
	}
#endif

protected:
	/* Another source: the derived class initialises the reader. */
	reader() noexcept = default;

private:
	static std::optional<std::string_view> piece(const detail::limit &l,
						     std::ptrdiff_t       n,
						     const void          *bytes,
						     const char          *call)
	{
		l.pass(n == -ENODATA ? 0 : n, call);
		if (n < 0)
			return std::nullopt;
		return std::string_view(static_cast<const char *>(bytes),
					static_cast<std::size_t>(n));
	}
	std::optional<std::string_view> read_line_by(const detail::limit &l)
	{
		char                *line = nullptr;
		const std::ptrdiff_t n = sennit_reader_read_line(&r_, &line,
								 l.deadline());

		return piece(l, n, line, "sennit::io::reader::read_line");
	}
	std::size_t read_by(const detail::limit &l, mutable_buffer to)
	{
		return l.pass_size(sennit_reader_read(&r_, to.data(), to.size(),
						      l.deadline()),
				   "sennit::io::reader::read");
	}
	bool read_exactly_by(const detail::limit &l, mutable_buffer to,
			     std::size_t &done)
	{
		const int err = sennit_reader_read_exactly(
			&r_, to.data(), to.size(), &done, l.deadline());

		return detail::pass_exactly(l, err, done,
					    "sennit::io::reader::read_exactly");
	}

	sennit_reader r_;
};

} // namespace io

SENNIT_CPP_END

#endif
