/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - the simulated network of deterministic builds, and the calls of
 * io.h and net.h on it. A call is tried. If it would wait, the fiber waits, and
 * the call is retried. Files are read and written in place.
 */
#ifndef SN_NETWORK_H
#define SN_NETWORK_H

#include "base/atomic.h"
#include "engine/request.h"
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

/* The backend of the deterministic build. A worker sleeps, in virtual time,
 * until something arrives in the simulated network.
 *
 * A deterministic build has only this backend, and an ordinary build lacks it.
 */

#ifdef SENNIT_DETERMINISTIC

#define IO_SIMULATED true

/* The `turn` of a simulated poller, which identifies it. */
void sn_simulated_turn(sennit_poller *p);

/* Make a simulated backend. Returns 0 or a negative errno. */
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

/* Called only if IO_SIMULATED. In an ordinary build the compiler drops the
 * calls, and the functions do not exist. */

/* Wait until one of the descriptors has one of its events. b: the backend of
 * the calling fiber's worker; NULL: wait as a thread. select: the select that
 * waits, or NULL. Returns 0 (sometimes spuriously), -ETIMEDOUT or -ECANCELED,
 * the latter also if one of the descriptors is closed. A plain close() counts
 * only if `several` is false. */
int sn_simulated_wait(struct io_backend *b, const struct pollfd *fds,
		      size_t count, bool several, sennit_selection *select,
		      sennit_time deadline);

/* As sn_io_do(). */
ptrdiff_t sn_simulated_do(struct io_backend *b, const struct io_request *r,
			  sennit_time deadline);

/* The same without waiting: returns -EAGAIN. */
ptrdiff_t sn_simulated_try(const struct io_request *r);

/* As sn_io_do_blocking(). While the call waits for a disk, no other thread of
 * the run goes on, so it does not change the run. */
ptrdiff_t sn_simulated_do_in_place(const struct io_request *r);

/* As sendfile(), from a file to a socket. */
ptrdiff_t sn_simulated_sendfile(int to, int from, int64_t *at, size_t size,
				sennit_time deadline);

/* As poll() without waiting. Returns how many descriptors have events, or a
 * negative errno. */
int sn_simulated_look(struct pollfd *fds, size_t count);

/* As poll(). Returns how many descriptors have events, or a negative errno. */
int sn_simulated_poll(struct pollfd *fds, size_t count, sennit_time deadline);

int sn_simulated_shutdown(int fd, int how);
int sn_simulated_close(int fd);

/* --- simulated choices ---------------------------------------------------- */

/* The choices that the simulated network leaves to the seed, its configuration,
 * and the record of what it has done.
 *
 * One lock guards the whole network. No thread passes the turn while it holds
 * the lock, so each step of the network is one step of the run.
 */

#ifdef SENNIT_DETERMINISTIC

/* The lock for everything below, and for the other simulated_ files. */
void sn_simulated_lock(void);
void sn_simulated_unlock(void);

/* The configuration, with defaults filled in. */
const sennit_simulation_config *sn_simulated_config(void);

/* Set the configuration and reset the digest. Returns 0 or -EINVAL. */
int sn_simulated_configure(const sennit_simulation_config *config);

/* Returns true with this probability, in millionths. */
bool sn_simulated_happens(uint32_t in_a_million);

/* The arrival time of something that is sent now. */
sennit_time sn_simulated_arrival(void);

/* How much of `all` is transferred: usually all, at least 1. */
uint32_t sn_simulated_part(uint32_t all);

/* Record an event at an end (0: none). This changes the digest. The event is
 * printed if the environment variable SENNIT_SIMULATION_TRACE is set. */
void sn_simulated_note(const char *what, uint32_t end, uint64_t number);

uint64_t sn_simulated_digest(void);

#endif

/* --- simulated stream ----------------------------------------------------- */

