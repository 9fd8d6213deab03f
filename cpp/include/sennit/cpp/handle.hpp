/* SPDX-License-Identifier: Apache-2.0 */
/* handle.hpp - what the classes that refer to a counted object of the C
 * interface have in common. */
#ifndef SENNIT_CPP_HANDLE_HPP
#define SENNIT_CPP_HANDLE_HPP

#include "sennit/cpp/version.hpp"

#include <utility>

SENNIT_CPP_BEGIN

namespace detail
{

/* A reference to a T, or none. Copies are further references. Several threads
 * may use the handles of one object at once. One handle follows the rules of an
 * ordinary variable. */
template <typename T, auto Retain, auto Release> class handle
{
public:
	/* None. */
	handle() noexcept = default;
	handle(const handle &other) noexcept : object_(other.object_)
	{
		if (object_)
			Retain(object_);
	}
	handle(handle &&other) noexcept
	    : object_(std::exchange(other.object_, nullptr))
	{
	}
	handle &operator=(handle other) noexcept
	{
		swap(other);
		return *this;
	}
	~handle()
	{
		if (object_)
			Release(object_);
	}

	void swap(handle &other) noexcept
	{
		std::swap(object_, other.object_);
	}
	T *get() const noexcept
	{
		return object_;
	}
	explicit operator bool() const noexcept
	{
		return object_ != nullptr;
	}

	/* Whether both refer to the same object, or to none. */
	friend bool operator==(const handle &a, const handle &b) noexcept
	{
		return a.object_ == b.object_;
	}
	friend bool operator!=(const handle &a, const handle &b) noexcept
	{
		return a.object_ != b.object_;
	}

protected:
	/* The caller's reference goes to the handle. */
	explicit handle(T *object) noexcept : object_(object)
	{
	}

	/* Another reference to object, which may be NULL. */
	static T *retained(T *object) noexcept
	{
		if (object)
			Retain(object);
		return object;
	}

	T *object_ = nullptr;
};

} // namespace detail

SENNIT_CPP_END

#endif
