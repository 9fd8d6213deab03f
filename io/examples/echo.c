/* SPDX-License-Identifier: Apache-2.0 */
/* echo.c - a server that sends back what it receives, and 64 clients of it, in
 * one process: a fiber per connection.
 *
 *	echo [connections [rounds]]
 */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/net.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE (60 * SENNIT_SECOND)

static char                 address[SENNIT_ADDRESS_TEXT];
static int                  connections = 64;
static int                  rounds = 50;
static atomic_uint_fast64_t echoed; /* bytes */

/* --- the server --------------------------------------------------------- */

/* An error of one connection is none of the group, which would cancel the
 * others. */
static int serve(void *argument)
{
	int       fd = (int)(intptr_t)argument;
	char      bytes[4096];
	ptrdiff_t n;

	while ((n = sennit_recv(fd, bytes, sizeof(bytes), 0,
				sennit_after(PATIENCE))) > 0) {
		if (sennit_send_all(fd, bytes, (size_t)n, 0, NULL,
				    sennit_after(PATIENCE)))
			break;
		atomic_fetch_add(&echoed, (uint_fast64_t)n);
	}
	sennit_close(fd);
	return 0;
}

/* Serves until its group is cancelled. */
static int accept_all(void *argument)
{
	int          listener = (int)(intptr_t)argument;
	sennit_group served;
	int          fd;

	sennit_group_init(&served, SENNIT_NEVER, 0);
	while ((fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER)) >= 0)
		if (sennit_group_spawn(&served, serve, (void *)(intptr_t)fd))
			sennit_close(fd);
	sennit_group_wait(&served);
	return fd;
}

/* --- the clients -------------------------------------------------------- */

static int exchange(int fd, int round)
{
	char bytes[128];
	char back[128];
	int  err;

	memset(bytes, 'a' + round % 26, sizeof(bytes));
	err = sennit_send_all(fd, bytes, sizeof(bytes), 0, NULL,
			      sennit_after(PATIENCE));
	if (!err)
		err = sennit_read_exactly(fd, back, sizeof(back), NULL,
					  sennit_after(PATIENCE));
	return err || memcmp(bytes, back, sizeof(bytes)) != 0 ? -1 : 0;
}

static int talk(void *unused)
{
	int fd = sennit_connect_to(address, sennit_after(PATIENCE));
	int err = 0;

	(void)unused;
	if (fd < 0)
		return fd;
	for (int i = 0; i < rounds && !err; i++)
		err = exchange(fd, i);
	sennit_close(fd);
	return err;
}

static int run(void)
{
	int listener = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER);
	sennit_group server, clients;
	int          err;

	if (listener < 0 ||
	    sennit_local_address(listener, address, sizeof(address)))
		return -1;
	sennit_group_init(&server, SENNIT_NEVER, 0);
	sennit_group_init(&clients, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&server, accept_all,
				 (void *)(intptr_t)listener);
	for (int i = 0; i < connections && !err; i++)
		err = sennit_group_spawn(&clients, talk, NULL);
	err = sennit_group_wait(&clients) ? -1 : err;
	sennit_group_cancel(&server);
	sennit_group_wait(&server); /* it says that it was cancelled */
	sennit_close(listener);
	return err;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	if (argc > 1)
		connections = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run();
	printf("%d connections, %" PRIu64 " bytes sent back, by %s\n",
	       connections, (uint64_t)atomic_load(&echoed),
	       sennit_io_backend());
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err || atomic_load(&echoed) != (uint_fast64_t)connections *
						      (unsigned)rounds * 128;
}
