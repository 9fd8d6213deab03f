/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - cases of a select: a future, a time, and those of a library.
 *
 * The library has a counter that another thread changes. Its case happens when
 * the counter has reached a number. It is waited for by an unbound thread; on a
 * worker the library would use its poller.
 */
#include "calls.h"

#include <sennit/poller.h>
#include <sennit/select.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void wait_for_future_or_time(void)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = NULL;
	size_t        which = 2;
	sennit_case   cases[] = { sennit_case_future(&f, &value),
				  sennit_case_deadline(sennit_after(1)) };

	CHECK(sennit_select_until(cases, 2, &which, soon()) == 0);
	CHECK(which == 1 && cases[1].result == 0);
	sennit_future_set(&f, &f);
	CHECK(sennit_select_until(cases, 1, &which, soon()) == 0);
	CHECK(which == 0 && cases[0].result == 0 && value == &f);
}

/* --- a library ------------------------------------------------------------ */

static atomic_int counter;
static int        changed; /* an eventfd */

static void look(sennit_selection *s, sennit_case *cases, size_t count)
{
	(void)s;
	for (size_t i = 0; i < count; i++)
		if (cases[i].kind_ == SENNIT_CASE_POLLED)
			cases[i].result = atomic_load(&counter) >=
							  (int)cases[i].number_
						  ? 0
						  : -EAGAIN;
}

/* Where the thread sleeps. */
struct sleeper {
	sennit_poller p; /* first */
	int           wake;
};

static enum sennit_poller_end sleep_until(sennit_poller *p,
					  sennit_time    deadline)
{
	struct pollfd fds[] = { { .fd = changed, .events = POLLIN },
				{ .fd = ((struct sleeper *)p)->wake,
				  .events = POLLIN } };

	if (sennit_now() >= deadline)
		return SENNIT_POLLER_TIMEOUT;
	(void)poll(fds, 2, 1000); /* a wake for no reason is allowed */
	return fds[0].revents ? SENNIT_POLLER_READY : SENNIT_POLLER_WOKEN;
}

static void wake(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(((struct sleeper *)p)->wake, &one, sizeof(one));
}

static int wait_for_change(sennit_selection *s, sennit_case *cases,
			   size_t count, sennit_time deadline)
{
	static const sennit_poller_ops ops = { .size = sizeof(ops),
					       .sleep = sleep_until,
					       .wake = wake };
	struct sleeper                 here = { .p.ops = &ops };
	int                            err;

	(void)cases;
	(void)count;
	here.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (here.wake < 0)
		return -errno;
	err = sennit_poller_sleep(&here.p, s, deadline);
	close(here.wake);
	return err;
}

static void done(sennit_case *k)
{
	(void)k;
}

static const sennit_case_ops library = { .size = sizeof(library),
					 .look = look,
					 .wait = wait_for_change,
					 .done = done };

static void *wait_for_two(void *unused)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	size_t       which = 2;
	sennit_case  cases[] = { sennit_case_event(&never),
				 { .object_ = (void *)(uintptr_t)&library,
				   .number_ = 2,
				   .kind_ = SENNIT_CASE_POLLED } };

	CHECK(sennit_select_until(cases, 2, &which, soon()) == 0);
	CHECK(which == 1 && cases[1].result == 0);
	return unused;
}

static void show(sennit_scheduler *s)
{
	const uint64_t one = 1;
	pthread_t      thread;

	(void)s;
	wait_for_future_or_time();
	changed = eventfd(0, EFD_CLOEXEC);
	CHECK(!pthread_create(&thread, NULL, wait_for_two, NULL));
	for (int i = 0; i < 2; i++) {
		atomic_fetch_add(&counter, 1);
		CHECK(write(changed, &one, sizeof(one)) == sizeof(one));
	}
	CHECK(!pthread_join(thread, NULL));
}

int main(void)
{
	return run(show);
}
