/* SPDX-License-Identifier: Apache-2.0 */
/* sized.c - a struct that has grown, between a caller and a library that know
 * different versions of it. */
#include "base/sized.h"

#include "testing/test.h"

/* What the library knows. Version 1 ended with `first`. */
struct known {
	size_t   size;
	uint64_t first, second;
};

/* What the caller was compiled with. */
struct older {
	size_t   size;
	uint64_t first;
};
struct newer {
	size_t   size;
	uint64_t first, second, third;
};

#define FIRST SIZE_THROUGH(struct known, first)

static int read_known(struct known *out, const void *user)
{
	return sn_sized_read(out, sizeof(*out), user, FIRST);
}

TEST(what_an_older_caller_lacks_is_zero)
{
	const struct older user = { sizeof(user), 7 };
	struct known       got = { 1, 2, 3 };

	assert_int_equal(read_known(&got, &user), 0);
	assert_int_equal(got.size, sizeof(got));
	assert_int_equal(got.first, 7);
	assert_int_equal(got.second, 0);
}

TEST(what_a_newer_caller_leaves_zero_is_accepted)
{
	struct newer user = { sizeof(user), 7, 8, 0 };
	struct known got = { 0 };

	assert_int_equal(read_known(&got, &user), 0);
	assert_int_equal(got.size, sizeof(got));
	assert_int_equal(got.second, 8);
	user.third = UINT64_C(1) << 63;
	got.second = 9;
	assert_int_equal(read_known(&got, &user), -E2BIG);
	assert_int_equal(got.second, 9);
}

TEST(no_caller_is_older_than_the_first_release)
{
	struct older user = { FIRST - 1, 7 };
	struct known got = { 0, 1, 2 };

	assert_int_equal(FIRST, sizeof(user));
	assert_int_equal(read_known(&got, &user), -EINVAL);
	user.size = 0;
	assert_int_equal(read_known(&got, &user), -EINVAL);
	assert_false(sn_sized_write(&user, &got, sizeof(got), FIRST));
	assert_int_equal(got.first, 1);
	assert_int_equal(user.first, 7);
}

TEST(an_older_caller_gets_what_it_knows)
{
	const struct known from = { sizeof(from), 7, 8 };
	struct {
		struct older user;
		uint64_t     behind;
	} caller = { { sizeof(caller.user), 1 }, 5 };

	assert_true(sn_sized_write(&caller.user, &from, sizeof(from), FIRST));
	assert_int_equal(caller.user.size, sizeof(caller.user));
	assert_int_equal(caller.user.first, 7);
	assert_int_equal(caller.behind, 5);
}

TEST(a_newer_caller_gets_zero_for_the_rest)
{
	const struct known from = { sizeof(from), 7, 8 };
	struct newer       user = { sizeof(user), 1, 2, 3 };

	assert_true(sn_sized_write(&user, &from, sizeof(from), FIRST));
	assert_int_equal(user.size, sizeof(user));
	assert_int_equal(user.second, 8);
	assert_int_equal(user.third, 0);
}
