/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - stages that channels connect: one makes numbers, four find the
 * primes among them, one adds the primes up.
 *
 *	make --numbers--> sift x 4 --primes--> add
 *
 * Each stage closes its output channel when its input channel is closed and
 * empty, so the end travels through the pipeline like a value. The channels are
 * bounded: a fast stage waits for a slow one and does not fill the memory.
 */
#include <sennit.h>

#include <stdio.h>

enum { LIMIT = 20000, SIFTERS = 4 };

static uint32_t numbers_memory[64], primes_memory[16];

static sennit_channel numbers = SENNIT_CHANNEL_INIT_ARRAY(numbers_memory);
static sennit_channel primes = SENNIT_CHANNEL_INIT_ARRAY(primes_memory);

static sennit_wait_group sifters;

static void make(void *unused)
{
	uint32_t n;

	(void)unused;
	for (n = 2; n < LIMIT; n++)
		if (sennit_channel_send(&numbers, &n))
			break;
	sennit_channel_close(&numbers);
}

static int is_prime(uint32_t n)
{
	uint32_t divisor;

	for (divisor = 2; divisor * divisor <= n; divisor++)
		if (n % divisor == 0)
			return 0;
	return 1;
}

static void sift(void *unused)
{
	uint32_t n;

	(void)unused;
	while (!sennit_channel_receive(&numbers, &n))
		if (is_prime(n) && sennit_channel_send(&primes, &n))
			break;
	if (sennit_wait_group_done(&sifters)) /* the last sifter */
		sennit_channel_close(&primes);
}

static uint64_t add(void)
{
	uint64_t sum = 0;
	uint32_t n;

	while (!sennit_channel_receive(&primes, &n))
		sum += n;
	return sum;
}

static int start_stages(void)
{
	int i, err = sennit_schedule(make, NULL);

	sennit_wait_group_init(&sifters, SIFTERS);
	for (i = 0; i < SIFTERS && !err; i++)
		err = sennit_schedule(sift, NULL);
	return err;
}

static int program(void *unused)
{
	uint64_t sum;

	(void)unused;
	if (start_stages())
		return 1;
	sum = add();
	printf("the primes below %d add up to %llu\n", LIMIT,
	       (unsigned long long)sum);
	return sum == 21171191 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
