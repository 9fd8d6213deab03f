/* SPDX-License-Identifier: Apache-2.0 */
/* stack_locked.c - stacks that the system does not take back. */
#include "stacks.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sanitizers take the place of mlock(), and do nothing. */
static bool lock(void *memory)
{
	return !syscall(SYS_mlock, memory, 1);
}

/* Memory that is locked stays in use, as under mlockall(). */
TEST(only_what_the_system_takes_back_is_counted_as_trimmed)
{
	struct stacks       s;
	struct stacks_count c;
	void               *low[3];
	char               *locked;

	make(&s, 0);
	assert_int_equal(take_stacks(&s, low, 3), 3);
	locked = (char *)low[1] + SIZE / 2;
	for (int i = 0; i < 3; i++)
		memset(low[i], 0x44, sn_stacks_usable(&s));
	if (!lock(locked)) {
		sn_stacks_give(&s, low, 3);
		sn_stacks_free(&s);
		skip();
	}
	sn_stacks_return(&s, low, 3);
	c = sn_stacks_count(&s);
	assert_int_equal(c.trimmed, 2);
	assert_int_equal(c.made, 1);
	assert_int_equal(c.resting, 1);
	assert_int_equal(sn_stacks_trim(&s, 10), 0);
	assert_int_equal(sn_stacks_count(&s).trimmed, 2);
	assert_int_equal(*locked, 0x44);
	syscall(SYS_munlock, locked, 1);
	assert_int_equal(sn_stacks_trim(&s, 10), 1);
	c = sn_stacks_count(&s);
	assert_int_equal(c.trimmed, 3);
	assert_int_equal(c.made, 0);
	sn_stacks_free(&s);
}
