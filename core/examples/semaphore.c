/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - many jobs share memory that is enough for a few of them.
 *
 * Each job takes as many permits as it needs megabytes, all at once. So two
 * jobs can never each hold half of what they need. Small jobs do not overtake a
 * big job, however many there are. A job that cannot start in time is skipped.
 */
#include <sennit.h>

#include <stdio.h>

#define JOBS      100
#define MEGABYTES 16

static sennit_semaphore  memory;
static sennit_wait_group done;
static sennit_mutex      lock;
static uint32_t          used, peak, ran, skipped; /* under lock */

static void use(uint32_t megabytes)
{
	sennit_mutex_lock(&lock);
	used += megabytes;
	if (used > peak)
		peak = used;
	ran++;
	sennit_mutex_unlock(&lock);

	sennit_sleep(200 * SENNIT_MICROSECOND);

	sennit_mutex_lock(&lock);
	used -= megabytes;
	sennit_mutex_unlock(&lock);
}

/* Every tenth job needs all the memory. */
static void job(void *argument)
{
	const uint32_t i = *(const uint32_t *)argument;
	const uint32_t megabytes = i % 10 ? 1 + i % 3 : MEGABYTES;

	if (sennit_semaphore_acquire_until(&memory, megabytes,
					   sennit_after(10 * SENNIT_SECOND))) {
		sennit_mutex_lock(&lock);
		skipped++;
		sennit_mutex_unlock(&lock);
	} else {
		use(megabytes);
		sennit_semaphore_release(&memory, megabytes);
	}
	(void)sennit_wait_group_done(&done);
}

static int program(void *unused)
{
	(void)unused;
	sennit_semaphore_init(&memory, MEGABYTES);
	sennit_wait_group_init(&done, JOBS);
	for (uint32_t i = 0; i < JOBS; i++)
		if (sennit_schedule_copy(job, &i, sizeof(i)))
			return 1;
	sennit_wait_group_wait(&done);
	printf("%u jobs ran, %u did without; %u of %u MB at most\n",
	       (unsigned int)ran, (unsigned int)skipped, (unsigned int)peak,
	       (unsigned int)MEGABYTES);
	return ran + skipped == JOBS && peak <= MEGABYTES ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
