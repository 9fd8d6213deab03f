/* SPDX-License-Identifier: Apache-2.0 */
/* supply.h - limited resources that connections share, and which connections
 * are ended when they run out.
 *
 * A supply has a number of units: turns to be served, connections to a server,
 * the share of one client's address. A fiber that finds none waits. While a
 * fiber waits, the monitor (http_users_usher) checks all connections twice a
 * second. It ends as many connections as units are needed, choosing those that
 * hold a unit and are slow.
 *
 * A connection is slow if the server has waited for the client for a second at
 * least, and the client transferred less than `least_rate` bytes a second in
 * that time. Bytes that the client's kernel has not acknowledged do not count.
 * Connections of the addresses with the most connections end first. So clients
 * that do little take nothing from others, and no client is cut off while there
 * is enough for all.
 *
 * Time in which a backend server is waited for does not count against the
 * client.
 *
 * Descriptors are a supply, too. When the last eighth of them is in use, slow
 * connections end, and those that wait for their turn without having sent
 * anything. If that does not suffice, connections that have waited longest for
 * their turn end, because those being served need descriptors to continue.
 */
#ifndef APPS_HTTP_SUPPLY_H
#define APPS_HTTP_SUPPLY_H

#include <sennit.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>

struct http_supply {
	sennit_semaphore free;
	atomic_uint      waiting; /* number of fibers */
	uint32_t         look;    /* under users->lock: the last check */
	uint32_t         due;     /* likewise: units still to be freed in it */
};

/* The kinds of supply of which a connection can hold a unit. */
enum http_held { HTTP_TURN, HTTP_SHARE, HTTP_SLOT, HTTP_HELD };

/* An address: all of an IPv4 address, the first half of an IPv6 address. */
struct http_origin;

/* A connection, in the frame of its fiber. */
struct http_user {
	struct http_users  *users;
	struct http_user   *next, *previous; /* under users->lock */
	struct http_origin *origin;          /* fixed; NULL: not known */
	int                 fd;              /* under users->lock; -1: closed */
	bool                served;          /* likewise: it has had its turn */
	atomic_bool         ended;           /* set by the monitor */
	_Atomic(struct http_supply *) held[HTTP_HELD]; /* owner writes */
	/* The owner writes, the monitor reads: */
	atomic_ullong moved;  /* bytes transferred from and to the client */
	atomic_ullong waited; /* ns, in completed waits for the client */
	atomic_ullong since;  /* when the current wait began; 0: none */
	/* Under users->lock: the state at the last check, and the time before
	 * it can count as slow. */
	uint64_t seen_moved, seen_waited, grace;
	/* It passes on bytes that are not parsed: its client is always waited
	 * for. */
	bool raw;
};

#define HTTP_ORIGINS 1024 /* number of hash lists */

struct http_users {
	pthread_mutex_t     lock;
	struct http_user   *first;                 /* under lock */
	struct http_origin *origins[HTTP_ORIGINS]; /* under lock */
	uint32_t            count, addresses;      /* under lock */
	uint32_t            look;                  /* under lock */
	uint64_t            least_rate; /* bytes a second; 0: none is slow */
	uint32_t            share;      /* of each address; 0: unlimited */
	atomic_uint         waiting;    /* fibers that wait for any supply */
	int          scarce;  /* fixed: descriptors from this number on are the
			       * reserve */
	bool         pressed; /* under lock: the reserve is in use */
	sennit_event wanted;
	sennit_event enough; /* set unless pressed */
};

/* Initialise *users. The caller has set least_rate, share and scarce. */
void http_users_open(struct http_users *users);
void http_users_close(struct http_users *users);

/* The monitor. Run it as a member of a group that is cancelled at the end. */
int http_users_usher(void *users);

/* Wait until there may be more descriptors or memory. Returns 0 or a negative
 * errno value. From a fiber. */
int http_users_wait(struct http_users *users, sennit_time deadline);

/* End all connections. From any thread. */
void http_users_end_all(struct http_users *users);

/* Report whether the client has reset the connection, or both sides have ended
 * it. */
bool http_user_is_reset(int fd);

/* A connection arrives; has its turn, or is closed before; and ends. Call
 * http_user_close before its descriptor is closed. */
void http_user_enter(struct http_users *users, struct http_user *user, int fd,
		     const struct sockaddr *peer);
bool http_user_begin(struct http_user *user);
void http_user_close(struct http_user *user);
void http_user_leave(struct http_user *user);

/* The fiber begins to wait for the client, and continues after `moved` bytes.
 * user may be NULL. */
void http_user_wait(struct http_user *user);
void http_user_go_on(struct http_user *user, ptrdiff_t moved);

/* From now on the connection passes on bytes that are not parsed. After the
 * client has sent the first one, it has `grace` before it can count as slow. */
void http_user_begin_raw(struct http_user *user);
void http_user_raw(struct http_user *user, size_t moved, uint64_t grace);

void http_supply_open(struct http_supply *supply, uint32_t count);
void http_supply_close(struct http_supply *supply);

/* Take or release a unit of a supply. Returns 0 or a negative errno value:
 * -ETIMEDOUT, -ECANCELED. From a fiber. */
int  http_supply_take(struct http_supply *supply, struct http_user *user,
		      enum http_held which, sennit_time deadline);
void http_supply_give(struct http_user *user, enum http_held which);

/* The same for the share of the connection's address, if shares are limited. */
int http_share_take(struct http_user *user, sennit_time deadline);

#endif
