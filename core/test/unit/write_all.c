/* SPDX-License-Identifier: Apache-2.0 */
/* write_all.c - interrupted and short writes go on; an error ends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "testing/test.h"

/* What the system does at each call: so many bytes, or a negative errno. */
static ssize_t fake_write(int fd, const void *bytes, size_t size);
#define write fake_write
#include "base/text.h"
#undef write

static const int *script;
static unsigned   calls;
static char       written[16];
static size_t     used;

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	const int now = script[calls++];
	size_t    n = (size_t)now < size ? (size_t)now : size;

	assert_int_equal(fd, 7);
	if (now < 0) {
		errno = -now;
		return -1;
	}
	memcpy(written + used, bytes, n);
	used += n;
	return (ssize_t)n;
}

static int run(const int *steps)
{
	script = steps;
	calls = 0;
	used = 0;
	return sn_write_all(7, "0123456789", 10);
}

TEST(short_and_interrupted_writes_go_on)
{
	assert_int_equal(run((const int[]){ 3, -EINTR, 1, -EINTR, 100 }), 0);
	assert_int_equal(calls, 5);
	assert_int_equal(used, 10);
	assert_memory_equal(written, "0123456789", 10);
}

TEST(an_error_ends_it)
{
	assert_int_equal(run((const int[]){ 4, -ENOSPC, 100 }), -ENOSPC);
	assert_int_equal(calls, 2);
	assert_int_equal(run((const int[]){ 4, 0, 100 }), -EIO);
	assert_int_equal(calls, 2);
}
