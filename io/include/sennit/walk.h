/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - visiting everything in a directory and below it.
 *
 * In libsennit-io. Directories are opened and read by blocking calls
 * (blocking.h), so a slow disc blocks no worker. The visit function runs on the
 * caller's fiber. It may wait, and may start tasks for the entries.
 *
 * A walk has at most 17 directories open at any depth, and fewer if the limit
 * of descriptors is lower. It can go deeper than the longest path that the
 * system accepts. It reads a directory in pieces, so its memory grows with the
 * depth only, by at most 32 KiB for each level.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_WALK_H
#define SENNIT_WALK_H

#include "sennit/base.h"

#include <sys/stat.h>
#include <sys/types.h>

SENNIT_BEGIN

/* Flags of sennit_walk: follow symbolic links; visit each directory again after
 * its contents, for example to remove it. */
#define SENNIT_WALK_FOLLOW UINT32_C(1)
#define SENNIT_WALK_AFTER  UINT32_C(2)

/* A visit returns this to skip the contents of a directory. */
#define SENNIT_WALK_SKIP 1

/* The entry that is visited. It is valid during the visit only. */
typedef struct sennit_walk_entry {
	size_t      size;  /* of what the library has filled */
	const char *path;  /* begins with the path of sennit_walk */
	const char *name;  /* the last part, in the directory `dir` */
	int         dir;   /* for openat() and similar calls; AT_FDCWD for the
			    * first entry, whose name is the path; -1 in a visit
			    * with `after` and an error */
	mode_t      type;  /* S_IFREG, S_IFDIR and so on; 0: unknown */
	uint32_t    depth; /* levels below the first entry */
	int      error; /* 0, or a negative errno: the type is unknown, or the
		    * directory cannot be read; with `after`: its parent cannot
		    * be reopened */
	int      after; /* whether this is the visit after its contents */
	uint32_t reserved_; /* 0 */
} sennit_walk_entry;

/* Visit an entry. Returns 0 to continue, SENNIT_WALK_SKIP to skip the contents
 * of the directory, or anything else to end the walk. */
typedef int sennit_walk_fn(void *context, const sennit_walk_entry *entry);

/* Call visit(context, entry) for `path` and, if that is a directory, for
 * everything below it, depth first: each directory before its contents. The
 * entries of a directory are visited in the order of the system, without "."
 * and "..". Entries that are added or removed during the walk may or may not be
 * visited.
 *
 * Symbolic links are visited and not followed. This also holds for `path`,
 * unless it ends with '/'. With SENNIT_WALK_FOLLOW, links to directories are
 * followed. A link that leads back to a directory that contains it has the
 * error -ELOOP. A link without a target is visited as a link.
 *
 * A directory that cannot be opened or read to its end is visited again with
 * the error, and the walk continues. -ESTALE or -ENOENT: the directory was
 * moved while the walk was more than 16 levels below it, and it is found
 * neither as ".." of the level that the walk leaves nor by its name. With
 * SENNIT_WALK_AFTER each directory that was visited and not skipped is visited
 * once more after its contents, even if it was moved or removed, unless the
 * walk has ended. The deadline and a cancelled group end the walk before it
 * next reads a directory.
 * Returns 0; the value that a visit returned to end the walk; a negative errno
 * if there is no `path`, such as -ENOENT; -EINVAL for unknown flags; -ENOMEM,
 * -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_walk(const char *path, uint32_t flags,
					   sennit_walk_fn *visit, void *context,
					   sennit_time deadline);

SENNIT_END

#endif
