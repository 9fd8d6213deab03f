/* SPDX-License-Identifier: Apache-2.0 */
/* table_ends.h - descriptors of each kind, in each state of the other side.
 *
 *	struct ends e;
 *
 *	if (prepare(&e, &kinds[k], &states[s])) // false: there is no such state
 *		... calls on e.fd ...
 *	release(&e);
 *
 * Descriptors that are prepared in the same way behave in the same way: a step
 * returns when its effect is there, so no event comes later. Whether a kind has
 * a state is found out by the system calls that make it.
 */
#ifndef SN_TEST_TABLE_ENDS_H
#define SN_TEST_TABLE_ENDS_H

#include "operations.h"

#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>

/* A piece that is more than one byte and fits everywhere. */
enum { MANY = 1000 };

/* --- one descriptor ----------------------------------------------------- */

enum kind_is {
	KEEPS = 1,    /* a file: what is written stays, so sizes are limited */
	ENDLESS = 2,  /* has always more to read: the same */
	RANDOM = 4,   /* two reads differ */
	TERMINAL = 8, /* the kernel passes bytes on by a thread of its own */
	LINES = 16,   /* a read returns a line at most */
	TICKS = 32    /* time is a part of what is read */
};

struct kind;

struct ends {
	const struct kind      *kind;
	int                     fd;   /* on which calls are made */
	int                     peer; /* the other side, or -1 */
	struct sockaddr_storage name; /* where a message or a connect goes */
	socklen_t               name_size;
	long ahead;    /* bytes on the way to the peer, in front of a call's */
	bool drained;  /* the peer has taken some of them, or of a call's */
	bool loses;    /* bytes on the way may be lost */
	char path[64]; /* to be removed; "": nothing */
};

struct kind {
	const char *name;
	void (*open)(struct ends *e);
	/* Make `size` bytes readable; false: there is no such thing. NULL: the
	 * peer writes them. */
	bool (*give)(struct ends *e, size_t size);
	unsigned is;
};

/* --- bytes --------------------------------------------------------------- */

/* A piece of data in which each byte tells its place. */
static char pattern[1 << 16];

static int make_pattern(void)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (char)('a' + (i + i / 26) % 26);
	return 0;
}

static uint32_t hash_more(uint32_t hash, const void *bytes, size_t size)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ b[i]) * 16777619u;
	return hash;
}

/* False while a call waits on the descriptor: it may be faster than the one who
 * looks for the effect. */
static bool settles = true;

/* Wait for an effect that the kernel brings about by itself. */
#define SETTLED(claim)                                              \
	do {                                                        \
		for (int turn_ = 0; settles && !(claim); turn_++) { \
			must(turn_ < 100000, #claim);               \
			if (turn_ > 10)                             \
				usleep(100);                        \
		}                                                   \
	} while (0)

static int events_now(int fd)
{
	struct pollfd p = { .fd = fd,
			    .events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP };

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

/* Write without waiting. Returns whether all was written. */
static bool put(int fd, const void *bytes, size_t size)
{
	ssize_t n = send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK && events_now(fd) & POLLOUT)
		n = write(fd, bytes, size);
	return n == (ssize_t)size;
}

static int readable_bytes(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) ? -1 : n;
}

/* What is behind an urgent byte, too. */
static ssize_t peeked_bytes(int fd)
{
	char bytes[2 * MANY];

	return recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
}

static int type_of(int fd)
{
	int       type;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) ? -1 : type;
}

static int domain_of(int fd)
{
	int       domain;
	socklen_t size = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) ? -1
								     : domain;
}

static bool is_tcp(int fd)
{
	return domain_of(fd) == AF_INET && type_of(fd) == SOCK_STREAM;
}

/* Its sends never wait. */
static bool is_udp(int fd)
{
	return domain_of(fd) == AF_INET && type_of(fd) == SOCK_DGRAM;
}

static bool is_listener(int fd)
{
	int       on = 0;
	socklen_t size = sizeof(on);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) && on;
}

/* --- kinds: sockets ------------------------------------------------------ */

static void shrink_buffers(int fd)
{
	const int size = 4096;

	must(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) &&
		     !setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size,
				 sizeof(size)),
	     "setsockopt");
}

static struct sockaddr *name_at(struct ends *e)
{
	return (struct sockaddr *)&e->name;
}

