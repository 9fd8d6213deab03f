/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - the simulated network of deterministic builds, and what the calls
 * of io.h and net.h do in it. Each is tried; where it would wait, the fiber
 * waits and it is tried again. Files are read and written in place.
 */
#ifndef SN_NETWORK_H
#define SN_NETWORK_H

#include "base/atomic.h"
#include "io/engine/request.h"
#include "sennit/base.h"
#include "sennit/poller.h"
#include "sennit/simulation.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* --- simulated poller ----------------------------------------------------- */

/* The backend of the deterministic build: a worker sleeps until something
 * arrives in the simulated network, in virtual time.
 *
 * The deterministic build has this one alone, and an ordinary one lacks it.
 */

#ifdef SENNIT_DETERMINISTIC

#define IO_SIMULATED true

/* The turn of such a poller, by which it is known. */
void sn_simulated_turn(sennit_poller *p);

/* Makes one. 0 or a negative errno. */
int sn_simulated_poller_make(struct io_backend     **out,
			     const sennit_allocator *memory);

#else

#define IO_SIMULATED      false
#define sn_simulated_turn ((void (*)(sennit_poller *))NULL)

static inline int sn_simulated_poller_make(struct io_backend     **out,
					   const sennit_allocator *memory)
{
	(void)out;
	(void)memory;
	return -ENOSYS;
}

#endif

/* --- simulated calls ------------------------------------------------------ */

/* Called only where IO_SIMULATED: an ordinary build drops the calls, and has no
 * such functions. */

/* Wait until one of the descriptors has one of its events; b: of the calling
 * fiber's worker, NULL: as a thread; `select`: the wait is its. Returns 0,
 * -ETIMEDOUT or -ECANCELED, the latter also when one of them is closed; by a
 * plain close() only if it is not one of `several`. May return 0 though nothing
 * is there. */
int sn_simulated_wait(struct io_backend *b, const struct pollfd *fds,
		      size_t count, bool several, sennit_selection *select,
		      sennit_time deadline);

/* As sn_io_do. */
ptrdiff_t sn_simulated_do(struct io_backend *b, const struct io_request *r,
			  sennit_time deadline);

/* The same without waiting: -EAGAIN. */
ptrdiff_t sn_simulated_try(const struct io_request *r);

/* As sn_io_do_blocking: what waits for a disc holds up the run, and changes
 * nothing in it. */
ptrdiff_t sn_simulated_do_in_place(const struct io_request *r);

/* As sendfile(), from a file to a socket. */
ptrdiff_t sn_simulated_sendfile(int to, int from, off_t *at, size_t size,
				sennit_time deadline);

/* As poll() without a wait: how many have events, or a negative errno. */
int sn_simulated_look(struct pollfd *fds, size_t count);

/* As poll(): how many have events. */
int sn_simulated_poll(struct pollfd *fds, size_t count, sennit_time deadline);

int sn_simulated_shutdown(int fd, int how);
int sn_simulated_close(int fd);

/* --- simulated choices ---------------------------------------------------- */

/* What the simulated network leaves to the seed, how it is configured, and what
 * it has done.
 *
 * One lock guards all of the network. No thread comes to a point while it holds
 * the lock, so each step of the network is one step of the run.
 */

#ifdef SENNIT_DETERMINISTIC

/* Reads and writes of what follows, and of all other simulated_ modules. */
void sn_simulated_lock(void);
void sn_simulated_unlock(void);

/* What is configured, with the defaults filled in. */
const sennit_simulation_config *sn_simulated_config(void);

/* 0 or -EINVAL. Forgets what has been noted. */
int sn_simulated_configure(const sennit_simulation_config *config);

/* With a chance of so many in a million. */
bool sn_simulated_happens(uint32_t in_a_million);

/* When something arrives that is sent now. */
sennit_time sn_simulated_arrival(void);

/* How much of this is transferred: mostly all, at least 1. */
uint32_t sn_simulated_part(uint32_t all);

/* Something has happened at an end (0: none). Changes the digest, and is
 * printed if the environment says so. */
void sn_simulated_note(const char *what, uint32_t end, uint64_t number);

uint64_t sn_simulated_digest(void);

#endif

/* --- simulated stream ----------------------------------------------------- */

