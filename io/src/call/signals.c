/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - the calls of sennit/signals.h, on signalfd. */
#include "base/own_fd.h"
#include "engine/perform.h"
#include "sennit/io.h"
#include "sennit/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct sennit_signals {
	int fd; /* fixed */
};

/* Whether the calling thread blocks all signals of the set. Threads that it has
 * created since it blocked them block them, too. */
static bool are_signals_blocked(const sigset_t *which)
{
	sigset_t now;

	if (pthread_sigmask(SIG_BLOCK, NULL, &now))
		return false;
	for (int i = 1; i < NSIG; i++)
		if (sigismember(which, i) == 1 && sigismember(&now, i) != 1)
			return false;
	return true;
}

int sennit_signals_open(sennit_signals **out, const sigset_t *which)
{
	sennit_signals *s;

	if (!are_signals_blocked(which))
		return -EINVAL;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->fd = sn_own_fd(signalfd(-1, which, SFD_CLOEXEC | SFD_NONBLOCK));
	if (s->fd < 0) {
		int err = -errno;

		free(s);
		return err;
	}
	*out = s;
	return 0;
}

static ptrdiff_t attempt_signal_read(const struct io_request *r)
{
	ptrdiff_t n = read(r->fd, r->bytes, r->size);

	return n < 0 ? -errno : n;
}

int sennit_signals_wait(sennit_signals *s, struct signalfd_siginfo *info,
			sennit_time deadline)
{
	struct signalfd_siginfo got;
	const struct io_request r = { .attempt = attempt_signal_read,
				      .fd = s->fd,
				      .events = POLLIN,
				      .bytes = &got,
				      .size = sizeof(got) };
	ptrdiff_t               n = sn_io_do(&r, deadline);

	if (n < 0) /* *s may have been closed */
		return (int)n;
	if (info)
		*info = got;
	return (int)got.ssi_signo;
}

void sennit_signals_close(sennit_signals *s)
{
	if (!s)
		return;
	(void)sennit_close(s->fd);
	free(s);
}