static void name_inet(struct ends *e, int fd)
{
	e->name_size = sizeof(e->name);
	must(!getsockname(fd, name_at(e), &e->name_size), "getsockname");
}

static void bind_inet(int fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a)), "bind");
}

static int new_socket(int domain, int type)
{
	int fd = socket(domain, type | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	return fd;
}

static int new_listener(void)
{
	int fd = new_socket(AF_INET, SOCK_STREAM);

	shrink_buffers(fd);
	bind_inet(fd);
	must(!listen(fd, 128), "listen");
	return fd;
}

/* One listener for all connections, so that their ends are as like as can
 * be. */
static int common_listener(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = new_listener();
	return fd;
}

/* What the kernel moves on by itself later is little of what fd holds. */
static void open_tcp(struct ends *e)
{
	const int on = 1, size = 1 << 15;

	e->peer = new_socket(AF_INET, SOCK_STREAM);
	shrink_buffers(e->peer);
	name_inet(e, common_listener());
	must(!connect(e->peer, name_at(e), e->name_size), "connect");
	e->fd = accept4(common_listener(), NULL, NULL, SOCK_CLOEXEC);
	must(e->fd >= 0, "accept");
	must(!setsockopt(e->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) &&
		     !setsockopt(e->fd, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on)) &&
		     !setsockopt(e->peer, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on)),
	     "nodelay");
}

static void open_tcp_fresh(struct ends *e)
{
	e->fd = new_socket(AF_INET, SOCK_STREAM);
	name_inet(e, common_listener());
}

/* give: a client connects. */
static void open_tcp_listener(struct ends *e)
{
	e->fd = new_listener();
	name_inet(e, e->fd);
}

static bool give_client(struct ends *e, size_t size)
{
	if (size > 1 || e->peer >= 0)
		return false;
	e->peer = new_socket(domain_of(e->fd), type_of(e->fd));
	if (connect(e->peer, name_at(e), e->name_size))
		return false; /* the listener was shut down */
	SETTLED(events_now(e->fd) & POLLIN);
	return true;
}

static void open_udp(struct ends *e)
{
	struct ends own = { .fd = -1 };

	e->fd = new_socket(AF_INET, SOCK_DGRAM);
	e->peer = new_socket(AF_INET, SOCK_DGRAM);
	bind_inet(e->fd);
	bind_inet(e->peer);
	name_inet(e, e->peer);
	name_inet(&own, e->fd);
	must(!connect(e->fd, name_at(e), e->name_size) &&
		     !connect(e->peer, name_at(&own), own.name_size),
	     "connect");
}

static void open_udp_errors(struct ends *e)
{
	const int on = 1;

	open_udp(e);
	must(!setsockopt(e->fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)),
	     "recverr");
}

static void open_pair(struct ends *e, int type)
{
	int fds[2];

	must(!socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), "socketpair");
	e->fd = fds[0];
	e->peer = fds[1];
	shrink_buffers(e->fd);
	shrink_buffers(e->peer);
}

static void open_unix_stream(struct ends *e)
{
	open_pair(e, SOCK_STREAM);
}

static void open_unix_dgram(struct ends *e)
{
	open_pair(e, SOCK_DGRAM);
}

static void open_unix_packets(struct ends *e)
{
	open_pair(e, SOCK_SEQPACKET);
}

static void name_unix(struct ends *e)
{
	static unsigned     count;
	struct sockaddr_un *a = (struct sockaddr_un *)&e->name;

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	e->name_size =
		(socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
		(socklen_t)snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1,
				    "sennit-table-%d-%u", getpid(), count++);
}

/* fd is not connected to the peer, whose name it knows. */
static void open_unix_sender(struct ends *e)
{
	e->fd = new_socket(AF_UNIX, SOCK_DGRAM);
	e->peer = new_socket(AF_UNIX, SOCK_DGRAM);
	shrink_buffers(e->fd);
	name_unix(e);
	must(!bind(e->peer, name_at(e), e->name_size), "bind");
}

static bool give_nothing(struct ends *e, size_t size)
{
	(void)e;
	(void)size;
	return false;
}

static void open_unix_listener(struct ends *e)
{
	e->fd = new_socket(AF_UNIX, SOCK_STREAM);
	name_unix(e);
	must(!bind(e->fd, name_at(e), e->name_size) && !listen(e->fd, 8),
	     "listen");
}

