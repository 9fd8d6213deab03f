/* SPDX-License-Identifier: Apache-2.0 */
/* graceful_stop.c - a server that stops on SIGTERM: no new connections, and
 * those that are there end. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>
#include <sennit/signals.h>

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

/* The server: until SIGTERM, and then until its connections have ended. */
static int run_server(int listener, sennit_signals *signals)
{
	sennit_group acceptors, connections;
	int          err, number;

	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	err = sennit_listen_each(listener, &acceptors, &connections, serve,
				 NULL);
	number = err ? err : sennit_signals_wait(signals, NULL, SENNIT_NEVER);
	printf("signal %s\n", number == SIGTERM ? "SIGTERM" : "?");
	sennit_event_set(&stopping);
	sennit_group_cancel(&acceptors);
	sennit_group_wait(&acceptors);
	err = sennit_group_drain(&connections, sennit_after(PATIENCE));
	printf("all connections have ended\n");
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

static int run(sennit_signals *signals)
{
	int listener = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER), err,
	    ended;
	sennit_group clients;

	if (listener < 0 ||
	    sennit_local_address(listener, address, sizeof(address)))
		return -EIO;
	sennit_group_init(&clients, sennit_after(PATIENCE), 0);
	err = sennit_group_spawn(&clients, client, NULL);
	err = err ? err : run_server(listener, signals);
	ended = sennit_group_wait(&clients);
	sennit_close(listener);
	printf("greeted before, answered after: %s\n", ended ? "no" : "yes");
	return err ? err : ended;
}

int main(void)
{
	sigset_t          stop;
	sennit_signals   *signals;
	sennit_scheduler *s;
	int               err;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	if (pthread_sigmask(SIG_BLOCK, &stop, NULL)) /* before all threads */
		return 1;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s) ||
	    sennit_signals_open(&signals, &stop))
		return 1;
	err = run(signals);
	sennit_signals_close(signals);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || err ? 1 : 0;
}
