/* SPDX-License-Identifier: Apache-2.0 */
/* handler.c - the handler of an example that ends by itself, as a server that
 * goes on until SIGTERM. HANDLER is its name; the build includes the example.
 *
 * At SIGTERM it takes no more connections and cancels those that are there.
 */
#define _GNU_SOURCE
#define main example_main
#include EXAMPLE
#undef main

#include <sennit/listen.h>
#include <sennit/signals.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

/* Handlers are those of sennit_listen_each(), or members of a group that get a
 * descriptor as their argument. */
static void call_plain(void (*handler)(void), int fd)
{
	((sennit_serve_fn *)handler)(NULL, fd);
}

static void call_member(void (*handler)(void), int fd)
{
	(void)((int (*)(void *))handler)((void *)(intptr_t)fd);
}

static void handle(void *unused, int fd)
{
	(void)unused;
	/* clang-format off */
	_Generic(HANDLER, int (*)(void *): call_member, default: call_plain)(
		(void (*)(void))HANDLER, fd);
	/* clang-format on */
}

static sigset_t stop;

static int serve_until_stop(void *unused)
{
	sennit_group    acceptors, connections;
	sennit_signals *signals;
	int err, fd = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER);

	(void)unused;
	if (fd < 0 || sennit_signals_open(&signals, &stop))
		return 2;
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	err = sennit_listen_each(fd, &acceptors, &connections, handle, NULL);
	if (!err)
		err = sennit_signals_wait(signals, NULL, SENNIT_NEVER);
	sennit_group_cancel(&acceptors);
	sennit_group_wait(&acceptors);
	(void)sennit_group_drain(&connections, 0);
	sennit_signals_close(signals);
	sennit_close(fd);
	return err != SIGTERM;
}

int main(void)
{
	int result;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	return sennit_run(serve_until_stop, NULL, NULL, &result) || result;
}
