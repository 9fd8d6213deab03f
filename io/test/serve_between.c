/* SPDX-License-Identifier: Apache-2.0 */
/* serve_between.c - a signal that another server receives while a server
 * begins. The test replaces getsockopt() to force that order. */
#include "operations.h"

#include "sennit/address.h"
#include "sennit/serve.h"

#include <dlfcn.h>
#include <signal.h>

static sigset_t usr1;

struct service {
	int         fd;
	int         result;
	atomic_bool over;
};

static struct service first, second;
static atomic_bool    armed; /* the second one has not begun */

int getsockopt(int fd, int level, int option, void *restrict value,
	       socklen_t *restrict size)
{
	int (*call)(int, int, int, void *restrict, socklen_t *restrict);

	*(void **)&call = dlsym(RTLD_NEXT, "getsockopt");
	if (fd == second.fd && option == SO_ACCEPTCONN &&
	    atomic_exchange(&armed, false)) {
		kill(getpid(), SIGUSR1);
		while (!atomic_load(&first.over))
			(void)!sennit_sleep(SENNIT_MILLISECOND);
	}
	return call(fd, level, option, value, size);
}

static void close_at_once(void *unused, int fd)
{
	(void)unused;
	sennit_close(fd);
}

static int run_server(void *argument)
{
	struct service *x = argument;

	x->result =
		sennit_serve(x->fd, close_at_once, NULL,
			     SENNIT_SERVE_OPTIONS(.signals = &usr1,
						  .patience = SENNIT_NEVER));
	atomic_store(&x->over, true);
	return 0;
}

static void listen_for(struct service *x)
{
	x->fd = sennit_listen_at("127.0.0.1:0", 0, 0);
	must(x->fd >= 0, "sennit_listen_at");
	atomic_store(&x->over, false);
}

/* The first server receives it; the second one has been called before. */
TEST_WITH_WORKERS(a_signal_while_a_server_begins_stops_it)
{
	sennit_group g;
	char         address[SENNIT_ADDRESS_TEXT];

	(void)w;
	listen_for(&first);
	listen_for(&second);
	must(!sennit_local_address(first.fd, address, sizeof(address)),
	     "sennit_local_address");
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, run_server, &first));
	/* It has begun. */
	close(sennit_connect_to(address, in_ms(100000)));
	(void)!sennit_sleep(SENNIT_MILLISECOND);
	atomic_store(&armed, true);
	EXPECT(!sennit_group_spawn(&g, run_server, &second));
	EXPECT_SOON(atomic_load(&second.over));
	(void)sennit_group_wait(&g);
	EXPECT(!first.result && !second.result);
}

static int block_signals(void)
{
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	return 0;
}

BEFORE_ALL(block_signals);
USES_BACKEND;