/* fd may connect to the peer, a listener. */
static void open_unix_client(struct ends *e)
{
	e->fd = new_socket(AF_UNIX, SOCK_STREAM);
	e->peer = new_socket(AF_UNIX, SOCK_STREAM);
	name_unix(e);
	must(!bind(e->peer, name_at(e), e->name_size) && !listen(e->peer, 0),
	     "listen");
}

/* --- kinds: pipes and terminals ------------------------------------------ */

static void open_pipe_reader(struct ends *e)
{
	int fds[2];

	begin_pipe(fds);
	e->fd = fds[0];
	e->peer = fds[1];
}

static void open_pipe_writer(struct ends *e)
{
	int fds[2];

	begin_pipe(fds);
	e->fd = fds[1];
	e->peer = fds[0];
}

static void in_new_place(struct ends *e)
{
	static unsigned count;

	snprintf(e->path, sizeof(e->path), "/tmp/sennit-table-%d-%u", getpid(),
		 count++);
}

/* Opens a named pipe for `mode`, and its other end. */
static void open_fifo_for(struct ends *e, int mode)
{
	int both;

	in_new_place(e);
	must(!mkfifo(e->path, 0600), "mkfifo");
	both = open(e->path, O_RDWR | O_CLOEXEC);
	e->fd = open(e->path, mode | O_CLOEXEC);
	if (mode != O_RDWR)
		e->peer = open(e->path,
			       (mode == O_RDONLY ? O_WRONLY : O_RDONLY) |
				       O_CLOEXEC);
	must(both >= 0 && e->fd >= 0, "open a fifo");
	close(both);
}

static void open_fifo_reader(struct ends *e)
{
	open_fifo_for(e, O_RDONLY);
}

static void open_fifo_writer(struct ends *e)
{
	open_fifo_for(e, O_WRONLY);
}

static void open_fifo_both(struct ends *e)
{
	open_fifo_for(e, O_RDWR);
}

static bool give_self(struct ends *e, size_t size)
{
	return put(e->fd, pattern, size);
}

static void open_terminal(struct ends *e)
{
	char name[64];

	e->peer = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(e->peer >= 0 && !grantpt(e->peer) && !unlockpt(e->peer) &&
		     !ptsname_r(e->peer, name, sizeof(name)),
	     "openpt");
	e->fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(e->fd >= 0, "open");
}

static void set_terminal(int fd, bool lines)
{
	struct termios t;

	must(!tcgetattr(fd, &t), "tcgetattr");
	cfmakeraw(&t);
	if (lines)
		t.c_lflag |= ICANON;
	must(!tcsetattr(fd, TCSANOW, &t), "tcsetattr");
}

static void open_raw_terminal(struct ends *e)
{
	open_terminal(e);
	set_terminal(e->fd, false);
}

static void open_line_terminal(struct ends *e)
{
	open_terminal(e);
	set_terminal(e->fd, true);
}

static bool give_line(struct ends *e, size_t size)
{
	must(write(e->peer, pattern, size) == (ssize_t)size &&
		     write(e->peer, "\n", 1) == 1,
	     "write a line");
	SETTLED(readable_bytes(e->fd) > (int)size);
	return true;
}

static void open_master(struct ends *e)
{
	int slave;

	open_raw_terminal(e);
	slave = e->fd;
	e->fd = e->peer;
	e->peer = slave;
}

/* --- kinds: files -------------------------------------------------------- */

static void open_file_for(struct ends *e, int flags)
{
	int fd;

	in_new_place(e);
	fd = open(e->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, pattern, 2 * MANY) == 2 * MANY, "write");
	close(fd);
	e->fd = open(e->path, flags | O_CLOEXEC);
	must(e->fd >= 0, "open a file");
}

static void open_file(struct ends *e)
{
	open_file_for(e, O_RDWR);
}

static void open_file_to_append(struct ends *e)
{
	open_file_for(e, O_RDWR | O_APPEND);
}

static void open_file_reader(struct ends *e)
{
	open_file_for(e, O_RDONLY);
}

static void open_file_writer(struct ends *e)
{
	open_file_for(e, O_WRONLY);
}

static void open_file_path(struct ends *e)
{
	open_file_for(e, O_PATH);
}

static void open_direct_file(struct ends *e)
{
	open_file_for(e, O_RDWR);
	(void)!fcntl(e->fd, F_SETFL, O_DIRECT); /* not every file system */
}

