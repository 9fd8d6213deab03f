/* SPDX-License-Identifier: Apache-2.0 */
/* batches.c - collects values into batches: a batch goes when it is full, or
 * when its first value has waited long enough. */
#include <sennit.h>

#include <stdio.h>

enum { BATCH = 4, VALUES = 10 };

#define PATIENCE (5 * SENNIT_MILLISECOND)

/* Returns the number of values; 0: closed, or the group is cancelled. */
static int collect(sennit_channel *from, int values[BATCH])
{
	sennit_time limit = SENNIT_NEVER;
	int         n = 0;

	while (n < BATCH &&
	       !sennit_channel_receive_until(from, &values[n], limit))
		if (++n == 1)
			limit = sennit_after(PATIENCE);
	return n;
}

int main(void)
{
	int            memory[VALUES], batch[BATCH], sizes[4];
	sennit_channel values = SENNIT_CHANNEL_INIT_ARRAY(memory);

	for (int i = 0; i < VALUES; i++)
		if (sennit_channel_send(&values, &i))
			return 1;
	for (int i = 0; i < 3; i++)
		sizes[i] = collect(&values, batch);
	sennit_channel_close(&values);
	sizes[3] = collect(&values, batch);
	printf("batches of %d, %d, %d; then %d\n", sizes[0], sizes[1], sizes[2],
	       sizes[3]);
	return sizes[0] == 4 && sizes[1] == 4 && sizes[2] == 2 && !sizes[3] ? 0
									    : 1;
}