/* Bytes on their way to one end of a connection, and those that have arrived
 * and are not yet received.
 *
 *	put --delay, in pieces--> arrived --drop--> received
 *	end    after all that was put; then nothing may be put
 *	reset  at any time: what has not arrived by then is lost
 *
 * Pieces arrive in the order in which they were put. All times are virtual.
 */

/* Pieces on their way; when there are more, the last grows. */
#define SIMULATED_PIECES 32u

struct simulated_stream {
	char    *bytes;    /* a ring of `capacity`: arrived, on their way */
	uint32_t capacity; /* 0: not connected */
	uint32_t first;    /* the oldest byte */
	uint32_t held;     /* how many there are */
	uint32_t arrived;  /* how many of them have arrived */
	struct {
		sennit_time due;
		uint32_t    size;
	} pieces[SIMULATED_PIECES];
	uint32_t    piece, pieces_held; /* the oldest piece, how many */
	sennit_time last;               /* nothing arrives before this */
	sennit_time end, reset;         /* when they arrive; SENNIT_NEVER */
	bool        ended, was_reset;   /* they have arrived */
};

/* 0 or -ENOMEM. */
int  sn_simulated_stream_open(struct simulated_stream *s, uint32_t capacity);
void sn_simulated_stream_close(struct simulated_stream *s);

/* What is due by now arrives. Returns whether that was a reset. */
bool sn_simulated_stream_look(struct simulated_stream *s, sennit_time now);

/* When the next thing arrives that has not; SENNIT_NEVER: nothing is on its
 * way. */
sennit_time sn_simulated_stream_next(const struct simulated_stream *s);

/* Append bytes, for which there is room; and let the last `size` bytes that
 * were appended go on their way, `late` behind time. */
void sn_simulated_stream_put(struct simulated_stream *s, const char *bytes,
			     uint32_t size);
void sn_simulated_stream_send(struct simulated_stream *s, uint32_t size,
			      sennit_time late);

/* Copy `size` bytes that have arrived, from the byte `at`. */
void sn_simulated_stream_copy(const struct simulated_stream *s, uint32_t at,
			      char *to, uint32_t size);
void sn_simulated_stream_drop(struct simulated_stream *s, uint32_t size);

void sn_simulated_stream_end(struct simulated_stream *s);
void sn_simulated_stream_reset(struct simulated_stream *s, sennit_time when);

/* --- simulated waits ------------------------------------------------------ */

/* The calls that wait on the simulated network, each in its caller's frame.
 *
 * A fiber's wait belongs to its worker's poller, which completes it. A thread's
 * wait is its own. Whoever changes what a descriptor is waited for touches it:
 * then each waiter's word is set, and who sleeps on it looks again. What
 * changes as time passes needs no touch: who sleeps knows when it is.
 */

#ifdef SENNIT_DETERMINISTIC

struct simulated_wait {
	sennit_poller_op       op; /* of a fiber */
	struct simulated_wait *next, **pprev;
	const struct pollfd   *fds;
	size_t                 count;
	sennit_poller         *poller; /* NULL: a thread waits */
	a_u32                 *word;   /* what the waiter sleeps on */
	bool                   linked;
	bool                   several; /* does not notice a plain close() */
	bool                   closed;  /* what it is on: it has ended */
};

/* All of them, the oldest last. Under the network's lock, as is all here. */
struct simulated_wait *sn_simulated_waits(void);

void sn_simulated_wait_link(struct simulated_wait *w);
void sn_simulated_wait_unlink(struct simulated_wait *w);

bool sn_simulated_wait_has(const struct simulated_wait *w, int fd);

/* What fd is waited for has changed. */
void sn_simulated_touch(int fd);

/* fd is about to be closed: its waits end. */
void sn_simulated_end_waits(int fd);

#endif

/* --- simulated ends ------------------------------------------------------- */

/* The sockets of the simulated network: listeners, and the two ends of each
 * connection.
 *
 *	fresh --connect--> connecting --delay--> connected
 *	                   refused    --delay--> fresh, -ECONNREFUSED
 *	listener: queued --delay, accept--> connected
 *
 * An end stands for a socket of the kernel's that is not connected there. It
 * gives the number, the address and the options; the table is by number. An end
 * whose number means another file by now was closed by close().
 *
 * An end lives until its peer is closed too: what it has sent is still on its
 * way.
 */

