/* SPDX-License-Identifier: Apache-2.0 */
#include "http/supply.h"

#include <sennit/io.h>
#include <sennit/socket_option.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sockios.h>

#define LOOK (500 * SENNIT_MILLISECOND)

/* The time that a client has before it can count as slow. */
#define GRACE SENNIT_SECOND

struct http_origin {
	struct http_origin *next;
	unsigned char       key[16];
	uint32_t            connections;
	struct http_supply  share;
};

/* --- addresses ---------------------------------------------------------- */

static bool make_key(unsigned char *key, const struct sockaddr *peer)
{
	const struct sockaddr_in  *four = (const void *)peer;
	const struct sockaddr_in6 *six = (const void *)peer;

	memset(key, 0, 16);
	if (peer->sa_family == AF_INET) {
		memcpy(key + 12, &four->sin_addr, 4);
		return true;
	}
	if (peer->sa_family != AF_INET6)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		memcpy(key + 12, six->sin6_addr.s6_addr + 12, 4);
	else
		memcpy(key, six->sin6_addr.s6_addr, 8);
	return true;
}

static struct http_origin **find_origin(struct http_users   *users,
					const unsigned char *key)
{
	struct http_origin **at;
	uint32_t             hash = 2166136261u;

	for (int i = 0; i < 16; i++)
		hash = (hash ^ key[i]) * 16777619u;
	at = &users->origins[hash % HTTP_ORIGINS];
	while (*at && memcmp((*at)->key, key, 16) != 0)
		at = &(*at)->next;
	return at;
}

/* Return the origin of the address, made if there is none. NULL: unknown kind
 * of address, or no memory. Lock held.
 */
static struct http_origin *enter_origin(struct http_users     *users,
					const struct sockaddr *peer)
{
	unsigned char        key[16];
	struct http_origin **at, *o;

	if (!make_key(key, peer))
		return NULL;
	at = find_origin(users, key);
	if (!*at) {
		o = calloc(1, sizeof(*o));
		if (!o)
			return NULL;
		memcpy(o->key, key, sizeof(key));
		http_supply_open(&o->share, users->share);
		users->addresses++;
		*at = o;
	}
	(*at)->connections++;
	return *at;
}

static void leave_origin(struct http_users *users, struct http_origin *o)
{
	struct http_origin **at;

	if (!o || --o->connections)
		return;
	at = find_origin(users, o->key);
	*at = o->next;
	users->addresses--;
	http_supply_close(&o->share);
	free(o);
}

/* --- connections -------------------------------------------------------- */

void http_user_enter(struct http_users *users, struct http_user *user, int fd,
		     const struct sockaddr *peer)
{
	memset(user, 0, sizeof(*user));
	user->users = users;
	user->fd = fd;
	user->grace = GRACE;
	atomic_store(&user->since, sennit_now());
	pthread_mutex_lock(&users->lock);
	user->origin = enter_origin(users, peer);
	user->next = users->first;
	if (user->next)
		user->next->previous = user;
	users->first = user;
	users->count++;
	pthread_mutex_unlock(&users->lock);
}

/* A client may have left after a wait of this length. */
#define WAITED SENNIT_MILLISECOND

/* The time that the connection has waited so far is not the client's. */
bool http_user_begin(struct http_user *user)
{
	const bool waited = sennit_now() - user->since > WAITED;
	bool       open;

	pthread_mutex_lock(&user->users->lock);
	open = user->fd >= 0;
	if (open && waited && http_user_is_reset(user->fd)) {
		sennit_close(user->fd);
		user->fd = -1;
		open = false;
	}
	user->served = true;
	atomic_store(&user->since, 0);
	pthread_mutex_unlock(&user->users->lock);
	return open;
}

void http_user_close(struct http_user *user)
{
	if (!user)
		return;
	pthread_mutex_lock(&user->users->lock);
	user->fd = -1;
	pthread_mutex_unlock(&user->users->lock);
}

void http_user_leave(struct http_user *user)
{
	struct http_users *users = user->users;

	pthread_mutex_lock(&users->lock);
	if (user->next)
		user->next->previous = user->previous;
	if (user->previous)
		user->previous->next = user->next;
	else
		users->first = user->next;
	users->count--;
	leave_origin(users, user->origin);
	pthread_mutex_unlock(&users->lock);
}

void http_user_wait(struct http_user *user)
{
	if (user && !user->raw)
		atomic_store_explicit(&user->since, sennit_now(),
				      memory_order_release);
}

/* Reset `since` before the time is added: a reader between the two sees a
 * shorter wait, never a longer one. */
