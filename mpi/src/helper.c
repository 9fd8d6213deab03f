/* SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#include <signal.h>
#include <time.h>

/* The pause between two polls of lanes that are late. */
#define HELP (SENNIT_MILLISECOND / 4)

/* The longest doze. Dozes start at MPI_LATE and double while no lane is
 * late. */
#define DOZE_MOST (8 * MPI_LATE)

/* The number of dozes in a row without an outstanding request before the thread
 * sleeps. This avoids waking it for each request of a program that has one now
 * and then. */
#define DOZES 8

void sn_mpi_helper_init(struct mpi_helper *h, struct mpi_helped of)
{
	pthread_condattr_t monotonic;

	h->of = of;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&h->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void sn_mpi_helper_free(struct mpi_helper *h)
{
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
}

/* --- the thread --------------------------------------------------------- */

static bool has_outstanding(struct mpi_helper *h)
{
	return a_load_rlx(h->of.outstanding);
}

/* Returns false when the thread must stop. */
static bool doze(struct mpi_helper *h)
{
	sennit_time           end = sennit_after(h->doze);
	const struct timespec at = {
		.tv_sec = (time_t)(end / SENNIT_SECOND),
		.tv_nsec = (long)(end % SENNIT_SECOND),
	};
	bool stopped;

	pthread_mutex_lock(&h->lock);
	if (!h->stopped)
		(void)pthread_cond_timedwait(&h->wake, &h->lock, &at);
	stopped = h->stopped;
	pthread_mutex_unlock(&h->lock);
	return !stopped;
}

/* Sleep until something is outstanding. Returns false when the thread must
 * stop. */
static bool sleep_long(struct mpi_helper *h)
{
	bool stopped;

	pthread_mutex_lock(&h->lock);
	a_store_rlx(&h->asleep, 1);
	a_fence(); /* <-> mpi.helper: asleep before looking at the count */
	while (!h->stopped && a_load_rlx(&h->asleep) && !has_outstanding(h))
		pthread_cond_wait(&h->wake, &h->lock);
	a_store_rlx(&h->asleep, 0);
	stopped = h->stopped;
	pthread_mutex_unlock(&h->lock);
	h->dozes = 0;
	h->doze = MPI_LATE;
	return !stopped;
}

static void *run(void *helper)
{
	struct mpi_helper *h = helper;
	bool               goes_on = true;

	pthread_setname_np(pthread_self(), "sennit-mpi");
	h->doze = MPI_LATE;
	while (goes_on) {
		if (!has_outstanding(h)) {
			goes_on = ++h->dozes < DOZES ? doze(h) : sleep_long(h);
			continue;
		}
		h->dozes = 0;
		if (h->of.help(h->of.argument))
			h->doze = HELP;
		else if (h->doze < MPI_LATE)
			h->doze = MPI_LATE;
		else if (h->doze < DOZE_MOST)
			h->doze *= 2;
		goes_on = doze(h);
	}
	return NULL;
}

/* --- starting and stopping ---------------------------------------------- */

/* The thread blocks the program's signals. */
int sn_mpi_helper_start(struct mpi_helper *h)
{
	sigset_t all, old;
	int      err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&h->thread, NULL, run, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

void sn_mpi_helper_wake(struct mpi_helper *h)
{
	pthread_mutex_lock(&h->lock);
	a_store_rlx(&h->asleep, 0);
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

void sn_mpi_helper_stop(struct mpi_helper *h)
{
	pthread_mutex_lock(&h->lock);
	h->stopped = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
}