/* The bytes on their way to one end of a connection, and those that have
 * arrived and were not received yet.
 *
 *	put --delay, in pieces--> arrived --drop--> received
 *	end    after all that was put; nothing may be put after it
 *	reset  at any time: what has not arrived by then is lost
 *
 * Pieces arrive in the order in which they were put. All times are virtual.
 */

/* Maximum number of pieces on their way. Further bytes are added to the last
 * piece. */
#define SIMULATED_PIECES 32u

struct simulated_stream {
	char    *bytes;    /* ring buffer: arrived bytes, then those on their
			    * way */
	uint32_t capacity; /* 0: not connected */
	uint32_t first;    /* the oldest byte */
	uint32_t held;     /* number of bytes */
	uint32_t arrived;  /* how many of them have arrived */
	struct {
		sennit_time due;
		uint32_t    size;
	} pieces[SIMULATED_PIECES];
	uint32_t    piece, pieces_held; /* the oldest piece; number of pieces */
	sennit_time last;               /* nothing arrives before this */
	sennit_time end, reset;         /* when they arrive, or SENNIT_NEVER */
	bool        ended, was_reset;   /* they have arrived */
};

/* Returns 0 or -ENOMEM. */
int  sn_simulated_stream_open(struct simulated_stream *s, uint32_t capacity);
void sn_simulated_stream_close(struct simulated_stream *s);

/* Let everything arrive that is due by now. Returns whether a reset arrived. */
bool sn_simulated_stream_look(struct simulated_stream *s, sennit_time now);

/* When the next thing arrives; SENNIT_NEVER if nothing is on its way. */
sennit_time sn_simulated_stream_next(const struct simulated_stream *s);

/* Append bytes, for which there must be room. Then send the last `size` bytes
 * that were appended, with an extra delay of `late`. */
void sn_simulated_stream_put(struct simulated_stream *s, const char *bytes,
			     uint32_t size);
void sn_simulated_stream_send(struct simulated_stream *s, uint32_t size,
			      sennit_time late);

/* Copy `size` bytes that have arrived, beginning with byte `at`. */
void sn_simulated_stream_copy(const struct simulated_stream *s, uint32_t at,
			      char *to, uint32_t size);
void sn_simulated_stream_drop(struct simulated_stream *s, uint32_t size);

void sn_simulated_stream_end(struct simulated_stream *s);
void sn_simulated_stream_reset(struct simulated_stream *s, sennit_time when);

/* --- simulated waits ------------------------------------------------------ */

/* The calls that wait on the simulated network. Each is in its caller's frame.
 *
 * A fiber's wait belongs to its worker's poller, which completes it. A thread
 * completes its own. Code that changes the events of a descriptor calls
 * sn_simulated_touch(): that sets the word of each waiter and wakes those that
 * sleep on it, and they check again. A change by time alone needs no touch,
 * because the sleeper knows its time.
 */

#ifdef SENNIT_DETERMINISTIC

struct simulated_wait {
	sennit_poller_op       op; /* of a fiber */
	struct simulated_wait *next, **pprev;
	const struct pollfd   *fds;
	size_t                 count;
	sennit_poller         *poller; /* NULL: a thread's wait */
	a_u32                 *word;   /* what the waiter sleeps on */
	bool                   linked;
	bool                   several; /* does not detect a plain close() */
	bool                   closed;  /* ended: its descriptor was closed */
};

/* All waits, the oldest last. The network's lock protects everything here. */
struct simulated_wait *sn_simulated_waits(void);

void sn_simulated_wait_link(struct simulated_wait *w);
void sn_simulated_wait_unlink(struct simulated_wait *w);

bool sn_simulated_wait_has(const struct simulated_wait *w, int fd);

/* The events of fd may have changed. */
void sn_simulated_touch(int fd);

