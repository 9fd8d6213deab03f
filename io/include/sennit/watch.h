/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - wait for changes of files and directories, by inotify.
 *
 * In libsennit-io, on Linux only. inotify(7) describes the events. inotify does
 * not report changes in subdirectories, nor changes that other machines make on
 * a network file system. A file may have changed again by the time its event is
 * read.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_WATCH_H
#define SENNIT_WATCH_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The longest file name in bytes, without its zero byte. */
#define SENNIT_WATCH_NAME_MAX 255

typedef struct sennit_watch sennit_watch;

typedef struct sennit_watch_event {
	size_t   size;      /* sizeof(sennit_watch_event), by the caller */
	int      watched;   /* the number that sennit_watch_add returned */
	uint32_t mask;      /* IN_* of <sys/inotify.h> */
	uint32_t cookie;    /* the same in both events of a rename */
	uint32_t reserved_; /* 0 */
	char     name[SENNIT_WATCH_NAME_MAX + 1]; /* in the directory; "": the
						   * watched file or directory
						   * itself */
} sennit_watch_event;

/* Open a watch without any path, and store it in *out. The caller owns it until
 * sennit_watch_close(). Returns 0, or -EMFILE, -ENFILE or -ENOMEM. -EMFILE may
 * also be the user's limit of inotify instances.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_watch_open(sennit_watch **out);

/* Watch the file or directory at path for the events of mask, IN_* of
 * inotify_add_watch(). If the same file is already watched, its number is
 * returned and the new mask replaces the old one. Returns the number of the
 * watched path, more than 0; or a negative errno: -ENOENT, -EACCES, -ENOSPC
 * (the user's limit of watches).
 *
 * From: fiber, thread.  Blocks: as the path's file system does.  */
SENNIT_API SENNIT_MUST_USE int sennit_watch_add(sennit_watch *w,
						const char   *path,
						uint32_t      mask);

/* Stop watching a path. Events from before may still be returned, the last with
 * IN_IGNORED. Returns 0, or -EINVAL if there is no such number.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_watch_remove(sennit_watch *w, int watched);

/* Wait for the next event, and copy it to *event, whose `size` the caller has
 * set. Only one caller at a time may wait.
 * Returns 0, -ETIMEDOUT, -ECANCELED; -EINVAL if the size is less than that of
 * the first version; or -EOVERFLOW: the system has dropped
 * events because they were not read in time. Check everything that is watched
 * again; the next call returns the events that were kept.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_watch_next(sennit_watch       *w,
						 sennit_watch_event *event,
						 sennit_time         deadline);

/* Close and free *w, unless it is NULL. Only a fiber of the caller's worker may
 * be waiting; its wait ends with -ECANCELED.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_watch_close(sennit_watch *w);

SENNIT_END

#endif
