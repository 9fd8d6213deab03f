/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.cpp - the macros of fork_join.h in C++: types, void, functions that
 * call each other. */
#include "world.hpp"

#include "sennit/fork_join.h"

#include <vector>

namespace
{

using numbers = std::vector<int>;

SENNIT_FORK_DECLARE(static, void, odd_half, numbers *, v, int, first, int, n);

SENNIT_FORK(void, even_half, numbers *, v, int, first, int, n)
{
	if (n == 1) {
		(*v)[static_cast<std::size_t>(first)] += first;
		return;
	}
	SENNIT_FORK_SPAWN(odd_half, other, v, first + n / 2, n - n / 2);
	SENNIT_FORK_CALL(even_half, v, first, n / 2);
	SENNIT_FORK_SYNC(odd_half, other);
}

SENNIT_FORK_DEFINE(void, odd_half, numbers *, v, int, first, int, n)
{
	SENNIT_FORK_CALL(even_half, v, first, n);
}

SENNIT_FORK(std::size_t, add8, int, a, int, b, int, c, int, d, char, e,
	    const numbers *, f, short, g, long, h)
{
	return static_cast<std::size_t>(a + b + c + d + e + g + h) + f->size();
}

SENNIT_FORK(std::size_t, add_twice, const numbers *, v)
{
	SENNIT_FORK_SPAWN(add8, one, 1, 2, 3, 4, '\5', v, 6, 7);
	const auto two = SENNIT_FORK_CALL(add8, 1, 1, 1, 1, '\1', v, 1, 1);

	return two + SENNIT_FORK_SYNC(add8, one);
}

class forks : public world
{
};
ON_WORKERS(forks);

TEST_P(forks, of_functions_without_a_result)
{
	numbers v(100);

	SENNIT_FORK_RUN(even_half, &v, 0, 100);
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(v[static_cast<std::size_t>(i)], i);
}

TEST_P(forks, of_functions_with_eight_parameters)
{
	const numbers v(10);

	EXPECT_EQ(SENNIT_FORK_RUN(add_twice, &v), 28u + 7u + 20u);
}

} // namespace
