/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a server in one call: what stops it, what its peers may do, and
 * what is left afterwards. */
#include "operations.h"

#include "testing/misuse.h"
#include "testing/proc_self.h"

#include "base/compiler.h"
#include "sennit/address.h"
#include "sennit/poller.h"
#include "sennit/serve.h"
#include "sennit/signals.h"

#include <dirent.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

static sigset_t usr1, usr2, term; /* term is not blocked */

/* --- a server ------------------------------------------------------------- */

struct service {
	int                  fd;
	char                 address[SENNIT_ADDRESS_TEXT];
	sennit_serve_options options;
	sennit_group         g;
	sennit_event         stop;
	int                  result;
	atomic_uint          open;      /* connections */
	atomic_uint          served;    /* those that have ended */
	atomic_uint          cancelled; /* among them: by the server */
	atomic_bool          stopping;
	atomic_bool          over;
	atomic_bool          failed; /* a helper of a handler */
	sennit_serve_fn     *serve;  /* NULL: echo */
};

/* Answers each byte by the same one, until the end. */
static void echo(void *argument, int fd)
{
	struct service *x = argument;
	char            byte;
	ptrdiff_t       n;

	atomic_fetch_add(&x->open, 1);
	while ((n = sennit_recv(fd, &byte, 1, 0, SENNIT_NEVER)) > 0)
		if (sennit_send_all(fd, &byte, 1, 0, NULL, SENNIT_NEVER))
			break;
	if (n == -ECANCELED)
		atomic_fetch_add(&x->cancelled, 1);
	atomic_fetch_add(&x->served, 1);
	EXPECT(sennit_close(fd) == 0);
}

static void note_stopping(void *argument)
{
	struct service *x = argument;

	EXPECT(sennit_connect_to(x->address, in_ms(100000)) == -ECONNREFUSED);
	atomic_store(&x->stopping, true);
}

static int run_server(void *argument)
{
	struct service *x = argument;

	x->result = sennit_serve(x->fd, x->serve ? x->serve : echo, x,
				 &x->options);
	atomic_store(&x->over, true);
	return 0;
}

static void listen_for(struct service *x)
{
	*x = (struct service){ .fd = sennit_listen_at("127.0.0.1:0", 0, 0),
			       .stop = SENNIT_EVENT_INIT(0),
			       .options = { .size = sizeof(x->options),
					    .patience = SENNIT_NEVER } };
	must(x->fd >= 0, "sennit_listen_at");
	must(!sennit_local_address(x->fd, x->address, sizeof(x->address)),
	     "sennit_local_address");
}

static void begin_server(struct service *x)
{
	sennit_group_init(&x->g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&x->g, run_server, x));
}

static void start_server(struct service *x, const sigset_t *signals)
{
	listen_for(x);
	x->options.signals = signals;
	x->options.stop = &x->stop;
	x->options.stopping = note_stopping;
	begin_server(x);
}

/* Returns what sennit_serve() has returned. */
static int await_server(struct service *x)
{
	EXPECT_SOON(atomic_load(&x->over));
	EXPECT(!sennit_group_wait(&x->g));
	EXPECT(fcntl(x->fd, F_GETFD) < 0);
	EXPECT(atomic_load(&x->open) == atomic_load(&x->served));
	return x->result;
}

/* --- clients -------------------------------------------------------------- */

static int connect_client(struct service *x)
{
	int fd = sennit_connect_to(x->address, in_ms(100000));

	must(fd >= 0, "sennit_connect_to");
	return fd;
}

static void ask(int fd)
{
	char byte = 0;

	EXPECT(sennit_send(fd, "a", 1, 0, in_ms(100000)) == 1);
	EXPECT(sennit_recv(fd, &byte, 1, 0, in_ms(100000)) == 1);
	EXPECT(byte == 'a');
}

static int connect_and_ask(struct service *x)
{
	int fd = connect_client(x);

	ask(fd);
	return fd;
}