#ifdef SENNIT_DETERMINISTIC

enum simulated_state {
	SIMULATED_FRESH = 0,
	SIMULATED_CONNECTING,
	SIMULATED_REFUSED,
	SIMULATED_CONNECTED
};

/* Under the network's lock. */
struct simulated_end {
	uint32_t                id; /* in the order in which they came */
	int                     fd; /* -1: not accepted yet, or closed */
	dev_t                   device;
	ino_t                   inode;
	enum simulated_state    state;
	int                     error;    /* that a reset has left; 0: none */
	bool                    shut_out; /* nothing more is sent */
	bool                    shut_in;  /* nothing more is received */
	bool                    closed;
	sennit_time             ready; /* connecting, refused: when the connect
				      * ends; queued: when it may be accepted */
	struct simulated_end   *peer;  /* NULL: not connected */
	struct simulated_end   *queue; /* of a listener */
	struct simulated_end   *next;  /* in such a queue */
	struct simulated_stream in;
};

/* The end that fd stands for, adopted if it is not known. NULL: *err becomes
 * -EBADF, -ENOMEM, or -EOPNOTSUPP for what is no stream socket, or one that is
 * connected in the kernel. */
struct simulated_end *sn_simulated_find(int fd, int *err);

/* The same, NULL if it is not known. */
struct simulated_end *sn_simulated_known(int fd);

/* Another end for fd. NULL: no memory. */
struct simulated_end *sn_simulated_new_end(void);

/* e's number is fd from now on. 0 or a negative errno. */
int sn_simulated_enter(struct simulated_end *e, int fd);

/* Two ends that are connected. 0 or -ENOMEM. */
int sn_simulated_join(struct simulated_end *a, struct simulated_end *b);

/* e is closed: its peer sees the end, or a reset if e has not received all. */
void sn_simulated_close_end(struct simulated_end *e);

/* Both ends of e's connection get a reset, each after a delay of its own. */
void sn_simulated_reset_both(struct simulated_end *e);

/* What is due at e by now arrives. */
void sn_simulated_deliver(struct simulated_end *e);

/* The events of poll() at e; and when they may change by themselves. */
short       sn_simulated_events(struct simulated_end *e);
sennit_time sn_simulated_next(const struct simulated_end *e);

bool sn_simulated_is_listening(int fd);

/* Close the ends whose descriptors were closed by close(). */
void sn_simulated_sweep(void);

/* Forget all ends. */
void sn_simulated_forget_all(void);

#endif

/* --- simulated connect ---------------------------------------------------- */

/* How connections of the simulated network are made.
 *
 *	connect  finds who listens on the address in this process, and queues
 *	         the other end there; both ends learn of it after delays of
 *	         their own
 *	accept   takes any of the queued ends that have come
 *
 * All under the network's lock, except sn_simulated_pair.
 */

#ifdef SENNIT_DETERMINISTIC

/* 0, -EAGAIN while it lasts, or another negative errno. */
int sn_simulated_connect(struct simulated_end *e, const struct sockaddr *to,
			 socklen_t size);

/* Whether e is connected by now: 0, -EAGAIN while that is not known,
 * -ECONNREFUSED once, -ENOTCONN. */
int sn_simulated_is_connected(struct simulated_end *e);

/* A new descriptor, -EAGAIN, or another negative errno. */
int sn_simulated_accept(struct simulated_end *e, struct sockaddr *peer,
			socklen_t *size, int flags);

int sn_simulated_pair(int fds[2]);

#endif

/* --- simulated transfer --------------------------------------------------- */

/* Bytes from the program's memory to the simulated network and back. Under the
 * network's lock. */

#ifdef SENNIT_DETERMINISTIC

/* What recvmsg() and sendmsg() return, -EAGAIN where they would wait, or
 * another negative errno. flags: those of recv() and send(). */
ptrdiff_t sn_simulated_receive(struct simulated_end *e, const struct iovec *to,
			       size_t count, int flags);
ptrdiff_t sn_simulated_send(struct simulated_end *e, const struct iovec *from,
			    size_t count, int flags);

#endif

#endif
