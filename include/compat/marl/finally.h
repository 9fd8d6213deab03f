/* SPDX-License-Identifier: Apache-2.0 */
/* finally.h - calls a function when it goes out of scope.
 *
 * make_finally() ties the call to a scope. make_shared_finally() ties it to the
 * last copy of a pointer, such as those that several tasks captured.
 */
#ifndef marl_finally_h
#define marl_finally_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "export.h"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace marl
{

/* What all of them are, so that a function can take any. */
class Finally
{
public:
	virtual ~Finally() = default;
};

template <typename F> class FinallyImpl : public Finally
{
public:
	FinallyImpl(const F &function) : function_(function)
	{
	}
	FinallyImpl(F &&function) : function_(std::move(function))
	{
	}
	FinallyImpl(FinallyImpl &&other)
	    : function_(std::move(other.function_)), armed_(other.armed_)
	{
		other.armed_ = false;
	}
	~FinallyImpl() override
	{
		if (armed_)
			function_();
	}

	FinallyImpl(const FinallyImpl &) = delete;
	FinallyImpl &operator=(const FinallyImpl &) = delete;
	FinallyImpl &operator=(FinallyImpl &&) = delete;

private:
	F    function_;
	bool armed_ = true;
};

template <typename F>
inline FinallyImpl<typename std::decay<F>::type> make_finally(F &&function)
{
	return FinallyImpl<typename std::decay<F>::type>(
		std::forward<F>(function));
}

template <typename F>
inline std::shared_ptr<Finally> make_shared_finally(F &&function)
{
	return std::make_shared<FinallyImpl<typename std::decay<F>::type>>(
		std::forward<F>(function));
}

} // namespace marl

#endif
#endif