/* Whether the server has ended the connection. */
static void expect_end(int fd)
{
	char      byte;
	ptrdiff_t n = sennit_recv(fd, &byte, 1, 0, in_ms(100000));

	EXPECT(n == 0 || n == -ECONNRESET);
	close(fd);
}

static void reset_connection(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	EXPECT(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)));
	close(fd);
}

/* The sockets and signalfds of this process. */
static unsigned count_descriptors(void)
{
	DIR           *d = opendir("/proc/self/fd");
	struct dirent *e;
	unsigned       count = 0;

	must(d, "opendir");
	while ((e = readdir(d))) {
		char    target[64] = "";
		ssize_t n = readlinkat(dirfd(d), e->d_name, target,
				       sizeof(target) - 1);

		count += n > 0 && (strstr(target, "socket:") ||
				   strstr(target, "signalfd"));
	}
	closedir(d);
	return count;
}

/* --- what stops it -------------------------------------------------------- */

TEST_WITH_WORKERS(an_event_stops_it)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, NULL);
	fd = connect_and_ask(&x);
	sennit_event_set(&x.stop);
	EXPECT_SOON(atomic_load(&x.stopping));
	ask(fd); /* goes on */
	assert_false(atomic_load(&x.over));
	close(fd);
	assert_int_equal(await_server(&x), 0);
}

TEST_WITH_WORKERS(an_event_that_is_set_stops_it_at_once)
{
	struct service x;

	(void)w;
	listen_for(&x);
	sennit_event_set(&x.stop);
	x.options.stop = &x.stop;
	begin_server(&x);
	assert_int_equal(await_server(&x), 0);
}

TEST_WITH_WORKERS(a_signal_stops_it)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, &usr1);
	fd = connect_and_ask(&x);
	kill(getpid(), SIGUSR1);
	EXPECT_SOON(atomic_load(&x.stopping));
	ask(fd);
	close(fd);
	assert_int_equal(await_server(&x), 0);
}

TEST_WITH_WORKERS(a_signal_that_was_pending_stops_it)
{
	struct service x;

	(void)w;
	kill(getpid(), SIGUSR1);
	start_server(&x, &usr1);
	assert_int_equal(await_server(&x), 0);
	assert_true(atomic_load(&x.stopping));
}

TEST_WITH_WORKERS(a_signal_after_its_end_stays_pending)
{
	sennit_signals *s;
	struct service  x;

	(void)w;
	start_server(&x, &usr1);
	sennit_event_set(&x.stop);
	assert_int_equal(await_server(&x), 0);
	kill(getpid(), SIGUSR1);
	assert_int_equal(sennit_signals_open(&s, &usr1), 0);
	assert_int_equal(sennit_signals_wait(s, NULL, 0), SIGUSR1);
	sennit_signals_close(s);
}

TEST_WITH_WORKERS(one_more_signal_ends_the_connections)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, &usr1);
	fd = connect_and_ask(&x);
	kill(getpid(), SIGUSR1);
	EXPECT_SOON(atomic_load(&x.stopping));
	assert_false(atomic_load(&x.over));
	kill(getpid(), SIGUSR1);
	assert_int_equal(await_server(&x), -ECANCELED);
	assert_int_equal(atomic_load(&x.cancelled), 1);
	expect_end(fd);
}

/* A signal during a drain that it has not begun. */
TEST_WITH_WORKERS(a_signal_after_the_event_ends_the_connections)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, &usr1);
	fd = connect_and_ask(&x);
	sennit_event_set(&x.stop);
	EXPECT_SOON(atomic_load(&x.stopping));
	kill(getpid(), SIGUSR1);
	assert_int_equal(await_server(&x), -ECANCELED);
	expect_end(fd);
}

