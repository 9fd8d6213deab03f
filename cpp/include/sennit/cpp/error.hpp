/* SPDX-License-Identifier: Apache-2.0 */
/* error.hpp - errors of the C calls as exceptions.
 *
 * Calls whose names begin with try_ and that do not wait throw none of these.
 * Without exceptions (-fno-exceptions) a call that would throw prints a line
 * and aborts.
 */
#ifndef SENNIT_CPP_ERROR_HPP
#define SENNIT_CPP_ERROR_HPP

#include "sennit/cpp/version.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#if SENNIT_CPP_EXCEPTIONS
#include <exception>
#endif

SENNIT_CPP_BEGIN

/* Thrown by a wait that the caller's group has ended: one of the two classes
 * below. A member that catches it should clean up and rethrow it, or return:
 * each further wait throws again. */
class interrupted : public std::system_error
{
protected:
	interrupted(int err, const char *what)
	    : std::system_error(err, std::generic_category(), what)
	{
	}
};

/* The group, or one around it, is cancelled. */
class cancelled : public interrupted
{
public:
	explicit cancelled(const char *what = "sennit")
	    : interrupted(ECANCELED, what)
	{
	}
};

/* The deadline of the group, or of one around it, has passed. Loops, DAGs and
 * I/O throw it at deadlines of their own, too. */
class timed_out : public interrupted
{
public:
	explicit timed_out(const char *what = "sennit")
	    : interrupted(ETIMEDOUT, what)
	{
	}
};

namespace detail
{

/* The error code of the result of a C call: 0 or negative. */
inline std::error_code code_of(int err) noexcept
{
	return std::error_code(-err, std::generic_category());
}

[[noreturn]] inline void fail(const std::error_code &code, const char *what)
{
#if SENNIT_CPP_EXCEPTIONS
	if (code == std::errc::not_enough_memory)
		throw std::bad_alloc();
	if (code == std::errc::operation_canceled)
		throw cancelled(what);
	if (code == std::errc::timed_out)
		throw timed_out(what);
	throw std::system_error(code, what);
#else
	std::fprintf(stderr, "sennit: %s: %s\n", what, code.message().c_str());
	std::abort();
#endif
}

/* Report misuse that would not reach the library's own checks, and abort. */
[[noreturn]] inline void misuse(const char *call, const char *why) noexcept
{
	std::fprintf(stderr, "sennit: misuse of %s: %s\n", call, why);
	std::abort();
}

/* Return p, the object of a handle. If there is none it is misuse, and `why`
 * says how a handle comes to have none. */
template <typename T>
T *needed(T *p, const char *call, const char *why) noexcept
{
	if (!p)
		misuse(call, why);
	return p;
}

inline void check(int err, const char *what)
{
	if (err)
		fail(code_of(err), what);
}

} // namespace detail

SENNIT_CPP_END

#endif
