/* SPDX-License-Identifier: Apache-2.0 */
/* 03_channel.c - three stages: numbers, their squares, the sum. */
#include <sennit.h>

#include <stdio.h>

enum { NUMBERS = 100 };

static int            memory[8];
static sennit_channel numbers = SENNIT_CHANNEL_INIT_ARRAY(memory);
static sennit_channel squares = SENNIT_CHANNEL_INIT(sizeof(int));

static void count(void *unused)
{
	(void)unused;
	for (int i = 1; i <= NUMBERS; i++)
		if (sennit_channel_send(&numbers, &i))
			break; /* closed: no more is wanted */
	sennit_channel_close(&numbers);
}

static void square(void *unused)
{
	int i;

	(void)unused;
	while (!sennit_channel_receive(&numbers, &i)) {
		i *= i;
		if (sennit_channel_send(&squares, &i))
			break;
	}
	sennit_channel_close(&squares);
}

static int program(void *unused)
{
	int i, sum = 0;

	(void)unused;
	if (sennit_schedule(count, NULL) || sennit_schedule(square, NULL))
		return 1;
	while (!sennit_channel_receive(&squares, &i))
		sum += i;
	printf("sum of %d squares: %d\n", NUMBERS, sum);
	return sum == 338350 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
