/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - a server and its clients in the simulated network: no byte is
 * lost, none comes twice, whatever the delays, pieces and resets; a seed gives
 * the same run again; time passes as the network takes it.
 */
#include "network.h"
#include "sennit/deterministic.h"

enum { CLIENTS = 4, SIZE = 1500, SEEDS = 60 };

/* Seeds of the larger scenarios. */
#define SOME (SCHEDULES / 15)

/* --- an echo server ----------------------------------------------------- */

static struct {
	const sennit_simulation_config *config;
	struct sockaddr_in              address;
	sennit_group                    served;
	unsigned                        whole, broken; /* clients */
	uint64_t                        digest;
	sennit_time                     took;
} echo;

static int serve(void *argument)
{
	int       fd = (int)(intptr_t)argument;
	char      bytes[256];
	ptrdiff_t n;

	while ((n = sennit_recv(fd, bytes, sizeof(bytes), 0,
				sennit_after(PATIENCE))) > 0)
		if (send_all(fd, bytes, (size_t)n))
			break;
	REQUIRE(!sennit_close(fd));
	return 0;
}

static int accept_all(void *argument)
{
	int listener = (int)(intptr_t)argument;
	int fd;

	while ((fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER)) >= 0)
		REQUIRE(!sennit_group_spawn(&echo.served, serve,
					    (void *)(intptr_t)fd));
	REQUIRE(fd == -ECANCELED);
	return 0;
}

static char byte_of(uintptr_t client, size_t at)
{
	return (char)(client * 31 + at * 7 + at / 256);
}

struct half {
	uintptr_t client;
	int       fd;
	bool      failed;
};

static int send_half(void *argument)
{
	struct half *h = argument;
	char         bytes[SIZE];

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = byte_of(h->client, i);
	h->failed = send_all(h->fd, bytes, SIZE) ||
		    sennit_shutdown(h->fd, SHUT_WR);
	return 0;
}

/* Sends and receives at once; what came back is what was sent, or the start of
 * it if something went wrong. */
static int talk(void *argument)
{
	struct half  h = { .client = (uintptr_t)argument, .fd = new_socket() };
	char         bytes[SIZE + 1];
	size_t       have = 0;
	sennit_group sender;

	if (!connect_to(h.fd, &echo.address)) {
		sennit_group_init(&sender, SENNIT_NEVER, 0);
		REQUIRE(!sennit_group_spawn(&sender, send_half, &h));
		have = receive_all(h.fd, bytes, sizeof(bytes));
		REQUIRE(!sennit_group_wait(&sender));
	}
	REQUIRE(have <= SIZE);
	for (size_t i = 0; i < have; i++)
		REQUIRE(bytes[i] == byte_of(h.client, i));
	__atomic_add_fetch(have == SIZE ? &echo.whole : &echo.broken, 1,
			   __ATOMIC_RELAXED);
	REQUIRE(!sennit_close(h.fd));
	return 0;
}

static void run_echo(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	sennit_group      server, clients;
	int               listener;

	(void)unused;
	REQUIRE(!sennit_simulation_begin(echo.config));
	echo.took = sennit_now();
	listener = listen_somewhere(&echo.address);
	sennit_group_init(&server, SENNIT_NEVER, 0);
	sennit_group_init(&clients, SENNIT_NEVER, 0);
	sennit_group_init(&echo.served, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&server, accept_all,
				    (void *)(intptr_t)listener));
	for (uintptr_t i = 0; i < CLIENTS; i++)
		REQUIRE(!sennit_group_spawn(&clients, talk, (void *)i));
	REQUIRE(!sennit_group_wait(&clients));
	sennit_group_cancel(&server);
	REQUIRE(sennit_group_wait(&server) == -ECANCELED);
	REQUIRE(!sennit_group_wait(&echo.served));
	REQUIRE(!sennit_close(listener));
	echo.took = sennit_now() - echo.took;
	echo.digest = sennit_simulation_digest();
	end(s);
}

