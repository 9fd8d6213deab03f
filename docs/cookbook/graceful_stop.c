/* SPDX-License-Identifier: Apache-2.0 */
/* graceful_stop.c - a server that stops on SIGTERM: no new connections, and
 * those that are there end. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/serve.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define PATIENCE (30 * SENNIT_SECOND)

static char         address[SENNIT_ADDRESS_TEXT];
static sennit_event stopping = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

static bool send_byte(int fd, char byte)
{
	return sennit_send(fd, &byte, 1, 0, sennit_after(PATIENCE)) == 1;
}

/* Greets, and answers each byte. After the stop it answers one more, and ends,
 * at the latest when it has been patient. */
static void serve(void *unused, int fd)
{
	bool open = send_byte(fd, '>');
	char byte;

	(void)unused;
	while (open) {
		open = sennit_recv(fd, &byte, 1, 0, sennit_after(PATIENCE)) ==
			       1 &&
		       send_byte(fd, byte) && !sennit_event_is_set(&stopping);
	}
	sennit_close(fd);
}

/* No more connections come. */
static void begin_stop(void *unused)
{
	(void)unused;
	printf("stopping\n");
	sennit_event_set(&stopping);
}

/* The server: until SIGTERM, and then until its connections have ended. */
static int run_server(int listener, const sigset_t *stop)
{
	int err = sennit_serve(listener, serve, NULL,
			       SENNIT_SERVE_OPTIONS(.signals = stop,
						    .stopping = begin_stop,
						    .patience = PATIENCE));

	printf("all connections have ended: %s\n", sennit_strerror(err));
	return err;
}

static int receives(int fd, char expected)
{
	char byte = 0;

	return sennit_recv(fd, &byte, 1, 0, SENNIT_NEVER) == 1 &&
	       byte == expected;
}

/* A client that asks when the server has begun to stop. */
static int client(void *unused)
{
	int fd = sennit_connect_to(address, SENNIT_NEVER);
	int before = fd >= 0 && receives(fd, '>'), after;

	(void)unused;
	kill(getpid(), SIGTERM); /* as the system does */
	after = !sennit_event_wait(&stopping) && before && send_byte(fd, 'b') &&
		receives(fd, 'b');
	if (fd >= 0)
		sennit_close(fd);
	return after ? 0 : -EIO;
}

static int run(const sigset_t *stop)
{
	int listener = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER), err,
	    ended;
	sennit_group clients;

	if (listener < 0 ||
	    sennit_local_address(listener, address, sizeof(address)))
		return -EIO;
	sennit_group_init(&clients, sennit_after(PATIENCE), 0);
	err = sennit_group_spawn(&clients, client, NULL);
	err = err ? err : run_server(listener, stop);
	ended = sennit_group_wait(&clients);
	printf("greeted before, answered after: %s\n", ended ? "no" : "yes");
	return err ? err : ended;
}

int main(void)
{
	sigset_t          stop;
	sennit_scheduler *s;
	int               err;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	if (pthread_sigmask(SIG_BLOCK, &stop, NULL)) /* before all threads */
		return 1;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run(&stop);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || err ? 1 : 0;
}
