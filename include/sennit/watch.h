/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - wait for changes of files and directories, by inotify.
 *
 * In libsennit-io. inotify(7) says what the events mean. It does not report
 * changes of subdirectories, nor those that other machines make on a network
 * file system. A file may have changed again when its event is read.
 */
#ifndef SENNIT_WATCH_H
#define SENNIT_WATCH_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The longest name of a file, without its final 0. */
#define SENNIT_WATCH_NAME_MAX 255

typedef struct sennit_watch {
	int      fd_;
	uint32_t at_, end_;    /* events that have been read */
	uint64_t events_[512]; /* aligned */
} sennit_watch;

typedef struct sennit_watch_event {
	int      watched; /* what sennit_watch_add returned */
	uint32_t mask;    /* IN_* of <sys/inotify.h> */
	uint32_t cookie;  /* the same for both halves of a renaming */
	char     name[SENNIT_WATCH_NAME_MAX + 1]; /* in the directory; "": what
						   * is watched itself */
} sennit_watch_event;

/* Open a watch without any path. Returns 0, or -EMFILE, -ENFILE or -ENOMEM:
 * users have a limit of instances.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_watch_open(sennit_watch *w);

/* Watch the file or directory at path for the events of mask, IN_* of
 * inotify_add_watch(). Returns the number of this watch, more than 0: that of
 * an earlier call for the same file, whose mask this one replaces. Or a
 * negative errno: -ENOENT, -EACCES, -ENOSPC (the user's limit of watches).
 *
 * From: fiber, thread.  Blocks: as the path's file system does.  */
SENNIT_API SENNIT_MUST_USE int sennit_watch_add(sennit_watch *w,
						const char   *path,
						uint32_t      mask);

/* End a watch. Events from before may still come, the last with IN_IGNORED.
 * Returns 0, or -EINVAL if there is no such watch.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_watch_remove(sennit_watch *w, int watched);

/* Wait for the next event, and copy it to *event. One caller at a time.
 * Returns 0, -ETIMEDOUT, -ECANCELED, or -EOVERFLOW: the system has dropped
 * events, as they were not read in time. Check everything that is watched
 * again; the next call returns the events that were kept.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_watch_next(sennit_watch       *w,
						 sennit_watch_event *event,
						 sennit_time         deadline);

/* End all watches. Only a fiber of the caller's worker may be waiting; its wait
 * ends with -ECANCELED.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_watch_close(sennit_watch *w);

SENNIT_END

#endif
