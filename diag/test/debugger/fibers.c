/* SPDX-License-Identifier: Apache-2.0 */
/* fibers.c - the program that testing/build/debuggers.sh looks at: fibers that
 * wait for several things, one that is ready, one that runs, and bound threads.
 *
 * When nothing changes any more it prints what the fibers wait for, and
 * "settled". It runs until it is killed, or for five minutes.
 *
 * Each task <x>_task calls <x>_calls, which waits. A debugger must find both in
 * this order. The frame of <x>_task has a size that the compiler does not know,
 * so its caller is found by the saved frame pointer.
 */
#include <sennit.h>

#include <alloca.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static sennit_scheduler *scheduler;
static sennit_mutex      mutex;
static sennit_event      event;
static sennit_event      never;
static sennit_channel    channel = SENNIT_CHANNEL_INIT(sizeof(int));
static atomic_bool       spinning;
static atomic_uint       spins;
static volatile size_t   room = 64;
static volatile int      after; /* keeps a call from being the last */

static APART void mutex_calls(void)
{
	sennit_mutex_lock(&mutex);
	after++;
}

static APART void event_calls(void)
{
	(void)!sennit_event_wait(&event);
	after++;
}

static APART void timer_calls(void)
{
	sennit_sleep(3600 * SENNIT_SECOND);
	after++;
}

static APART void channel_calls(void)
{
	int value;

	after = sennit_channel_receive(&channel, &value);
	after++;
}

static APART void ready_calls(void)
{
	while (!atomic_load(&spinning))
		sennit_yield();
	after++;
}

static APART void running_calls(void)
{
	atomic_store(&spinning, true);
	for (;;)
		atomic_fetch_add(&spins, 1);
}

static APART void pinned_calls(void)
{
	(void)!sennit_event_wait(&never);
	after++;
}

/* The callee-saved registers of this frame hold known values. */
static APART void marks_calls(void)
{
#if defined(__x86_64__)
	register uint64_t b __asm__("rbx") = 0x5e99170b;
	register uint64_t c __asm__("r12") = 0x5e991712;
	register uint64_t d __asm__("r13") = 0x5e991713;
	register uint64_t e __asm__("r14") = 0x5e991714;
	register uint64_t f __asm__("r15") = 0x5e991715;

	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	pinned_calls();
	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
#else
	pinned_calls();
#endif
	after++;
}

#define TASK(name)                                   \
	static APART void name##_task(void *unused)  \
	{                                            \
		volatile char *frame = alloca(room); \
                                                     \
		(void)unused;                        \
		frame[0] = 1;                        \
		name##_calls();                      \
		after = frame[0];                    \
	}
TASK(mutex)
TASK(event)
TASK(timer)
TASK(channel)
TASK(ready)
TASK(running)
TASK(pinned)
TASK(marks)

static void schedule(sennit_task_fn *run, uint32_t flags)
{
	const sennit_task t = { .run = run, .flags = flags };

	if (sennit_schedule_task(&t))
		_exit(1);
}

/* How many fibers are in this state. */
struct census {
	uint32_t state;
	unsigned count;
};

static void count(void *context, const sennit_report_entry *e)
{
	struct census *c = context;

	c->count += e->state == c->state;
}

static void await(uint32_t state, unsigned wanted)
{
	struct census c;

	do {
		usleep(1000);
		c = (struct census){ .state = state };
		sennit_report_visit(scheduler, count, &c);
	} while (c.count != wanted);
}

static APART void bound_calls(void)
{
	(void)!sennit_event_wait(&never);
	after += 2; /* not the same code as pinned_calls */
}

/* Its own task waits on a stack that this thread stays on, so its own stack is
 * suspended. */
static void *bound_thread(void *unused)
{
	if (sennit_thread_bind(scheduler))
		_exit(1);
	schedule(pinned_task, SENNIT_TASK_SAME_THREAD);
	bound_calls();
	return unused;
}

static APART void settled(void)
{
	printf("mutex %p\nevent %p\nchannel %p\nnever %p\nsettled\n",
	       (void *)&mutex, (void *)&event, (void *)&channel,
	       (void *)&never);
	fflush(stdout);
	for (;;)
		pause();
}

int main(void)
{
	pthread_t thread;

	alarm(300);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (sennit_scheduler_create(
		    &scheduler, SENNIT_CONFIG(.workers = 1, .name = "loom")) ||
	    sennit_thread_bind(scheduler))
		return 1;
	sennit_function_set_name(mutex_task, "first\tin line");
	sennit_mutex_lock(&mutex);
	schedule(mutex_task, 0);
	schedule(event_task, 0);
	schedule(timer_task, 0);
	schedule(channel_task, 0);
	schedule(marks_task, 0);
	await(SENNIT_REPORT_BLOCKED, 5);
	if (pthread_create(&thread, NULL, bound_thread, NULL))
		return 1;
	await(SENNIT_REPORT_BLOCKED, 7);
	schedule(ready_task, 0);
	schedule(running_task, 0);
	while (!atomic_load(&spinning))
		usleep(1000);
	await(SENNIT_REPORT_READY, 1);
	usleep(1100000); /* every wait has lasted for a second */
	settled();
	return after;
}
