/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/signals.h"

#include "io/perform.h"
#include "sennit/io.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Whether the calling thread blocks all of them; so do the threads that it has
 * made since. */
static bool are_blocked(const sigset_t *which)
{
	sigset_t now;

	if (pthread_sigmask(SIG_BLOCK, NULL, &now))
		return false;
	for (int i = 1; i < NSIG; i++)
		if (sigismember(which, i) == 1 && sigismember(&now, i) != 1)
			return false;
	return true;
}

int sennit_signals_open(sennit_signals *s, const sigset_t *which)
{
	int fd;

	if (!are_blocked(which))
		return -EINVAL;
	fd = signalfd(-1, which, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	s->fd_ = fd;
	return 0;
}

static ptrdiff_t attempt_read(const struct io_request *r)
{
	ptrdiff_t n = read(r->fd, r->bytes, r->size);

	return n < 0 ? -errno : n;
}

int sennit_signals_wait(sennit_signals *s, struct signalfd_siginfo *info,
			sennit_time deadline)
{
	struct signalfd_siginfo got;
	const struct io_request r = { .attempt = attempt_read,
				      .fd = s->fd_,
				      .events = POLLIN,
				      .bytes = &got,
				      .size = sizeof(got) };
	ptrdiff_t               n = sn_io_do(&r, deadline);

	if (n < 0)
		return (int)n;
	if (info)
		*info = got;
	return (int)got.ssi_signo;
}

void sennit_signals_close(sennit_signals *s)
{
	(void)sennit_close(s->fd_);
	s->fd_ = -1;
}
