/* SPDX-License-Identifier: Apache-2.0 */
/* resources.hpp - a budget of CPUs that several schedulers share.
 *
 *	sennit::resources r(4);
 *	sennit::scheduler a(sennit::config().with_resources(r.get()));
 *	sennit::scheduler b(sennit::config().with_resources(r.get(), 1));
 */
#ifndef SENNIT_CPP_RESOURCES_HPP
#define SENNIT_CPP_RESOURCES_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/resources.h"

#include <utility>

namespace sennit
{

/* A reference to resources, or none. Copies are further references. */
class resources
{
public:
	/* Construct without resources. */
	explicit resources(std::nullptr_t) noexcept
	{
	}
	/* Create a budget of `cpus` CPUs; 0: as many as the process may use.
	 * Throws std::bad_alloc or std::system_error. */
	explicit resources(std::uint32_t cpus = 0)
	{
		detail::check(sennit_resources_create(&r_, cpus, nullptr),
			      "resources");
	}
	resources(const resources &other) noexcept : r_(other.r_)
	{
		if (r_)
			sennit_resources_retain(r_);
	}
	resources(resources &&other) noexcept
	    : r_(std::exchange(other.r_, nullptr))
	{
	}
	resources &operator=(resources other) noexcept
	{
		std::swap(r_, other.r_);
		return *this;
	}
	~resources()
	{
		if (r_)
			sennit_resources_release(r_);
	}

	/* Return the counters. The handle must refer to resources. */
	sennit_resources_stats stats() const noexcept
	{
		sennit_resources_stats answer{};

		answer.size = sizeof(answer);
		sennit_resources_get_stats(r_, &answer);
		return answer;
	}
	sennit_resources *get() const noexcept
	{
		return r_;
	}
	explicit operator bool() const noexcept
	{
		return r_ != nullptr;
	}

private:
	sennit_resources *r_ = nullptr;
};

} // namespace sennit

#endif