TEST_WITH_WORKERS(a_signal_stops_all_servers_that_have_it)
{
	struct service a, b, other;

	(void)w;
	start_server(&a, &usr1);
	start_server(&b, &usr1);
	start_server(&other, &usr2);
	close(connect_and_ask(&a));
	close(connect_and_ask(&b));
	kill(getpid(), SIGUSR1);
	assert_int_equal(await_server(&a), 0);
	assert_int_equal(await_server(&b), 0);
	assert_false(atomic_load(&other.over));
	close(connect_and_ask(&other));
	kill(getpid(), SIGUSR2);
	assert_int_equal(await_server(&other), 0);
}

/* --- the end of the connections ------------------------------------------- */

TEST_WITH_WORKERS(connections_are_cancelled_after_its_patience)
{
	struct service x;
	int            fd;

	(void)w;
	listen_for(&x);
	x.options.stop = &x.stop;
	x.options.patience = SENNIT_MILLISECOND;
	begin_server(&x);
	fd = connect_and_ask(&x);
	sennit_event_set(&x.stop);
	assert_int_equal(await_server(&x), -ETIMEDOUT);
	assert_int_equal(atomic_load(&x.cancelled), 1);
	expect_end(fd);
}

TEST_WITH_WORKERS(without_patience_connections_are_cancelled_at_once)
{
	struct service x;
	int            fd;

	(void)w;
	listen_for(&x);
	x.options.stop = &x.stop;
	x.options.patience = 0;
	begin_server(&x);
	fd = connect_and_ask(&x);
	sennit_event_set(&x.stop);
	assert_int_equal(await_server(&x), -ETIMEDOUT);
	expect_end(fd);
}

TEST_WITH_WORKERS(the_group_around_it_cancels_all)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, &usr1);
	fd = connect_and_ask(&x);
	sennit_group_cancel(&x.g);
	EXPECT_SOON(atomic_load(&x.over));
	assert_int_equal(sennit_group_wait(&x.g), -ECANCELED);
	assert_int_equal(x.result, -ECANCELED);
	assert_int_equal(atomic_load(&x.cancelled), 1);
	expect_end(fd);
}

TEST_WITH_WORKERS(the_group_around_it_cancels_the_drain)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, NULL);
	fd = connect_and_ask(&x);
	sennit_event_set(&x.stop);
	EXPECT_SOON(atomic_load(&x.stopping));
	sennit_group_cancel(&x.g);
	EXPECT_SOON(atomic_load(&x.over));
	assert_int_equal(sennit_group_wait(&x.g), -ECANCELED);
	assert_int_equal(x.result, -ECANCELED);
	expect_end(fd);
}

TEST_WITH_WORKERS(the_deadline_around_it_cancels_all)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, NULL);
	fd = connect_and_ask(&x);
	sennit_group_set_deadline(&x.g, 1);
	EXPECT_SOON(atomic_load(&x.over));
	(void)sennit_group_wait(&x.g);
	assert_int_equal(x.result, -ETIMEDOUT);
	expect_end(fd);
}

TEST_WITH_WORKERS(a_listener_that_fails_lets_connections_end)
{
	struct service x;
	int            fd;

	(void)w;
	start_server(&x, &usr1);
	fd = connect_and_ask(&x);
	EXPECT(!sennit_shutdown(x.fd, SHUT_RDWR));
	EXPECT_SOON(atomic_load(&x.stopping));
	ask(fd);
	close(fd);
	assert_int_equal(await_server(&x), -EINVAL);
}

/* Those that are established before the stop are served. */
TEST_WITH_WORKERS(connections_of_before_the_stop_are_served)
{
	enum { MANY = 20 };
	struct service x;
	int            fds[MANY];

	(void)w;
	listen_for(&x);
	for (int i = 0; i < MANY; i++)
		fds[i] = connect_client(&x);
	sennit_event_set(&x.stop);
	x.options.stop = &x.stop;
	begin_server(&x);
	for (int i = 0; i < MANY; i++) {
		ask(fds[i]);
		close(fds[i]);
	}
	assert_int_equal(await_server(&x), 0);
	assert_int_equal(atomic_load(&x.served), MANY);
}

