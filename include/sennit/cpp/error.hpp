/* SPDX-License-Identifier: Apache-2.0 */
/* error.hpp - errors of the C calls as exceptions.
 *
 * Without exceptions (-fno-exceptions) a call that would throw prints a line
 * and aborts, and a wait that the cancellation of its group ends counts as
 * timed out. Calls whose names begin with try_ throw in neither case.
 */
#ifndef SENNIT_CPP_ERROR_HPP
#define SENNIT_CPP_ERROR_HPP

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#if defined(__cpp_exceptions)
#define SENNIT_CPP_EXCEPTIONS 1
#include <exception>
#else
#define SENNIT_CPP_EXCEPTIONS 0
#endif

namespace sennit
{

/* Thrown by waits of members of a cancelled group. */
class cancelled : public std::system_error
{
public:
	cancelled()
	    : std::system_error(ECANCELED, std::generic_category(), "sennit")
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
		throw cancelled();
	throw std::system_error(code, what);
#else
	std::fprintf(stderr, "sennit: %s: error %d\n", what, code.value());
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

/* Turn the result of a wait with a deadline into whether it ended in time.
 * Throws for other errors. */
inline bool waited(int err)
{
	if (!err)
		return true;
#if SENNIT_CPP_EXCEPTIONS
	if (err != -ETIMEDOUT)
		fail(code_of(err), "wait");
#endif
	return false;
}

} // namespace detail
} // namespace sennit

#endif
