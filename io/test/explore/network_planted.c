/* SPDX-License-Identifier: Apache-2.0 */
/* network_planted.c - servers with a bug that shows on few networks: exploring
 * finds it and prints the seed, and that seed alone reproduces it. */
#include "../../../core/test/explore/explore.h"
#include "network.h"

/* --- a server that takes each receive for a whole message --------------- */

enum { MESSAGE = 16, MESSAGES = 3 };

static struct {
	struct sockaddr_in address;
	unsigned           answered;
} whole;

static size_t receive_message(int fd, char *message, bool once)
{
	return once ? (size_t)sennit_recv(fd, message, MESSAGE, 0, PATIENCE)
		    : receive_all(fd, message, MESSAGE);
}

static void answer(int fd, bool once)
{
	char message[MESSAGE] = "";

	for (int i = 0; i < MESSAGES; i++) {
		REQUIRE(receive_message(fd, message, once) == MESSAGE);
		REQUIRE(message[0] == 'a' + i);
		whole.answered++;
	}
}

static int ask(void *unused)
{
	int  fd = new_socket();
	char message[MESSAGE];

	(void)unused;
	REQUIRE(!connect_to(fd, &whole.address));
	for (int i = 0; i < MESSAGES; i++) {
		memset(message, 'a' + i, sizeof(message));
		REQUIRE(!send_all(fd, message, sizeof(message)));
	}
	REQUIRE(!sennit_close(fd));
	return 0;
}

static void take_messages(void *once)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	sennit_group      g;
	int               listener, fd;

	REQUIRE(!sennit_simulation_begin(NULL));
	whole.answered = 0;
	listener = listen_somewhere(&whole.address);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, ask, NULL));
	fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC, SENNIT_NEVER);
	REQUIRE(fd >= 0);
	answer(fd, once);
	REQUIRE(!sennit_group_wait(&g));
	REQUIRE(!sennit_close(fd) && !sennit_close(listener));
	end(s);
}

/* --- a wake that a reset forgets ---------------------------------------- */

static struct {
	int          fds[2];
	sennit_event over;
} watch;

/* Tells at the end of the stream, and forgets to when it fails. */
static int read_to_end(void *forgetful)
{
	char      bytes[64];
	ptrdiff_t n;

	while ((n = sennit_recv(watch.fds[0], bytes, sizeof(bytes), 0,
				SENNIT_NEVER)) > 0)
		continue;
	if (!n || !forgetful)
		sennit_event_set(&watch.over);
	return 0;
}

static int write_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < 4; i++)
		if (sennit_send(watch.fds[1], "abcdefgh", 8, 0, SENNIT_NEVER) <
		    0)
			break;
	sennit_shutdown(watch.fds[1], SHUT_WR);
	return 0;
}

static void end_on_reset(void *forgetful)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	sennit_group      g;

	REQUIRE(!sennit_simulation_begin(
		SENNIT_SIMULATION_CONFIG(.resets = 2000)));
	REQUIRE(!sennit_simulation_pair(watch.fds));
	sennit_event_init(&watch.over, SENNIT_EVENT_MANUAL);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, read_to_end, forgetful));
	REQUIRE(!sennit_group_spawn(&g, write_some, NULL));
	REQUIRE(!sennit_event_wait(&watch.over));
	REQUIRE(!sennit_group_wait(&g));
	REQUIRE(!sennit_close(watch.fds[0]) && !sennit_close(watch.fds[1]));
	end(s);
}

/* --- both ends wait for the other to begin ------------------------------ */

static int wait_for_byte(void *fd)
{
	char      byte;
	ptrdiff_t n = sennit_recv(*(int *)fd, &byte, 1, 0, SENNIT_NEVER);

	return n < 0 ? (int)n : 0;
}

static void wait_for_each_other(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	sennit_group      g;

	(void)unused;
	REQUIRE(!sennit_simulation_begin(NULL));
	REQUIRE(!sennit_simulation_pair(watch.fds));
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, wait_for_byte, &watch.fds[0]));
	REQUIRE(!sennit_group_spawn(&g, wait_for_byte, &watch.fds[1]));
	REQUIRE(!sennit_group_wait(&g));
	end(s);
}

/* --- cases -------------------------------------------------------------- */

static int yes;

TEST(one_receive_per_message_is_too_few)
{
	assert_found(take_messages, &yes, "not so: receive_message");
}

TEST(as_many_as_it_takes_are_enough)
{
	assert_false(
		explore_in_child(take_messages, NULL, 1, ENOUGH / 20).aborted);
}

TEST(a_reset_that_wakes_nobody_is_a_deadlock)
{
	assert_found(end_on_reset, &yes, "deadlock: every thread waits");
}

TEST(one_that_does_is_none)
{
	assert_false(
		explore_in_child(end_on_reset, NULL, 1, ENOUGH / 10).aborted);
}

TEST(who_waits_for_what_is_named)
{
	assert_found(wait_for_each_other, NULL, "deadlock: every thread waits");
	assert_found(wait_for_each_other, NULL, "waits for I/O on descriptor");
}
