/* SPDX-License-Identifier: Apache-2.0 */
/* predicate.h - a predicate that sennit calls through frames of C, which an
 * exception must not cross: the exception is stored and rethrown on the other
 * side.
 */
#ifndef marl_detail_predicate_h
#define marl_detail_predicate_h

#include <exception>

namespace marl
{
namespace detail
{

template <typename F> class CalledByC
{
public:
	explicit CalledByC(F &function) : function_(function)
	{
	}

	/* A sennit_predicate. Its argument is the CalledByC. */
	static bool call(void *self)
	{
		return static_cast<CalledByC *>(self)->try_call();
	}

	void rethrow()
	{
		if (thrown_)
			std::rethrow_exception(thrown_);
	}

private:
#ifdef __EXCEPTIONS
	bool try_call()
	{
		try {
			return !thrown_ && function_();
		} catch (...) {
			thrown_ = std::current_exception();
		}
		return true;
	}
#else
	bool try_call()
	{
		return function_();
	}
#endif

	F                 &function_;
	std::exception_ptr thrown_;
};

} // namespace detail
} // namespace marl

#endif