static void open_memory(struct ends *e)
{
	e->fd = memfd_create("table", MFD_CLOEXEC);
	must(write(e->fd, pattern, 2 * MANY) == 2 * MANY &&
		     !lseek(e->fd, 0, SEEK_SET),
	     "memfd");
}

static void open_named_file(struct ends *e, const char *path, int flags)
{
	e->fd = open(path, flags | O_CLOEXEC);
	must(e->fd >= 0, path);
}

static void open_folder(struct ends *e)
{
	open_named_file(e, "/tmp", O_RDONLY | O_DIRECTORY);
}

static void open_mounts(struct ends *e)
{
	open_named_file(e, "/proc/self/mounts", O_RDONLY);
}

static void open_version(struct ends *e)
{
	open_named_file(e, "/proc/version", O_RDONLY);
}

static void open_cpus(struct ends *e)
{
	open_named_file(e, "/sys/devices/system/cpu/online", O_RDONLY);
}

static void open_null(struct ends *e)
{
	open_named_file(e, "/dev/null", O_RDWR);
}

static void open_zero(struct ends *e)
{
	open_named_file(e, "/dev/zero", O_RDWR);
}

static void open_full(struct ends *e)
{
	open_named_file(e, "/dev/full", O_RDWR);
}

static void open_urandom(struct ends *e)
{
	open_named_file(e, "/dev/urandom", O_RDWR);
}

static void open_random(struct ends *e)
{
	open_named_file(e, "/dev/random", O_RDWR);
}

static void open_no_file(struct ends *e)
{
	e->fd = fcntl(common_listener(), F_DUPFD_CLOEXEC, 1000);
	must(e->fd >= 0, "dup");
	close(e->fd);
}

static void open_negative(struct ends *e)
{
	e->fd = -1;
}

/* --- kinds: events ------------------------------------------------------- */

static void open_counter(struct ends *e)
{
	e->fd = eventfd(0, EFD_CLOEXEC);
}

static void open_semaphore(struct ends *e)
{
	e->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
}

static bool give_count(struct ends *e, size_t size)
{
	const uint64_t count = size;

	return put(e->fd, &count, sizeof(count));
}

static void open_timer(struct ends *e)
{
	e->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
}

static bool give_time(struct ends *e, size_t size)
{
	const struct itimerspec soon = { .it_value.tv_nsec = 1 };

	if (size > 1 || timerfd_settime(e->fd, 0, &soon, NULL))
		return false;
	SETTLED(events_now(e->fd) & POLLIN);
	return true;
}

/* The signals of signalfds: the rest of this file's process never gets them,
 * because every thread blocks them. */
static void table_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGRTMIN + 5);
}

static void open_signals(struct ends *e)
{
	sigset_t set;

	table_signals(&set);
	e->fd = signalfd(-1, &set, SFD_CLOEXEC);
}

static bool give_signal(struct ends *e, size_t size)
{
	(void)e;
	return size == 1 && !kill(getpid(), SIGRTMIN + 5);
}

