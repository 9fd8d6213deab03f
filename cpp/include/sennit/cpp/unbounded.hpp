/* SPDX-License-Identifier: Apache-2.0 */
/* unbounded.hpp - a number without a limit, of channels and pools. */
#ifndef SENNIT_CPP_UNBOUNDED_HPP
#define SENNIT_CPP_UNBOUNDED_HPP

#include "sennit/cpp/version.hpp"

#include <cstddef>

SENNIT_CPP_BEGIN

/* The capacity of a channel that holds any number of values, and the count of a
 * pool that makes as many objects as are wanted and never waits. */
inline constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

SENNIT_CPP_END

#endif