/* --- peers ---------------------------------------------------------------- */

/* Each breaks off in another way, or does nothing. */
static void break_off(struct service *x, int i)
{
	int fd = connect_client(x);

	if (i & 1)
		ask(fd);
	switch (i / 2 % 4) {
	case 0:
		reset_connection(fd);
		break;
	case 1:
		close(fd);
		break;
	case 2:
		EXPECT(!sennit_shutdown(fd, SHUT_WR));
		expect_end(fd);
		break;
	default: /* with an answer that is not read */
		EXPECT(sennit_send(fd, "b", 1, 0, in_ms(100000)) == 1);
		reset_connection(fd);
	}
}

TEST_WITH_WORKERS(peers_that_break_off_end_their_connection_alone)
{
	struct service x;
	const unsigned before = count_descriptors();
	int            beside, silent;

	(void)w;
	start_server(&x, &usr1);
	beside = connect_and_ask(&x);
	silent = connect_client(&x);
	for (int i = 0; i < 40; i++) {
		break_off(&x, i);
		ask(beside);
	}
	kill(getpid(), SIGUSR1);
	EXPECT_SOON(atomic_load(&x.stopping));
	ask(beside);
	ask(silent);
	close(beside);
	close(silent);
	assert_int_equal(await_server(&x), 0);
	assert_int_equal(count_descriptors(), before);
}