void http_user_go_on(struct http_user *user, ptrdiff_t moved)
{
	uint64_t begun;

	if (!user || user->raw)
		return;
	begun = atomic_load_explicit(&user->since, memory_order_relaxed);
	atomic_store_explicit(&user->since, 0, memory_order_relaxed);
	if (begun)
		atomic_store_explicit(&user->waited,
				      user->waited + sennit_now() - begun,
				      memory_order_release);
	if (moved > 0)
		atomic_store_explicit(&user->moved,
				      user->moved + (uint64_t)moved,
				      memory_order_relaxed);
}

void http_user_begin_raw(struct http_user *user)
{
	user->raw = true;
	atomic_store(&user->since, sennit_now());
}

/* Two fibers may transfer bytes at the same time. */
void http_user_raw(struct http_user *user, size_t moved, uint64_t grace)
{
	atomic_fetch_add(&user->moved, moved);
	if (!grace)
		return;
	pthread_mutex_lock(&user->users->lock);
	user->grace = grace > GRACE ? grace : GRACE;
	pthread_mutex_unlock(&user->users->lock);
}

/* --- supplies ----------------------------------------------------------- */

void http_supply_open(struct http_supply *supply, uint32_t count)
{
	sennit_semaphore_init(&supply->free, count);
	atomic_init(&supply->waiting, 0);
	supply->look = supply->due = 0;
}

void http_supply_close(struct http_supply *supply)
{
	sennit_semaphore_destroy(&supply->free);
}

int http_supply_take(struct http_supply *supply, struct http_user *user,
		     enum http_held which, sennit_time deadline)
{
	struct http_users *users = user->users;
	int                err;

	err = sennit_semaphore_acquire_until(&supply->free, 1, 0);
	if (err) {
		atomic_fetch_add(&supply->waiting, 1);
		atomic_fetch_add(&users->waiting, 1);
		sennit_event_set(&users->wanted);
		err = sennit_semaphore_acquire_until(&supply->free, 1,
						     deadline);
		atomic_fetch_sub(&users->waiting, 1);
		atomic_fetch_sub(&supply->waiting, 1);
	}
	if (!err)
		atomic_store(&user->held[which], supply);
	return err;
}

void http_supply_give(struct http_user *user, enum http_held which)
{
	struct http_supply *supply = atomic_exchange(&user->held[which], NULL);

	if (supply)
		sennit_semaphore_release(&supply->free, 1);
}

int http_share_take(struct http_user *user, sennit_time deadline)
{
	if (!user->origin || !user->users->share)
		return 0;
	return http_supply_take(&user->origin->share, user, HTTP_SHARE,
				deadline);
}

/* --- the monitor -------------------------------------------------------- */

static uint64_t unacknowledged(int fd)
{
	int bytes;

	return ioctl(fd, SIOCOUTQ, &bytes) || bytes < 0 ? 0 : (uint64_t)bytes;
}

/* Report whether a connection that waits for its turn has sent no data. */
static bool is_silent(const struct http_user *user)
{
	int bytes;

	return !ioctl(user->fd, FIONREAD, &bytes) && !bytes;
}

bool http_user_is_reset(int fd)
{
	struct pollfd end = { fd, 0, 0 };

	return poll(&end, 1, 0) > 0;
}

/* Lock held. */
static bool is_slow(struct http_user *user, uint64_t now)
{
	const uint64_t rate = user->users->least_rate;
	uint64_t       waited = atomic_load(&user->waited);
	const uint64_t since = atomic_load(&user->since);
	uint64_t       moved = atomic_load(&user->moved);
	int64_t        progress;
	double         span;

	if (!since || now < since || !rate)
		return false;
	if (!user->served)
		return http_user_is_reset(user->fd) ||
		       (now - since >= GRACE && is_silent(user));
	waited += now - since;
	if (waited - user->seen_waited < user->grace)
		return false;
	moved -= unacknowledged(user->fd);
	progress = (int64_t)(moved - user->seen_moved);
	span = (double)(waited - user->seen_waited) / 1e9;
	if ((double)progress < span * (double)rate)
		return true;
	user->seen_waited = waited;
	user->seen_moved = moved;
	return false;
}

/* Return how many connections must still release one of this supply. */
static uint32_t *due_of(struct http_users *users, struct http_supply *s)
{
	if (s->look != users->look) {
		s->look = users->look;
		s->due = atomic_load(&s->waiting);
	}
	return &s->due;
}

static bool is_wanted(struct http_users *users, struct http_user *user,
		      uint32_t descriptors)
{
	bool wanted = descriptors;

	for (int i = 0; i < HTTP_HELD; i++) {
		struct http_supply *s = atomic_load(&user->held[i]);

		wanted = wanted || (s && *due_of(users, s));
	}
	return wanted;
}

