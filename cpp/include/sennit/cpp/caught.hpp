/* SPDX-License-Identifier: Apache-2.0 */
/* caught.hpp - exceptions of functions that the library calls through C, which
 * no exception may cross. The first exception is stored and rethrown on the
 * other side.
 */
#ifndef SENNIT_CPP_CAUGHT_HPP
#define SENNIT_CPP_CAUGHT_HPP

#include "sennit/cpp/error.hpp"

#include <atomic>
#include <type_traits>
#include <utility>

SENNIT_CPP_BEGIN

namespace detail
{

class caught
{
public:
	/* The error of a function that has thrown. */
	static constexpr int threw = ENOTRECOVERABLE;

	/* Call f(), which returns nothing or an int: 0 or a negative errno
	 * value. Returns that value; -threw if f has thrown; -ECANCELED or
	 * -ETIMEDOUT if it has thrown sennit::cancelled or timed_out, which are
	 * not stored. */
	template <typename F> int call(F &&f)
	{
#if SENNIT_CPP_EXCEPTIONS
		try {
			return call_plainly(f);
		} catch (const interrupted &e) {
			return -e.code().value();
		} catch (...) {
			note(std::current_exception());
			return -threw;
		}
#else
		return call_plainly(f);
#endif
	}

	/* Call f() where no error can be returned. Returns whether f() has not
	 * thrown; an exception is stored. */
	template <typename F> bool run(F &&f)
	{
#if SENNIT_CPP_EXCEPTIONS
		try {
			f();
		} catch (...) {
			note(std::current_exception());
			return false;
		}
#else
		f();
#endif
		return true;
	}

	/* Return whether an exception is stored. Other threads may see it
	 * late. */
	bool any() const noexcept
	{
		return any_.load(std::memory_order_relaxed) != 0;
	}

	/* Rethrow the stored exception, after all calls have ended. */
	void rethrow()
	{
#if SENNIT_CPP_EXCEPTIONS
		if (exception_)
			std::rethrow_exception(std::move(exception_));
#endif
	}

private:
	template <typename F> static int call_plainly(F &f)
	{
		if constexpr (std::is_same_v<std::invoke_result_t<F &>, int>) {
			return f();
		} else {
			f();
			return 0;
		}
	}

#if SENNIT_CPP_EXCEPTIONS
	void note(std::exception_ptr e) noexcept
	{
		if (!any_.exchange(1))
			exception_ = std::move(e);
	}

	std::exception_ptr exception_; /* written by the thread whose note() was
					* first */
#endif
	/* No bool: riscv64 exchanges bytes by libatomic only. */
	std::atomic<int> any_{ 0 };
};

} // namespace detail

SENNIT_CPP_END

#endif
