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

#include <type_traits>
#include <utility>

namespace sennit
{

namespace detail
{

/* References to a T are counted in the C object inside it. */
template <typename T, typename Native, auto Retain, auto Release>
struct counted {
	using native = Native;

	static void retain(T *object) noexcept
	{
		Retain(object->native_handle());
	}
	static void release(T *object) noexcept
	{
		Release(object->native_handle());
	}
};

/* The same for each T, and how to create one. */
template <typename T> struct shared_calls;

template <>
struct shared_calls<event>
    : counted<event, sennit_event, sennit_event_retain, sennit_event_release> {
	static int create(native **e) noexcept
	{
		return sennit_event_create(e, SENNIT_EVENT_MANUAL, false,
					   nullptr);
	}
};

template <>
struct shared_calls<wait_group>
    : counted<wait_group, sennit_wait_group, sennit_wait_group_retain,
	      sennit_wait_group_release> {
	static int create(native **g) noexcept
	{
		return sennit_wait_group_create(g, 0, nullptr);
	}
};

template <>
struct shared_calls<semaphore>
    : counted<semaphore, sennit_semaphore, sennit_semaphore_retain,
	      sennit_semaphore_release> {
	static int create(native **s) noexcept
	{
		return sennit_semaphore_create(s, 0, nullptr);
	}
};

template <>
struct shared_calls<condition_variable>
    : counted<condition_variable, sennit_cond, sennit_cond_retain,
	      sennit_cond_release> {
	static int create(native **c) noexcept
	{
		return sennit_cond_create(c, nullptr);
	}
};

template <>
struct shared_calls<mutex>
    : counted<mutex, sennit_mutex, sennit_mutex_retain, sennit_mutex_release> {
	static int create(native **m) noexcept
	{
		return sennit_mutex_create(m, nullptr);
	}
};

template <typename T>
using shared_handle =
	handle<T, shared_calls<T>::retain, shared_calls<T>::release>;

} // namespace detail

/* A reference to a T, which is destroyed with the last reference. A handle that
 * was moved from has none; every other handle has one. Several threads may use
 * the handles of one object at once. One handle follows the rules of an
 * ordinary variable. */
template <typename T> class shared : public detail::shared_handle<T>
{
	using calls = detail::shared_calls<T>;
	using native = typename calls::native;

	/* A T is constructed in the memory of the C object and is freed with
	 * it. */
	static_assert(sizeof(T) == sizeof(native) &&
			      alignof(T) == alignof(native) &&
			      std::is_standard_layout<T>::value &&
			      std::is_trivially_destructible<T>::value,
		      "a T is the C object alone");

public:
	/* Construct a T from the arguments, which are those of its
	 * constructors. Throws std::bad_alloc. */
	template <typename... Args,
		  typename = std::enable_if_t<
			  std::is_nothrow_constructible<T, Args...>::value>>
	explicit shared(Args &&...args)
	{
		native *made;

		detail::check(calls::create(&made), "shared");
		this->object_ = ::new (static_cast<void *>(made))
			T(std::forward<Args>(args)...);
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

} // namespace sennit

#endif
