/* SPDX-License-Identifier: Apache-2.0 */
/* drop_when_full.c - a sender that must not wait: drop what is new, or drop
 * what is old. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

enum { SENT = 100, ROOM = 8 };

/* Returns whether the value was dropped. */
static int send_or_drop(sennit_channel *c, int value)
{
	return sennit_channel_send_until(c, &value, 0) == -ETIMEDOUT;
}

/* Makes room until the value fits. Returns how many values were dropped. */
static int send_newest(sennit_channel *c, int value)
{
	int dropped = 0, old;

	while (sennit_channel_send_until(c, &value, 0) == -ETIMEDOUT)
		if (!sennit_channel_receive_until(c, &old, 0))
			dropped++;
	return dropped;
}

static void print_rest(const char *what, sennit_channel *c, int dropped)
{
	int first = 0, last = 0;

	if (!sennit_channel_receive_until(c, &first, 0))
		while (!sennit_channel_receive_until(c, &last, 0))
			;
	printf("%s: %d to %d, %d dropped\n", what, first, last, dropped);
}

int main(void)
{
	int            oldest_memory[ROOM], newest_memory[ROOM];
	sennit_channel oldest = SENNIT_CHANNEL_INIT_ARRAY(oldest_memory);
	sennit_channel newest = SENNIT_CHANNEL_INIT_ARRAY(newest_memory);
	int            dropped[2] = { 0, 0 };

	for (int i = 1; i <= SENT; i++) {
		dropped[0] += send_or_drop(&oldest, i);
		dropped[1] += send_newest(&newest, i);
	}
	print_rest("oldest kept", &oldest, dropped[0]);
	print_rest("newest kept", &newest, dropped[1]);
	return dropped[0] == SENT - ROOM && dropped[1] == SENT - ROOM ? 0 : 1;
}
