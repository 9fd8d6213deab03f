/* SPDX-License-Identifier: Apache-2.0 */
/* local.hpp - local.h for objects: task-local objects, as thread_local is for
 * threads. */
#ifndef SENNIT_CPP_LOCAL_HPP
#define SENNIT_CPP_LOCAL_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/local.h"

#include <memory>

SENNIT_CPP_BEGIN

/* A T for each task, and for each thread on its own stack. It is made by T() on
 * first use and destroyed at the end of the task or thread. A fiber_local
 * should be static: its destructor does not destroy the objects that remain. */
template <typename T> class fiber_local
{
public:
	fiber_local()
	{
		detail::check(sennit_local_key_create(&key_, destroy),
			      "fiber_local");
	}
	fiber_local(const fiber_local &) = delete;
	fiber_local &operator=(const fiber_local &) = delete;
	~fiber_local()
	{
		sennit_local_key_destroy(key_);
	}

	/* Return the caller's object. Throws what T() throws, or
	 * std::bad_alloc. */
	T &get()
	{
		if (T *there = find())
			return *there;

		auto made = make();

		detail::check(sennit_local_set(key_, made.get()),
			      "fiber_local");
		return *made.release();
	}
	T &operator*()
	{
		return get();
	}
	T *operator->()
	{
		return &get();
	}

	/* Return the caller's object, or NULL if it has none yet. */
	T *find() const noexcept
	{
		return static_cast<T *>(sennit_local_get(key_));
	}

private:
	static std::unique_ptr<T> make()
	{
		static_assert(
			std::is_default_constructible_v<T>,
			"sennit: fiber_local<T> makes its objects by T(), "
			"which this type does not have");
		if constexpr (std::is_default_constructible_v<T>)
			return std::make_unique<T>();
		else
			return nullptr;
	}
	static void destroy(void *value)
	{
		delete static_cast<T *>(value);
	}

	sennit_local_key key_;
};

SENNIT_CPP_END

#endif
