/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - visiting all that is in a directory and in those below it.
 *
 * In libsennit-io. Directories are opened and read by blocking calls
 * (blocking.h), so a slow disc holds up no worker. The function that visits
 * runs on the caller's fiber; it may wait, and start tasks for what it finds.
 *
 * A walk has at most 17 directories open, however deep it goes. It reads a
 * directory in pieces, so its memory grows with the depth only: by at most
 * 32 KiB for each level.
 */
#ifndef SENNIT_WALK_H
#define SENNIT_WALK_H

#include "sennit/base.h"

#include <sys/stat.h>
#include <sys/types.h>

SENNIT_BEGIN

/* Flags of sennit_walk: follow symbolic links; visit each directory again after
 * what is in it, for example to remove it. */
#define SENNIT_WALK_FOLLOW UINT32_C(1)
#define SENNIT_WALK_AFTER  UINT32_C(2)

/* What a visit returns so that a directory is not entered. */
#define SENNIT_WALK_SKIP 1

/* What is visited. All of it is valid during the visit only. */
typedef struct sennit_walk_entry {
	const char *path; /* with the path of sennit_walk in front */
	const char *name; /* its last part, in the directory `dir` */
	int         dir; /* for openat() and its like; of the first entry, whose
			    * name is the path, AT_FDCWD */
	mode_t      type; /* S_IFREG, S_IFDIR and so on; 0 if it is not known */
	uint32_t    depth; /* below the first entry */
	int error; /* 0, or a negative errno: the type is not known, or the
			    * directory cannot be read */
	int after; /* whether it is the visit after what is in it */
} sennit_walk_entry;

/* Visit an entry. Returns 0 to go on, SENNIT_WALK_SKIP not to enter the
 * directory, or anything else to end the walk. */
typedef int sennit_walk_fn(const sennit_walk_entry *entry, void *argument);

/* Call visit(entry, argument) for `path` and, if that is a directory, for all
 * below it, depth first: each directory before what is in it. The entries of a
 * directory come in the order of the system, without "." and "..". What is
 * added or removed meanwhile may be visited or not.
 *
 * Symbolic links are visited and not followed, `path` neither unless it ends
 * with '/'. With SENNIT_WALK_FOLLOW links to directories are entered; one that
 * leads back to a directory around it is an error of -ELOOP. A link that leads
 * nowhere is visited as a link.
 *
 * A directory that cannot be opened or read to its end is visited again with
 * the error, and the walk goes on; -ESTALE: it was moved while the walk was
 * more than 16 levels below it. The deadline and a cancelled group end the walk
 * before it next reads a directory.
 * Returns 0; what a visit returned to end the walk; a negative errno if there
 * is no `path`, such as -ENOENT; -EINVAL for unknown flags; -ENOMEM, -ETIMEDOUT
 * or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_walk(const char *path, uint32_t flags,
					   sennit_walk_fn *visit,
					   void           *argument,
					   sennit_time     deadline);

SENNIT_END

#endif
