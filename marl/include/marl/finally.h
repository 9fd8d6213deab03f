/* SPDX-License-Identifier: Apache-2.0 */
/* finally.h - calls a function at the end of a scope.
 *
 * make_finally() ties the call to a scope. make_shared_finally() ties it to the
 * last copy of a pointer, for example of copies that several tasks captured.
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

/* The base class of all of them, so that a function can take any. */
class Finally
{
public:
	virtual ~Finally() = default;
};

namespace detail
{

/* Calls a function in its destructor, unless it was moved from. */
template <typename F> class ScopeEnd : public Finally
{
public:
	ScopeEnd(const F &function) : call_(function)
	{
	}
	ScopeEnd(F &&function) : call_(std::move(function))
	{
	}
	ScopeEnd(ScopeEnd &&other)
	    : call_(std::move(other.call_)), armed_(other.armed_)
	{
		other.armed_ = false;
	}
	~ScopeEnd() override
	{
		if (armed_)
			call_();
	}

	ScopeEnd(const ScopeEnd &) = delete;
	ScopeEnd &operator=(const ScopeEnd &) = delete;
	ScopeEnd &operator=(ScopeEnd &&) = delete;

private:
	F    call_;
	bool armed_ = true;
};

} // namespace detail

template <typename F>
inline detail::ScopeEnd<typename std::decay<F>::type> make_finally(F &&function)
{
	return detail::ScopeEnd<typename std::decay<F>::type>(
		std::forward<F>(function));
}

template <typename F>
inline std::shared_ptr<Finally> make_shared_finally(F &&function)
{
	return std::make_shared<detail::ScopeEnd<typename std::decay<F>::type>>(
		std::forward<F>(function));
}

} // namespace marl

#endif
#endif
