/* SPDX-License-Identifier: Apache-2.0 */
/* live_socket.h - the socket of a live view: made for its owner alone, and
 * removed only if it is still the one that was made. */
#ifndef SN_LIVE_SOCKET_H
#define SN_LIVE_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

struct live_socket {
	struct sockaddr_un address; /* absolute */
	int                fd;
	dev_t              device; /* with inode: the file that was made */
	ino_t              inode;
	uid_t              owner;
};

/* Listen at `path`. Returns 0 or an error of sennit_live_start. */
int sn_live_socket_open(struct live_socket *s, const char *path);

/* Close the socket. remove: also remove its file. */
void sn_live_socket_close(struct live_socket *s, bool remove);

/* Accept a client without waiting. *refused becomes whether another user's
 * process has connected. Returns its descriptor, or -1: there is none. */
int sn_live_socket_accept(const struct live_socket *s, bool *refused);

#endif