TEST(nothing_is_lost_or_comes_twice)
{
	const sennit_simulation_config *all[] = {
		NULL,
		SENNIT_SIMULATION_CONFIG(.buffer = 7, .delay_max_ns = 50),
		SENNIT_SIMULATION_CONFIG(.whole = 1, .delay_max_ns = 10000000),
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		echo.whole = echo.broken = 0;
		echo.config = all[i];
		explore_some(run_echo, NULL, SOME);
		assert_int_not_equal(echo.whole, 0);
		assert_int_equal(echo.broken, 0);
	}
}

TEST(what_fails_is_a_start_of_what_was_sent)
{
	echo.whole = echo.broken = 0;
	echo.config = SENNIT_SIMULATION_CONFIG(.resets = 20000,
					       .refusals = 100000,
					       .ends = 10000, .stalls = 10000,
					       .buffer = 512);
	explore_some(run_echo, NULL, SOME);
	if (echo.whole + echo.broken < 100)
		return; /* too few seeds to say */
	assert_in_range(echo.whole, 1, UINT32_MAX);
	assert_in_range(echo.broken, 1, UINT32_MAX);
}

/* --- replay ------------------------------------------------------------- */

static uint64_t digest_of(uint64_t seed)
{
	assert_int_equal(sennit_explore(seed, 1, run_echo, NULL), 0);
	return echo.digest;
}

TEST(a_seed_gives_the_same_network_again)
{
	uint64_t digests[SEEDS];

	echo.config = SENNIT_SIMULATION_CONFIG(.resets = 5000, .stalls = 5000);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		digests[seed] = digest_of(seed);
		(void)digest_of(seed + 7919); /* another run in between */
		assert_int_equal(digest_of(seed), digests[seed]);
		for (uint64_t i = 0; i < seed; i++)
			assert_int_not_equal(digests[i], digests[seed]);
	}
}

/* --- time --------------------------------------------------------------- */

/* A connection takes two delays at least, and what is sent on it another two:
 * minutes that nobody waits for. */
TEST(time_passes_as_the_network_takes_it)
{
	echo.config =
		SENNIT_SIMULATION_CONFIG(.delay_min_ns = 60 * SENNIT_SECOND,
					 .delay_max_ns = 61 * SENNIT_SECOND);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		(void)digest_of(seed);
		assert_in_range(echo.took, 180 * SENNIT_SECOND,
				900 * SENNIT_SECOND);
	}
}

/* --- numbers that are used again ---------------------------------------- */

struct taken {
	int       fd;
	char      byte;
	ptrdiff_t n;
};

static int take(void *argument)
{
	struct taken *t = argument;

	t->n = sennit_recv(t->fd, &t->byte, 1, 0, SENNIT_NEVER);
	return 0;
}

/* Whoever is about to take a byte finds the number in use for others. */
static void close_and_use_again(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	struct taken      t = { .n = 0 };
	sennit_group      g;
	int               fds[2], again[2];

	(void)unused;
	REQUIRE(!sennit_simulation_begin(NULL));
	REQUIRE(!sennit_simulation_pair(fds));
	t.fd = fds[0];
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, take, &t));
	while (!somebody_waits())
		sennit_yield();
	REQUIRE(sennit_send(fds[1], "a", 1, 0, SENNIT_NEVER) == 1);
	sennit_sleep(1 + sennit_explore_choose(100 * SENNIT_MICROSECOND));
	REQUIRE(!sennit_close(fds[0]));
	REQUIRE(!sennit_simulation_pair(again) && again[0] == fds[0]);
	REQUIRE(sennit_send(again[1], "z", 1, 0, SENNIT_NEVER) == 1);
	REQUIRE(!sennit_group_wait(&g));
	REQUIRE(t.n == -ECANCELED || (t.n == 1 && t.byte == 'a'));
	REQUIRE(!sennit_close(again[0]) && !sennit_close(again[1]));
	REQUIRE(!sennit_close(fds[1]));
	end(s);
}

TEST(a_call_does_not_go_on_with_a_number_used_again)
{
	explore_some(close_and_use_again, NULL, SCHEDULES / 10);
}