TEST_WITH_WORKERS(many_connections_end_with_it)
{
	static int     fds[1000];
	const int      count = LOAD(1000);
	const unsigned before = count_descriptors();
	struct rlimit  limit;
	struct service x;

	(void)w;
	must(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (limit.rlim_max < 2500 || setrlimit(RLIMIT_NOFILE, &limit))
		skip();
	listen_for(&x);
	x.options.stop = &x.stop;
	x.options.patience = SENNIT_MILLISECOND;
	begin_server(&x);
	for (int i = 0; i < count; i++)
		fds[i] = connect_and_ask(&x);
	assert_int_equal(atomic_load(&x.open), count);
	sennit_event_set(&x.stop);
	assert_int_equal(await_server(&x), -ETIMEDOUT);
	assert_int_equal(atomic_load(&x.cancelled), count);
	for (int i = 0; i < count; i++)
		expect_end(fds[i]);
	assert_int_equal(count_descriptors(), before);
}

/* --- handlers ------------------------------------------------------------- */

static int fail_beside(void *unused)
{
	(void)unused;
	return -EPIPE;
}

/* Starts a helper in the name of the connection, which fails. */
static void echo_beside_failure(void *argument, int fd)
{
	struct service *x = argument;

	if (!atomic_exchange(&x->failed, true))
		EXPECT(!sennit_group_spawn(sennit_group_current(), fail_beside,
					   NULL));
	echo(argument, fd);
}

TEST_WITH_WORKERS(a_helper_that_fails_does_not_end_the_server)
{
	struct service x;
	int            fd;

	(void)w;
	listen_for(&x);
	x.options.stop = &x.stop;
	x.serve = echo_beside_failure;
	begin_server(&x);
	fd = connect_and_ask(&x);
	close(connect_and_ask(&x));
	ask(fd);
	close(fd);
	sennit_event_set(&x.stop);
	assert_int_equal(await_server(&x), 0);
}

/* --- a poller of another library ------------------------------------------ */

struct other_poller {
	sennit_poller base;
	int           fd; /* an eventfd */
};

static void take_nothing(sennit_poller *p)
{
	(void)p;
}

static enum sennit_poller_end sleep_until(sennit_poller *p, sennit_time until)
{
	struct other_poller *o = container_of(p, struct other_poller, base);
	const sennit_time    now = sennit_now();
	const sennit_time    left = until > now ? until - now : 0;
	struct pollfd        f = { .fd = o->fd, .events = POLLIN };
	uint64_t             count;

	if (poll(&f, 1,
		 left < 10 * SENNIT_SECOND
			 ? (int)(left / SENNIT_MILLISECOND) + 1
			 : 10000) > 0)
		(void)!read(o->fd, &count, sizeof(count));
	return sennit_now() < until ? SENNIT_POLLER_WOKEN
				    : SENNIT_POLLER_TIMEOUT;
}

static void wake_other(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(container_of(p, struct other_poller, base)->fd, &one,
		     sizeof(one));
}

static void destroy_other(sennit_poller *p)
{
	struct other_poller *o = container_of(p, struct other_poller, base);

	close(o->fd);
	free(o);
}

static int attach_other(void *unused)
{
	static const sennit_poller_ops ops = { .size = sizeof(ops),
					       .turn = take_nothing,
					       .peek = take_nothing,
					       .flush = take_nothing,
					       .sleep = sleep_until,
					       .wake = wake_other,
					       .destroy = destroy_other };
	struct other_poller           *o = calloc(1, sizeof(*o));

	(void)unused;
	must(o, "calloc");
	o->base.ops = &ops;
	o->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	must(o->fd >= 0, "eventfd");
	return sennit_poller_attach(&o->base);
}

/* Such a worker receives no signals, as it accepts no connections. */
TEST_WITH_SEVERAL(a_worker_may_have_the_poller_of_another_library)
{
	struct service x;

	(void)w;
	sennit_group_init(&x.g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn_task(
		&x.g, SENNIT_MEMBER(.run = attach_other,
				    .flags = SENNIT_MEMBER_ON_WORKER)));
	if (sennit_group_wait(&x.g)) /* it has ours already */
		skip();
	for (int i = 0; i < 20; i++) {
		start_server(&x, &usr1);
		sennit_sleep(SENNIT_MILLISECOND);
		kill(getpid(), SIGUSR1);
		assert_int_equal(await_server(&x), 0);
	}
}

/* --- descriptors ---------------------------------------------------------- */

/* As in limits.c. */
static void refuse_descriptors(struct rlimit *before)
{
	struct rlimit now;

	must(!getrlimit(RLIMIT_NOFILE, before), "getrlimit");
	now = *before;
	now.rlim_cur = 3;
	must(!setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
}

enum { WITHOUT_ROOM = 12 }; /* more than there are acceptors */

static void begin_sockets(int fds[WITHOUT_ROOM])
{
	for (int i = 0; i < WITHOUT_ROOM; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		must(fds[i] >= 0, "socket");
	}
}

static void connect_sockets(struct service *x, const int fds[WITHOUT_ROOM])
{
	struct sockaddr_storage a;
	socklen_t               size = sizeof(a);

	must(!getsockname(x->fd, (struct sockaddr *)&a, &size), "getsockname");
	for (int i = 0; i < WITHOUT_ROOM; i++)
		must(!connect(fds[i], (struct sockaddr *)&a, size), "connect");
}

TEST_WITH_WORKERS(it_serves_again_when_there_are_descriptors_again)
{
	struct rlimit  limit;
	struct service x;
	int            fds[WITHOUT_ROOM];
	char           byte;

	(void)w;
	if (under_emulator()) /* which needs descriptors itself */
		skip();
	start_server(&x, NULL);
	close(connect_and_ask(&x));
	begin_sockets(fds);
	refuse_descriptors(&limit);
	connect_sockets(&x, fds);
	EXPECT(sennit_recv(fds[WITHOUT_ROOM - 1], &byte, 1, 0, in_ms(25)) ==
	       -ETIMEDOUT);
	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	for (int i = 0; i < WITHOUT_ROOM; i++) {
		ask(fds[i]);
		close(fds[i]);
	}
	sennit_event_set(&x.stop);
	assert_int_equal(await_server(&x), 0);
}

TEST_WITH_WORKERS(it_stops_without_descriptors)
{
	struct rlimit  limit;
	struct service x;
	int            fds[WITHOUT_ROOM];

	(void)w;
	if (under_emulator())
		skip();
	listen_for(&x);
	x.options.stop = &x.stop;
	begin_server(&x);
	close(connect_and_ask(&x));
	begin_sockets(fds);
	refuse_descriptors(&limit);
	connect_sockets(&x, fds);
	sennit_event_set(&x.stop);
	for (int i = 0; i < WITHOUT_ROOM; i++) /* served or refused */
		EXPECT(!shutdown(fds[i], SHUT_WR) || errno == ENOTCONN);
	EXPECT(await_server(&x) == 0);
	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	for (int i = 0; i < WITHOUT_ROOM; i++)
		expect_end(fds[i]);
}

/* Room for the signalfd and for nothing else: workers get no pollers. */
TEST_WITH_THREADS(signals_wait_for_descriptors)
{
	struct rlimit  limit, now;
	struct service x;

	(void)w;
	if (under_emulator())
		skip();
	listen_for(&x);
	x.options.signals = &usr1;
	must(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	now = limit;
	now.rlim_cur = (rlim_t)x.fd + 2;
	must(!setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
	begin_server(&x);
	sennit_sleep(30 * SENNIT_MILLISECOND);
	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	EXPECT(!atomic_load(&x.over));
	close(connect_and_ask(&x));
	kill(getpid(), SIGUSR1);
	assert_int_equal(await_server(&x), 0);
}

/* --- errors at once ------------------------------------------------------- */

static void must_not_serve(void *unused, int fd)
{
	(void)unused;
	(void)fd;
	EXPECT(false);
}

static void must_not_stop(void *unused)
{
	(void)unused;
	EXPECT(false);
}

/* A descriptor is closed in each case. */
static void expect_refusal(int fd, const sennit_serve_options *options, int err)
{
	EXPECT(fd >= 0);
	EXPECT(sennit_serve(fd, must_not_serve, NULL, options) == err);
	EXPECT(fcntl(fd, F_GETFD) < 0);
}

TEST_WITH_WORKERS(what_cannot_be_served_is_refused)
{
	struct newer {
		sennit_serve_options known;
		uint64_t             unknown;
	} n = { .known = { .size = sizeof(n) }, .unknown = 1 };

	(void)w;
	expect_refusal(socket(AF_INET, SOCK_STREAM, 0), NULL, -EINVAL);
	expect_refusal(socket(AF_INET, SOCK_STREAM, 0),
		       SENNIT_SERVE_OPTIONS(.stopping = must_not_stop),
		       -EINVAL);
	expect_refusal(open("/dev/null", O_RDONLY), NULL, -ENOTSOCK);
	expect_refusal(sennit_listen_at("127.0.0.1:0", 0, 0),
		       SENNIT_SERVE_OPTIONS(.signals = &term), -EINVAL);
	expect_refusal(sennit_listen_at("127.0.0.1:0", 0, 0),
		       &(sennit_serve_options){ .size = 8 }, -EINVAL);
	expect_refusal(sennit_listen_at("127.0.0.1:0", 0, 0), &n.known, -E2BIG);
	assert_int_equal(sennit_serve(-EACCES, must_not_serve, NULL, NULL),
			 -EACCES);
	/* The next one is not disturbed by those. */
	{
		struct service x;

		start_server(&x, &usr1);
		close(connect_and_ask(&x));
		kill(getpid(), SIGUSR1);
		assert_int_equal(await_server(&x), 0);
	}
}

MISUSE_TEST(an_unbound_thread_does_not_serve, "sennit_serve")
{
	int fd = sennit_listen_at("127.0.0.1:0", 0, 0);

	sennit_thread_unbind();
	(void)!sennit_serve(fd, must_not_serve, NULL, NULL);
}

static int block_signals(void)
{
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	pthread_sigmask(SIG_BLOCK, &usr2, NULL);
	return 0;
}

BEFORE_ALL(block_signals);
USES_BACKEND;
