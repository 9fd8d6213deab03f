/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/watchdog.h"

#include "diag/suspects.h"
#include "diag/watchdog_line.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks in each limit. */
#define LOOKS 4

struct sennit_watchdog {
	sennit_scheduler       *scheduler; /* a reference */
	sennit_watchdog_options options;   /* fixed */
	sennit_time             pause;     /* fixed: between two looks */
	pid_t                   process;
	pthread_t               thread;
	pthread_mutex_t         lock;
	pthread_cond_t          stop;     /* with lock */
	bool                    stopped;  /* under lock */
	struct suspects         suspects; /* its thread's */
};

static void add(void *context, const sennit_report_entry *e)
{
	sn_suspects_add(context, e);
}

static void look(sennit_watchdog *w)
{
	const struct suspect *n;

	sn_suspects_begin(&w->suspects, sennit_now());
	sennit_scheduler_report(w->scheduler, add, &w->suspects);
	while ((n = sn_suspects_next(&w->suspects)))
		sn_watchdog_line_write(w->scheduler, &w->options, n,
				       w->suspects.now - n->first);
}

/* Returns false when it must stop. */
static bool pause_until(sennit_watchdog *w, sennit_time end)
{
	const struct timespec at = {
		.tv_sec = (time_t)(end / SENNIT_SECOND),
		.tv_nsec = (long)(end % SENNIT_SECOND),
	};
	int  err = 0;
	bool stopped;

	pthread_mutex_lock(&w->lock);
	while (!w->stopped && !err)
		err = pthread_cond_timedwait(&w->stop, &w->lock, &at);
	stopped = w->stopped;
	pthread_mutex_unlock(&w->lock);
	return !stopped;
}

static void *watch(void *watchdog)
{
	sennit_watchdog *w = watchdog;

	pthread_setname_np(pthread_self(), "sennit-watchdog");
	while (pause_until(w, sennit_after(w->pause)))
		look(w);
	return NULL;
}

/* --- starting and stopping ---------------------------------------------- */

static sennit_time choose_pause(const sennit_watchdog_options *o)
{
	const uint32_t limits[] = { o->task_ms, o->ready_ms, o->call_ms };
	uint32_t       least = UINT32_MAX;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i] && limits[i] < least)
			least = limits[i];
	return least * SENNIT_MILLISECOND / LOOKS;
}

static void init_waiting(sennit_watchdog *w)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->stop, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* The program's signals are not for this thread. */
static int start_thread(sennit_watchdog *w)
{
	sigset_t all, old;
	int      err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static void destroy(sennit_watchdog *w)
{
	pthread_cond_destroy(&w->stop);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int sennit_watchdog_start(sennit_watchdog **out, sennit_scheduler *s,
			  const sennit_watchdog_options *options)
{
	sennit_watchdog *w;
	int              err;

	if (!options->task_ms && !options->ready_ms && !options->call_ms)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->scheduler = s;
	w->options = *options;
	w->pause = choose_pause(options);
	w->process = getpid();
	sn_suspects_init(&w->suspects, options);
	init_waiting(w);
	sennit_scheduler_retain(s);
	err = start_thread(w);
	if (err) {
		sennit_scheduler_release(s);
		destroy(w);
		return err;
	}
	*out = w;
	return 0;
}

void sennit_watchdog_stop(sennit_watchdog *w)
{
	if (w->process != getpid()) {
		free(w);
		return;
	}
	pthread_mutex_lock(&w->lock);
	w->stopped = true;
	pthread_cond_signal(&w->stop);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	sennit_scheduler_release(w->scheduler);
	destroy(w);
}
