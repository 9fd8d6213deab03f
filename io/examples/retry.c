/* SPDX-License-Identifier: Apache-2.0 */
/* retry.c - a client that tries again: each attempt has a deadline, the pauses
 * between them double, and a deadline ends it all.
 *
 *	retry [clients [connections that the server drops]]
 */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE         (60 * SENNIT_SECOND)
#define ATTEMPT_PATIENCE (10 * SENNIT_SECOND)
#define FIRST_PAUSE      SENNIT_MILLISECOND
#define LONGEST_PAUSE    (100 * SENNIT_MILLISECOND)

static char       address[SENNIT_ADDRESS_TEXT];
static int        clients = 20;
static int        drops = 40;
static atomic_int attempts;

/* --- the client --------------------------------------------------------- */

/* One attempt: a request of one byte, a reply of one. */
static int try_once(char *reply, sennit_time deadline)
{
	int       fd = sennit_connect_to(address, deadline);
	ptrdiff_t n;

	if (fd < 0)
		return fd;
	n = sennit_send(fd, "?", 1, 0, deadline);
	if (n > 0)
		n = sennit_recv(fd, reply, 1, 0, deadline);
	sennit_close(fd);
	return n > 0 ? 0 : n ? (int)n : -ECONNRESET;
}

/* Another attempt may succeed where this one failed. The others of its errors
 * are the program's own, or its group's: -ECANCELED. */
static bool is_passing(int err)
{
	return err == -ECONNREFUSED || err == -ECONNRESET || err == -EPIPE ||
	       err == -ETIMEDOUT || err == -EHOSTUNREACH || err == -ENETUNREACH;
}

/* Between half the pause and all of it: clients that failed together do not
 * come back together. */
static uint64_t jitter(uint64_t pause, uint32_t *random)
{
	*random = *random * 1664525u + 1013904223u;
	return pause / 2 + *random % (pause / 2);
}

static sennit_time earlier(sennit_time a, sennit_time b)
{
	return a < b ? a : b;
}

/* Returns the error of the last attempt when the deadline has passed: it says
 * more than -ETIMEDOUT. Only requests that may be executed twice are fit for
 * this. */
static int ask(char *reply, uint32_t seed, sennit_time deadline)
{
	uint64_t pause = FIRST_PAUSE;
	int      err, ended;

	for (;;) {
		sennit_time next;

		atomic_fetch_add(&attempts, 1);
		err = try_once(reply, earlier(sennit_after(ATTEMPT_PATIENCE),
					      deadline));
		next = sennit_after(jitter(pause, &seed));
		if (!is_passing(err) || next >= deadline)
			return err;
		ended = sennit_sleep_until(next);
		if (ended) /* by the group of the caller */
			return ended;
		pause = earlier(pause * 2, LONGEST_PAUSE);
	}
}

static int client(void *argument)
{
	char reply = 0;
	int  err = ask(&reply, (uint32_t)(uintptr_t)argument,
		       sennit_after(PATIENCE));

	return err || reply == '!' ? err : -EBADMSG;
}

/* --- a server that drops its first connections -------------------------- */

static int serve(void *argument)
{
	int  fd = (int)(intptr_t)argument;
	char byte;

	if (sennit_recv(fd, &byte, 1, 0, sennit_after(PATIENCE)) == 1)
		(void)!sennit_send(fd, "!", 1, 0, sennit_after(PATIENCE));
	sennit_close(fd);
	return 0;
}

static int accept_all(void *argument)
{
	int          listener = (int)(intptr_t)argument;
	sennit_group served;
	int          fd, dropped = 0;

	sennit_group_init(&served, SENNIT_NEVER, 0);
	while ((fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER)) >= 0)
		if (dropped++ < drops ||
		    sennit_group_spawn(&served, serve, (void *)(intptr_t)fd))
			sennit_close(fd);
	sennit_group_wait(&served);
	return fd;
}

/* --- both --------------------------------------------------------------- */

static int run_clients(int listener)
{
	sennit_group server, all;
	int          err, ended;

	sennit_group_init(&server, SENNIT_NEVER, 0);
	sennit_group_init(&all, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&server, accept_all,
				 (void *)(intptr_t)listener);
	for (int i = 0; i < clients && !err; i++)
		err = sennit_group_spawn(&all, client, (void *)(intptr_t)i);
	ended = sennit_group_wait(&all);
	sennit_group_cancel(&server);
	sennit_group_wait(&server); /* it says that it was cancelled */
	return ended ? ended : err;
}

static int run(void)
{
	int  listener = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER);
	char reply;
	int  err, refused;

	if (listener < 0 ||
	    sennit_local_address(listener, address, sizeof(address)))
		return -EIO;
	err = run_clients(listener);
	sennit_close(listener);
	printf("%d clients, %d dropped connections, %d attempts\n", clients,
	       drops, (int)attempts);
	if (err || attempts != clients + drops)
		return err ? err : -EBADMSG;
	/* The listener is closed. */
	refused = ask(&reply, 1, sennit_after(50 * SENNIT_MILLISECOND));
	printf("no server: %s, %d attempts\n", sennit_strerror(refused),
	       (int)attempts - clients - drops);
	return refused == -ECONNREFUSED ? 0 : -EBADMSG;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	clients = argc > 1 ? atoi(argv[1]) : clients;
	drops = argc > 2 ? atoi(argv[2]) : drops;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run();
	if (err)
		fprintf(stderr, "retry: %s\n", sennit_strerror(err));
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}
