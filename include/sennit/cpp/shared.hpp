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

/* The C calls for the object inside a T. */
template <typename T> struct shared_calls;

template <> struct shared_calls<event> {
	using native = sennit_event;

	static int create(native **e) noexcept
	{
		return sennit_event_create(e, SENNIT_EVENT_MANUAL, false,
					   nullptr);
	}
	static void retain(native *e) noexcept
	{
		sennit_event_retain(e);
	}
	static void release(native *e) noexcept
	{
		sennit_event_release(e);
	}
};

template <> struct shared_calls<wait_group> {
	using native = sennit_wait_group;

	static int create(native **g) noexcept
	{
		return sennit_wait_group_create(g, 0, nullptr);
	}
	static void retain(native *g) noexcept
	{
		sennit_wait_group_retain(g);
	}
	static void release(native *g) noexcept
	{
		sennit_wait_group_release(g);
	}
};

template <> struct shared_calls<semaphore> {
	using native = sennit_semaphore;

	static int create(native **s) noexcept
	{
		return sennit_semaphore_create(s, 0, nullptr);
	}
	static void retain(native *s) noexcept
	{
		sennit_semaphore_retain(s);
	}
	static void release(native *s) noexcept
	{
		sennit_semaphore_release(s);
	}
};

template <> struct shared_calls<condition_variable> {
	using native = sennit_cond;

	static int create(native **c) noexcept
	{
		return sennit_cond_create(c, nullptr);
	}
	static void retain(native *c) noexcept
	{
		sennit_cond_retain(c);
	}
	static void release(native *c) noexcept
	{
		sennit_cond_release(c);
	}
};

template <> struct shared_calls<mutex> {
	using native = sennit_mutex;

	static int create(native **m) noexcept
	{
		return sennit_mutex_create(m, nullptr);
	}
	static void retain(native *m) noexcept
	{
		sennit_mutex_retain(m);
	}
	static void release(native *m) noexcept
	{
		sennit_mutex_release(m);
	}
};

} // namespace detail

/* A reference to a T, which is destroyed with the last reference. A handle that
 * was moved from has none; every other handle has one. Several threads may use
 * the handles of one object at once. One handle follows the rules of an
 * ordinary variable. */
template <typename T> class shared
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
		object_ = ::new (static_cast<void *>(made))
			T(std::forward<Args>(args)...);
	}
	shared(const shared &other) noexcept : object_(other.object_)
	{
		if (object_)
			calls::retain(object_->native_handle());
	}
	shared(shared &&other) noexcept
	    : object_(std::exchange(other.object_, nullptr))
	{
	}
	shared &operator=(shared other) noexcept
	{
		swap(other);
		return *this;
	}
	~shared()
	{
		if (object_)
			calls::release(object_->native_handle());
	}

	T *get() const noexcept
	{
		return object_;
	}
	T &operator*() const noexcept
	{
		return *object_;
	}
	T *operator->() const noexcept
	{
		return object_;
	}
	explicit operator bool() const noexcept
	{
		return object_ != nullptr;
	}
	void swap(shared &other) noexcept
	{
		std::swap(object_, other.object_);
	}

	/* Whether both handles refer to the same object. */
	friend bool operator==(const shared &a, const shared &b) noexcept
	{
		return a.object_ == b.object_;
	}
	friend bool operator!=(const shared &a, const shared &b) noexcept
	{
		return a.object_ != b.object_;
	}

private:
	T *object_;
};

} // namespace sennit

#endif
