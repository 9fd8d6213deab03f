/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_ends.h - the sockets of the simulated network: listeners, and the
 * two ends of each connection.
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
#ifndef SN_IO_SIMULATED_ENDS_H
#define SN_IO_SIMULATED_ENDS_H

#include "io/simulated_stream.h"

#include <sys/socket.h>
#include <sys/types.h>

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
void sn_simulated_look(struct simulated_end *e);

/* The events of poll() at e; and when they may change by themselves. */
short       sn_simulated_events(struct simulated_end *e);
sennit_time sn_simulated_next(const struct simulated_end *e);

bool sn_simulated_is_listening(int fd);

/* Close the ends whose descriptors were closed by close(). */
void sn_simulated_sweep(void);

/* Forget all ends. */
void sn_simulated_forget_all(void);

#endif
#endif