static void open_watch(struct ends *e)
{
	in_new_place(e);
	e->peer = open(e->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	e->fd = inotify_init1(IN_CLOEXEC);
	must(e->peer >= 0 && e->fd >= 0 &&
		     inotify_add_watch(e->fd, e->path, IN_MODIFY) > 0,
	     "inotify");
}

static bool give_change(struct ends *e, size_t size)
{
	return size == 1 && write(e->peer, "x", 1) == 1;
}

static void open_self(struct ends *e)
{
	e->fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
}

static void open_events(struct ends *e)
{
	struct epoll_event event = { .events = EPOLLIN };
	int                fds[2];

	begin_pipe(fds);
	e->peer = fds[1];
	e->fd = epoll_create1(EPOLL_CLOEXEC);
	must(!epoll_ctl(e->fd, EPOLL_CTL_ADD, fds[0], &event), "epoll_ctl");
	/* A copy keeps the pipe's reader open, and known to the epoll
	 * descriptor. It is closed with the peer: see release(). */
	e->ahead = fds[0];
}

static bool give_event(struct ends *e, size_t size)
{
	return size == 1 && write(e->peer, "x", 1) == 1;
}

static const struct kind kinds[] = {
	{ "tcp", open_tcp, NULL, 0 },
	{ "a fresh tcp socket", open_tcp_fresh, give_nothing, 0 },
	{ "a tcp listener", open_tcp_listener, give_client, 0 },
	{ "udp", open_udp, NULL, 0 },
	{ "udp with errors", open_udp_errors, NULL, 0 },
	{ "unix stream", open_unix_stream, NULL, 0 },
	{ "unix datagrams", open_unix_dgram, NULL, 0 },
	{ "an unconnected unix sender", open_unix_sender, give_nothing, 0 },
	{ "unix packets", open_unix_packets, NULL, 0 },
	{ "a unix listener", open_unix_listener, give_client, 0 },
	{ "a unix client", open_unix_client, give_nothing, 0 },
	{ "a pipe's reader", open_pipe_reader, NULL, 0 },
	{ "a pipe's writer", open_pipe_writer, give_nothing, 0 },
	{ "a fifo's reader", open_fifo_reader, NULL, 0 },
	{ "a fifo's writer", open_fifo_writer, give_nothing, 0 },
	{ "a fifo", open_fifo_both, give_self, 0 },
	{ "a raw terminal", open_raw_terminal, NULL, TERMINAL },
	{ "a terminal of lines", open_line_terminal, give_line,
	  TERMINAL | LINES },
	{ "a terminal's master", open_master, NULL, TERMINAL },
	{ "a file", open_file, give_nothing, KEEPS },
	{ "a file to append", open_file_to_append, give_nothing, KEEPS },
	{ "a file's reader", open_file_reader, give_nothing, KEEPS },
	{ "a file's writer", open_file_writer, give_nothing, KEEPS },
	{ "a file's path", open_file_path, give_nothing, KEEPS },
	{ "a direct file", open_direct_file, give_nothing, KEEPS },
	{ "a file in memory", open_memory, give_nothing, KEEPS },
	{ "a folder", open_folder, give_nothing, KEEPS },
	{ "/proc/self/mounts", open_mounts, give_nothing, 0 },
	{ "/proc/version", open_version, give_nothing, 0 },
	{ "a file of /sys", open_cpus, give_nothing, 0 },
	{ "/dev/null", open_null, give_nothing, 0 },
	{ "/dev/zero", open_zero, give_nothing, ENDLESS },
	{ "/dev/full", open_full, give_nothing, ENDLESS },
	{ "/dev/urandom", open_urandom, give_nothing, ENDLESS | RANDOM },
	{ "/dev/random", open_random, give_nothing, ENDLESS | RANDOM },
	{ "a closed number", open_no_file, give_nothing, 0 },
	{ "-1", open_negative, give_nothing, 0 },
	{ "an eventfd", open_counter, give_count, 0 },
	{ "an eventfd semaphore", open_semaphore, give_count, 0 },
	{ "a timerfd", open_timer, give_time, TICKS },
	{ "a signalfd", open_signals, give_signal, 0 },
	{ "an inotify", open_watch, give_change, 0 },
	{ "a pidfd", open_self, give_nothing, 0 },
	{ "an epoll", open_events, give_event, 0 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- steps to a state ---------------------------------------------------- */

/* Each returns false if the kind has no such state. */

static bool give_by_peer(struct ends *e, size_t size)
{
	int before = readable_bytes(e->fd);

	if (e->peer < 0 || !put(e->peer, pattern, size))
		return false;
	if (events_now(e->fd) & POLLPRI)
		SETTLED(peeked_bytes(e->fd) >= (ssize_t)size);
	else if (is_tcp(e->fd) || e->kind->is & TERMINAL)
		SETTLED(readable_bytes(e->fd) >= before + (int)size);
	else
		SETTLED(events_now(e->fd) & POLLIN);
	return true;
}

static bool give_bytes(struct ends *e, size_t size)
{
	return e->kind->give ? e->kind->give(e, size) : give_by_peer(e, size);
}

static bool give_one(struct ends *e)
{
	return give_bytes(e, 1);
}

static bool give_many(struct ends *e)
{
	return give_bytes(e, MANY);
}

/* Send what fits. Returns the number of bytes. */
static size_t fill_once(struct ends *e, size_t size)
{
	const bool named = e->kind->open == open_unix_sender;
	size_t     total = 0;
	ssize_t    n;

	do {
		n = named ? sendto(e->fd, pattern, size, MSG_DONTWAIT,
				   name_at(e), e->name_size)
			  : write(e->fd, pattern, size);
		total += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return total;
}

/* Have the peer acknowledge what it has, which it would otherwise do later. */
static void acknowledge(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

/* Whether bytes are on their way to the reader of a terminal, which has room
 * for as many as this. */
static bool is_moving(const struct ends *e)
{
	return e->kind->is & TERMINAL && readable_bytes(e->peer) < 4095;
}

/* Several times, where the system moves bytes on by itself. */
static bool fill_up(struct ends *e)
{
	const int flags = fcntl(e->fd, F_GETFL);
	size_t    n;
	bool      again;

	if (e->peer < 0 || e->kind->open == open_watch ||
	    e->kind->open == open_events || is_listener(e->fd) || is_udp(e->fd))
		return false;
	must(!fcntl(e->fd, F_SETFL, flags | O_NONBLOCK), "fcntl");
	do {
		const bool moves = is_moving(e);

		n = fill_once(e, MANY) + fill_once(e, 1);
		e->ahead += (long)n;
		acknowledge(e->peer);
		if (moves)
			usleep(200);
		again = n || moves;
	} while (again);
	must(!fcntl(e->fd, F_SETFL, flags), "fcntl");
	return e->ahead > 0;
}

/* No count is left in an eventfd, and no room in a listener's queue. */
static bool fill_counter(struct ends *e)
{
	const uint64_t most = UINT64_MAX - 1;

	return e->kind->give == give_count &&
	       write(e->fd, &most, sizeof(most)) == sizeof(most);
}

static bool fill_backlog(struct ends *e)
{
	int fd;

	if (e->kind->open != open_unix_client)
		return false;
	do
		fd = new_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
	while (!connect(fd, name_at(e), e->name_size));
	must(errno == EAGAIN, "connect");
	close(fd); /* the listener keeps the other ones */
	return true;
}

static bool seen_end(const struct ends *e)
{
	return events_now(e->fd) & (POLLRDHUP | POLLHUP | POLLERR | POLLIN);
}

static void await_end(const struct ends *e)
{
	if (is_tcp(e->fd) && !is_listener(e->fd))
		SETTLED(events_now(e->fd) & (POLLRDHUP | POLLHUP | POLLERR));
	else if (e->kind->is & TERMINAL)
		SETTLED(seen_end(e));
}

static bool half_close(struct ends *e)
{
	if (e->peer < 0 || is_listener(e->peer) || shutdown(e->peer, SHUT_WR))
		return false;
	await_end(e);
	return true;
}

/* The peer reads no more. */
static bool turn_away(struct ends *e)
{
	e->loses = true;
	return e->peer >= 0 && !is_listener(e->peer) &&
	       !shutdown(e->peer, SHUT_RD);
}

static bool close_peer(struct ends *e)
{
	if (e->peer < 0 || e->kind->open == open_watch ||
	    e->kind->open == open_events)
		return false;
	close(e->peer);
	e->peer = -1;
	e->loses = true;
	await_end(e);
	return true;
}

static bool reset_peer(struct ends *e)
{
	const struct linger now = { .l_onoff = 1 };

	if (e->peer < 0 || !is_tcp(e->peer) ||
	    setsockopt(e->peer, SOL_SOCKET, SO_LINGER, &now, sizeof(now)))
		return false;
	return close_peer(e);
}

static bool shut_receiving(struct ends *e)
{
	int result = shutdown(e->fd, SHUT_RD);

	return !result || (errno == ENOTCONN && is_listener(e->fd));
}

/* Whether the peer has not acknowledged the end yet. That would be an event,
 * and end a receive of no bytes that waits in the system. */
static bool is_ending(int fd)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t       size = sizeof(info);

	return is_tcp(fd) &&
	       !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) &&
	       (info.tcpi_state == TCP_FIN_WAIT1 ||
		info.tcpi_state == TCP_CLOSING ||
		info.tcpi_state == TCP_LAST_ACK);
}

static bool shut_off(struct ends *e, int how)
{
	if (shutdown(e->fd, how))
		return false;
	SETTLED(!is_ending(e->fd));
	return true;
}

static bool shut_sending(struct ends *e)
{
	return shut_off(e, SHUT_WR);
}

static bool shut_both(struct ends *e)
{
	return shut_off(e, SHUT_RDWR);
}

/* The peer has something unread, so its close is a reset. */
static bool put_one(struct ends *e)
{
	if (e->peer < 0 || !is_tcp(e->fd) || write(e->fd, "x", 1) != 1)
		return false;
	e->ahead++;
	SETTLED(readable_bytes(e->peer) > 0);
	return true;
}

static bool give_urgent(struct ends *e)
{
	if (e->peer < 0 || is_listener(e->fd) ||
	    send(e->peer, "!", 1, MSG_OOB) != 1)
		return false;
	SETTLED(events_now(e->fd) & POLLPRI);
	return true;
}

/* An error is in the socket's queue, and none is pending. */
static bool queue_error(struct ends *e)
{
	struct pollfd p = { .fd = e->fd };
	int           err;
	socklen_t     size = sizeof(err);

	if (e->kind->open != open_udp_errors || !close_peer(e))
		return false;
	must(write(e->fd, "x", 1) == 1, "write");
	must(poll(&p, 1, 10000) == 1 && p.revents == POLLERR, "no error");
	must(!getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &err, &size), "error");
	return true;
}

/* An error is pending: a datagram was refused. */
static bool pend_error(struct ends *e)
{
	struct pollfd p = { .fd = e->fd };

	if (e->peer < 0 || !is_udp(e->fd) || !close_peer(e))
		return false;
	must(write(e->fd, "x", 1) == 1, "write");
	must(poll(&p, 1, 10000) == 1 && p.revents == POLLERR, "no error");
	return true;
}

/* A byte with a descriptor. */
static bool give_descriptor(struct ends *e)
{
	char            room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec    v = { pattern, 1 };
	struct msghdr   m = { .msg_iov = &v,
			      .msg_iovlen = 1,
			      .msg_control = room,
			      .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (e->peer < 0 || domain_of(e->peer) != AF_UNIX)
		return false;
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &e->peer, sizeof(int));
	return sendmsg(e->peer, &m, 0) == 1;
}

/* An empty datagram. */
static bool give_empty(struct ends *e)
{
	int type = e->peer < 0 ? -1 : type_of(e->peer);

	return (type == SOCK_DGRAM || type == SOCK_SEQPACKET) &&
	       !send(e->peer, "", 0, 0);
}

static bool stop_output(struct ends *e)
{
	return e->kind->is & TERMINAL && e->kind->open != open_master &&
	       !tcflow(e->fd, TCOOFF);
}

static bool move_to_end(struct ends *e)
{
	return e->kind->is & KEEPS && lseek(e->fd, 0, SEEK_END) > 0;
}

static bool move_on(struct ends *e)
{
	return e->kind->is & KEEPS && lseek(e->fd, 7, SEEK_SET) == 7;
}

static bool move_far(struct ends *e)
{
	return e->kind->is & KEEPS &&
	       lseek(e->fd, (off_t)5 << 32, SEEK_SET) > 0;
}

/* Connections end by a reset, or their ports would soon be used up. */
static void close_end(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)!sennit_close(fd); /* the library knows numbers, not files */
}

/* --- changes ------------------------------------------------------------- */

/* All that fd has sent goes to the peer, and there is room. */
static bool drain_peer(struct ends *e)
{
	static char bytes[1 << 16];
	int         sent = 0;

	if (e->peer < 0 || e->kind->give == give_nothing ||
	    is_listener(e->fd) || is_listener(e->peer))
		return false;
	e->drained = true;
	set_nonblock(e->peer, true);
	for (int turn = 0; turn < 1000; turn++) {
		ssize_t n = read(e->peer, bytes, sizeof(bytes));

		e->ahead -= n > 0 ? (long)n : 0;
		if (n <= 0 &&
		    (!is_tcp(e->fd) || ioctl(e->fd, SIOCOUTQ, &sent) || !sent))
			break;
	}
	return true;
}

static bool drain_counter(struct ends *e)
{
	uint64_t count;

	return e->kind->give == give_count && events_now(e->fd) & POLLIN &&
	       read(e->fd, &count, sizeof(count)) == sizeof(count);
}

static bool accept_all(struct ends *e)
{
	int fd;

	if (e->peer < 0 || !is_listener(e->peer))
		return false;
	set_nonblock(e->peer, true);
	while ((fd = accept(e->peer, NULL, NULL)) >= 0)
		close_end(fd);
	return true;
}

static bool continue_output(struct ends *e)
{
	return e->kind->is & TERMINAL && e->kind->open != open_master &&
	       !tcflow(e->fd, TCOON);
}

/* --- states -------------------------------------------------------------- */

typedef bool step_fn(struct ends *e);

static const struct state {
	const char *name;
	step_fn    *steps[3];
} states[] = {
	{ "idle", { NULL } },
	{ "a byte", { give_one } },
	{ "many bytes", { give_many } },
	{ "two pieces", { give_many, give_one } },
	{ "an empty piece", { give_empty } },
	{ "an empty piece and a byte", { give_empty, give_one } },
	{ "full", { fill_up } },
	{ "a byte, full", { give_one, fill_up } },
	{ "a full counter", { fill_counter } },
	{ "a full queue", { fill_backlog } },
	{ "half-closed", { half_close } },
	{ "a byte, half-closed", { give_one, half_close } },
	{ "many bytes, half-closed", { give_many, half_close } },
	{ "full, half-closed", { fill_up, half_close } },
	{ "turned away", { turn_away } },
	{ "full, turned away", { fill_up, turn_away } },
	{ "closed", { close_peer } },
	{ "a byte, closed", { give_one, close_peer } },
	{ "full, closed", { fill_up, close_peer } },
	{ "half-closed, closed", { half_close, close_peer } },
	{ "unread, closed", { put_one, close_peer } },
	{ "a byte, unread, closed", { give_one, put_one, close_peer } },
	{ "reset", { reset_peer } },
	{ "a byte, reset", { give_one, reset_peer } },
	{ "full, reset", { fill_up, reset_peer } },
	{ "shut to read", { shut_receiving } },
	{ "a byte, shut to read", { give_one, shut_receiving } },
	{ "shut to write", { shut_sending } },
	{ "a byte, shut to write", { give_one, shut_sending } },
	{ "shut", { shut_both } },
	{ "a byte, shut", { give_one, shut_both } },
	{ "shut to write, half-closed", { shut_sending, half_close } },
	{ "urgent", { give_urgent } },
	{ "a byte, urgent", { give_one, give_urgent } },
	{ "urgent, a byte", { give_urgent, give_one } },
	{ "an error queued", { queue_error } },
	{ "an error pending", { pend_error } },
	{ "a byte, an error pending", { give_one, pend_error } },
	{ "a descriptor", { give_descriptor } },
	{ "a byte, a descriptor", { give_one, give_descriptor } },
	{ "stopped", { stop_output } },
	{ "a byte, stopped", { give_one, stop_output } },
	{ "at 7", { move_on } },
	{ "at its end", { move_to_end } },
	{ "beyond its end", { move_far } },
};

#define STATES (sizeof(states) / sizeof(states[0]))

/* What the other side does while a call waits. */
static const struct change {
	const char *name;
	step_fn    *make;
} changes[] = {
	{ "then a byte", give_one },
	{ "then many bytes", give_many },
	{ "then an urgent byte", give_urgent },
	{ "then an empty piece", give_empty },
	{ "then a descriptor", give_descriptor },
	{ "then drained", drain_peer },
	{ "then a counter drained", drain_counter },
	{ "then all accepted", accept_all },
	{ "then continued", continue_output },
	{ "then half-closed", half_close },
	{ "then turned away", turn_away },
	{ "then closed", close_peer },
	{ "then reset", reset_peer },
	{ "then shut to read", shut_receiving },
	{ "then shut to write", shut_sending },
	{ "then shut", shut_both },
};

#define CHANGES (sizeof(changes) / sizeof(changes[0]))

static void close_events(struct ends *e)
{
	if (e->kind->open == open_events)
		close((int)e->ahead);
}

static void take_signals(const struct ends *e)
{
	struct signalfd_siginfo info;

	if (e->kind->open != open_signals)
		return;
	set_nonblock(e->fd, true);
	while (read(e->fd, &info, sizeof(info)) > 0)
		;
}

static void release(struct ends *e)
{
	close_events(e);
	take_signals(e);
	if (e->kind->open != open_no_file)
		close_end(e->fd);
	close_end(e->peer);
	if (*e->path)
		unlink(e->path);
}

/* Returns false if there is no such state. */
static bool prepare(struct ends *e, const struct kind *k, const struct state *s)
{
	*e = (struct ends){ .kind = k, .fd = -1, .peer = -1 };
	k->open(e);
	for (int i = 0; i < 3 && s->steps[i]; i++)
		if (!s->steps[i](e)) {
			release(e);
			return false;
		}
	return true;
}

#endif
