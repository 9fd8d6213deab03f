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
#include "sennit/cpp/handle.hpp"
#include "sennit/resources.h"

#include <cstddef>
#include <cstdint>

SENNIT_CPP_BEGIN

/* A reference to resources, or none. Copies are further references. */
class resources
    : public detail::handle<sennit_resources, sennit_resources_retain,
			    sennit_resources_release>
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
		detail::check(sennit_resources_create(&object_, cpus, nullptr),
			      "resources");
	}
	/* Take over the caller's reference to r, which may be NULL. */
	[[nodiscard]] static resources adopt(sennit_resources *r) noexcept
	{
		resources adopted(nullptr);

		adopted.object_ = r;
		return adopted;
	}
	/* Return the counters. The handle must refer to resources. */
	sennit_resources_stats stats() const noexcept
	{
		sennit_resources_stats answer{};

		answer.size = sizeof(answer);
		sennit_resources_get_stats(
			detail::needed(object_, "sennit::resources::stats",
				       "the sennit::resources is empty: made "
				       "of nullptr or moved from"),
			&answer);
		return answer;
	}
};

SENNIT_CPP_END

#endif
