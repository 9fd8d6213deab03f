/* SPDX-License-Identifier: Apache-2.0 */
/* replace.h - a file that gets its name once it is whole.
 *
 * It is written under a temporary name in the same folder. An error or a signal
 * leaves nothing of it. Only a program that is killed (SIGKILL) leaves the
 * temporary file. One such file exists at a time.
 */
#ifndef FILE_REPLACE_H
#define FILE_REPLACE_H

#include <stdbool.h>

struct stat;

struct replacement {
	int   fd;
	char *path; /* its name when it is whole */
};

/* Makes SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove the
 * unfinished file and end the program as these signals do. Only the calling
 * thread handles them: threads that are to start later must block them, as
 * replace_block_signals says. */
void replace_on_signals(void);

/* Blocks these signals in the calling thread, and unblocks them. Threads that
 * are started in between block them for ever. */
void replace_block_signals(void);
void replace_unblock_signals(void);

/* Opens a file that will be called `path`, with permissions for the owner only.
 * Returns 0 or a negative errno value. */
int replace_open(struct replacement *r, const char *path);

/* Gives the file the owner, mode and times of *from. What the system refuses of
 * it is left out. */
void replace_take_after(const struct replacement *r, const struct stat *from);

/* Gives the file the permissions of any new file, as the umask says. */
void replace_make_public(const struct replacement *r);

/* Closes the file and gives it its name. A file of that name is replaced if
 * `may_replace`. Returns 0, -EEXIST, or another negative errno value. On error
 * the file is gone. */
int replace_commit(struct replacement *r, bool may_replace);

/* Removes the unfinished file. */
void replace_drop(struct replacement *r);

#endif