static void count_off(struct http_users *users, struct http_user *user,
		      uint32_t *descriptors)
{
	*descriptors -= *descriptors != 0;
	for (int i = 0; i < HTTP_HELD; i++) {
		struct http_supply *s = atomic_load(&user->held[i]);
		uint32_t           *due = s ? due_of(users, s) : NULL;

		if (due && *due)
			--*due;
	}
}

/* Shut the connection down, so that its fiber sees the end, whatever it waits
 * for. The kernel drops data that are in transit. While it waits for its turn,
 * no fiber waits for the descriptor. */
static void end(struct http_user *user)
{
	atomic_store(&user->ended, true);
	(void)!sennit_socket_set(user->fd, SENNIT_SOCKET_LINGER, 0);
	if (user->served) {
		(void)shutdown(user->fd, SHUT_RDWR);
	} else {
		sennit_close(user->fd);
		user->fd = -1;
	}
}

/* Return how many descriptors of half of the reserve are not free. The number
 * of the next free descriptor shows that. */
static uint32_t missing(struct http_users *users)
{
	const uint32_t    reserve = (uint32_t)users->scarce / 7 + 1;
	const int         enough = users->scarce + (int)reserve / 2;
	struct http_user *u = users->first;
	int               next;

	while (u && u->fd < 0)
		u = u->next;
	if (!u || !users->pressed)
		return 0;
	next = fcntl(u->fd, F_DUPFD_CLOEXEC, 0);
	if (next < 0)
		return reserve;
	(void)close(next);
	return next < enough ? 0 : (uint32_t)(next - enough) + 1;
}

static bool is_crowded(const struct http_users *users,
		       const struct http_user  *user)
{
	return !user->origin ||
	       user->origin->connections >= users->count / users->addresses;
}

/* Go once over all connections. crowded: only those of addresses with many. */
static void end_slow(struct http_users *users, bool crowded,
		     uint32_t *descriptors)
{
	const uint64_t now = sennit_now();

	for (struct http_user *u = users->first; u; u = u->next) {
		if (u->fd < 0 || atomic_load(&u->ended) ||
		    (crowded && !is_crowded(users, u)) ||
		    !is_wanted(users, u, *descriptors) || !is_slow(u, now))
			continue;
		end(u);
		count_off(users, u, descriptors);
	}
}

/* End the oldest connections that wait for their turn. */
static void end_waiting(struct http_users *users, bool crowded,
			uint32_t *descriptors)
{
	const uint64_t    now = sennit_now();
	struct http_user *u = users->first;

	while (u && u->next)
		u = u->next;
	for (; u && *descriptors; u = u->previous) {
		const uint64_t since = atomic_load(&u->since);

		if (u->fd < 0 || atomic_load(&u->ended) || u->served ||
		    !since || now < since + GRACE ||
		    (crowded && !is_crowded(users, u)))
			continue;
		end(u);
		--*descriptors;
	}
}

/* Returns whether a fiber waits. */
static bool look(struct http_users *users)
{
	uint32_t descriptors;
	bool     pressed;

	pthread_mutex_lock(&users->lock);
	users->look++;
	descriptors = missing(users);
	users->pressed = descriptors;
	if (!descriptors)
		sennit_event_set(&users->enough);
	if (descriptors || atomic_load(&users->waiting)) {
		end_slow(users, true, &descriptors);
		end_slow(users, false, &descriptors);
		end_waiting(users, true, &descriptors);
		end_waiting(users, false, &descriptors);
	}
	pressed = users->pressed;
	pthread_mutex_unlock(&users->lock);
	return pressed || atomic_load(&users->waiting);
}

int http_users_usher(void *argument)
{
	struct http_users *users = argument;

	while (!sennit_event_wait(&users->wanted))
		do {
			if (sennit_sleep(LOOK))
				return 0;
		} while (look(users));
	return 0;
}

int http_users_wait(struct http_users *users, sennit_time deadline)
{
	pthread_mutex_lock(&users->lock);
	users->pressed = true;
	sennit_event_clear(&users->enough);
	pthread_mutex_unlock(&users->lock);
	sennit_event_set(&users->wanted);
	return sennit_event_wait_until(&users->enough, deadline);
}

void http_users_end_all(struct http_users *users)
{
	pthread_mutex_lock(&users->lock);
	for (struct http_user *u = users->first; u; u = u->next)
		if (u->fd >= 0)
			end(u);
	pthread_mutex_unlock(&users->lock);
}

void http_users_open(struct http_users *users)
{
	pthread_mutex_init(&users->lock, NULL);
	sennit_event_init(&users->wanted, SENNIT_EVENT_AUTO);
	sennit_event_init(&users->enough,
			  SENNIT_EVENT_MANUAL | SENNIT_EVENT_SET);
}

void http_users_close(struct http_users *users)
{
	sennit_event_destroy(&users->enough);
	sennit_event_destroy(&users->wanted);
	pthread_mutex_destroy(&users->lock);
}