/* End the waits on fd, which is about to be closed. */
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
 * An end represents a kernel socket that is not connected in the kernel. The
 * socket provides the descriptor, the address and the options. The table of
 * ends is indexed by descriptor. If the descriptor names another file by now,
 * the end was closed by close().
 *
 * An end is freed after its peer is closed, too, because what it has sent is
 * still on its way.
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
	uint32_t                id; /* in order of creation */
	int                     fd; /* -1: not accepted yet, or closed */
	dev_t                   device;
	ino_t                   inode;
	enum simulated_state    state;
	int                     error;    /* left by a reset; 0: none */
	bool                    shut_out; /* sends nothing more */
	bool                    shut_in;  /* receives nothing more */
	bool                    closed;
	sennit_time             ready; /* connecting, refused: when the connect
				        * ends; queued: when it can be
				        * accepted */
	struct simulated_end   *peer;  /* NULL: not connected */
	struct simulated_end   *queue; /* of a listener: ends to accept */
	struct simulated_end   *next;  /* in that queue */
	struct simulated_stream in;
};

/* The end of fd, which is created if fd has none. Returns NULL and sets *err to
 * -EBADF, -ENOMEM, or -EOPNOTSUPP if fd is not a stream socket, or is connected
 * in the kernel. */
struct simulated_end *sn_simulated_find(int fd, int *err);

/* The same, but NULL if fd has none. */
struct simulated_end *sn_simulated_known(int fd);

/* Create an end. NULL: no memory. */
struct simulated_end *sn_simulated_new_end(void);

/* Set the descriptor of e. Returns 0 or a negative errno. */
int sn_simulated_enter(struct simulated_end *e, int fd);

/* Connect two ends. Returns 0 or -ENOMEM. */
int sn_simulated_join(struct simulated_end *a, struct simulated_end *b);

/* Close e. Its peer gets an end, or a reset if e has unreceived bytes. */
void sn_simulated_close_end(struct simulated_end *e);

/* Send a reset to both ends of e's connection, each with a delay of its own. */
void sn_simulated_reset_both(struct simulated_end *e);

/* Let everything arrive at e that is due by now. */
void sn_simulated_deliver(struct simulated_end *e);

/* The poll() events of e, and the time when they may change by themselves. */
short       sn_simulated_events(struct simulated_end *e);
sennit_time sn_simulated_next(const struct simulated_end *e);

bool sn_simulated_is_listening(int fd);

/* Close the ends whose descriptors the program closed by close(). */
void sn_simulated_sweep(void);

/* Close all ends. */
void sn_simulated_forget_all(void);

#endif

/* --- simulated connect ---------------------------------------------------- */

/* How connections of the simulated network are made.
 *
 *	connect  finds a listener on the address in this process, and queues
 *	         the other end there; both ends become ready after delays of
 *	         their own
 *	accept   takes any of the queued ends that are ready
 *
 * The network's lock is held for all of these except sn_simulated_pair().
 */

#ifdef SENNIT_DETERMINISTIC

/* Returns 0, -EAGAIN while it is in progress, or another negative errno. */
int sn_simulated_connect(struct simulated_end *e, const struct sockaddr *to,
			 socklen_t size);

/* Whether e is connected: 0, -EAGAIN while it is not known, -ECONNREFUSED once,
 * or -ENOTCONN. */
int sn_simulated_is_connected(struct simulated_end *e);

/* Returns a new descriptor, -EAGAIN, or another negative errno. */
int sn_simulated_accept(struct simulated_end *e, struct sockaddr *peer,
			socklen_t *size, int flags);

int sn_simulated_pair(int fds[2]);

#endif

/* --- simulated transfer --------------------------------------------------- */

/* Transfers bytes between the program's memory and the simulated network. The
 * network's lock is held. */

#ifdef SENNIT_DETERMINISTIC

/* As recvmsg() and sendmsg(). Returns -EAGAIN if it would wait, or another
 * negative errno. flags: those of recv() and send(). */
ptrdiff_t sn_simulated_receive(struct simulated_end *e, const struct iovec *to,
			       size_t count, int flags);
ptrdiff_t sn_simulated_send(struct simulated_end *e, const struct iovec *from,
			    size_t count, int flags);

#endif

#endif
