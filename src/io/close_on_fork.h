/* SPDX-License-Identifier: Apache-2.0 */
/* close_on_fork.h - descriptors that the child of a fork closes.
 *
 * A child has no workers. Its copies of their epoll, event and ring descriptors
 * would only keep those alive, and a ring is the parent's to submit to.
 *
 * The list is looked at after a fork by a process with one thread, whatever
 * other threads did at that moment: a descriptor is in it after it was opened
 * and until before it is closed. A fork in between leaves one descriptor open
 * in the child; it never closes another's.
 */
#ifndef SN_IO_CLOSE_ON_FORK_H
#define SN_IO_CLOSE_ON_FORK_H

/* Remember fd. 0 or -ENOMEM. */
int sn_close_on_fork_add(int fd);

/* Forget fd and close it; -1: there is none. */
void sn_close_on_fork_close(int fd);

/* Forget fd, which is about to be closed elsewhere. */
void sn_close_on_fork_forget(int fd);

#endif
