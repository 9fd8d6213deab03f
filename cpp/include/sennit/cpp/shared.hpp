/* SPDX-License-Identifier: Apache-2.0 */
/* shared.hpp - shared.h as a handle: an event, wait_group, semaphore,
 * condition_variable or mutex that exists as long as its last handle.
 *
 *	sennit::shared<sennit::event> done;
 *
 *	sennit::schedule([done] { done->set(); });
 *	done->wait();
 *
 * (std::make_shared<sennit::event>() works as well. This handle is one pointer,
 * and C code can hold references to the same object.)
 */
#ifndef SENNIT_CPP_SHARED_HPP
#define SENNIT_CPP_SHARED_HPP

#include "sennit/cpp/condition_variable.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/event.hpp"
#include "sennit/cpp/handle.hpp"
#include "sennit/cpp/mutex.hpp"
#include "sennit/cpp/semaphore.hpp"
#include "sennit/cpp/wait_group.hpp"
#include "sennit/shared.h"

#include <cerrno>
#include <new>
#include <type_traits>
#include <utility>

SENNIT_CPP_BEGIN

namespace detail
{

/* The types of which a shared<T> may be: their objects are C objects alone. */
template <typename T> struct is_shareable : std::false_type {
};
template <> struct is_shareable<event> : std::true_type {
};
template <> struct is_shareable<wait_group> : std::true_type {
};
template <> struct is_shareable<semaphore> : std::true_type {
};
template <> struct is_shareable<condition_variable> : std::true_type {
};
template <> struct is_shareable<mutex> : std::true_type {
};

template <typename T> void retain_shared(T *object) noexcept
{
	sennit_shared_retain(object->native_handle());
}

template <typename T> void release_shared(T *object) noexcept
{
	sennit_shared_release(object->native_handle());
}

template <typename T>
using shared_handle = handle<T, retain_shared<T>, release_shared<T>>;

} // namespace detail

/* A reference to a T, which is destroyed with the last reference. A handle that
 * was moved from has none; every other handle has one. Several threads may use
 * the handles of one object at once. One handle follows the rules of an
 * ordinary variable. */
template <typename T> class shared : public detail::shared_handle<T>
{
	/* A T is constructed in the memory of the shared object and is freed
	 * with it. */
	static_assert(detail::is_shareable<T>::value &&
			      std::is_standard_layout<T>::value &&
			      std::is_trivially_destructible<T>::value &&
			      alignof(T) <= 16,
		      "a T is the C object alone");

public:
	/* Construct a T from the arguments, which are those of its
	 * constructors. Throws std::bad_alloc. */
	template <typename... Args,
		  typename = std::enable_if_t<
			  std::is_nothrow_constructible<T, Args...>::value>>
	explicit shared(Args &&...args)
	{
		void *memory = sennit_shared_create(sizeof(T), nullptr,
						    nullptr);

		detail::check(memory ? 0 : -ENOMEM, "shared");
		this->object_ = ::new (memory) T(std::forward<Args>(args)...);
	}

	T &operator*() const noexcept
	{
		return *object();
	}
	T *operator->() const noexcept
	{
		return object();
	}

private:
	T *object() const noexcept
	{
		return detail::needed(this->object_, "sennit::shared",
				      "it was moved from");
	}
};

SENNIT_CPP_END

#endif
