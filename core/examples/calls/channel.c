/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - how many values a channel holds, and whether it is closed. */
#include "calls.h"

static void show(sennit_scheduler *s)
{
	static int     room[4];
	sennit_channel c = SENNIT_CHANNEL_INIT_ARRAY(room);
	int            value = 42;

	(void)s;
	CHECK(sennit_channel_length(&c) == 0);
	CHECK(sennit_channel_send(&c, &value) == 0);
	CHECK(sennit_channel_send_until(&c, &value, 0) == 0);
	CHECK(sennit_channel_length(&c) == 2);
	CHECK(sennit_channel_receive(&c, &value) == 0 && value == 42);
	CHECK(sennit_channel_length(&c) == 1);
	CHECK(sennit_channel_capacity(&c) == 4);
	sennit_channel_close(&c);
	CHECK(sennit_channel_is_closed(&c));
	sennit_channel_destroy(&c);

	/* The same, for memory of any kind. */
	CHECK(sennit_channel_init_in(&c, room, 4, sizeof(int)) == 0);
	sennit_channel_destroy(&c);
}

int main(void)
{
	return run(show);
}
