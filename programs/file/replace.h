/* SPDX-License-Identifier: Apache-2.0 */
/* replace.h - writes a file that gets its name only when it is complete.
 *
 * The file is written under a temporary name in the same folder. After an error
 * or a signal nothing of it remains. Only a program that is killed (SIGKILL)
 * leaves the temporary file. One such file exists at a time.
 */
#ifndef FILE_REPLACE_H
#define FILE_REPLACE_H

#include <stdbool.h>

struct stat;

struct replacement {
	int   fd;
	char *path; /* the name for the complete file */
};

/* Make SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove the
 * unfinished file and then end the program by the same signal. Only the calling
 * thread handles them: threads that start later must block them, see
 * replace_block_signals. */
void replace_on_signals(void);

/* Block or unblock these signals in the calling thread. Threads that are
 * started while they are blocked inherit the mask. */
void replace_block_signals(void);
void replace_unblock_signals(void);

/* Open a file that will be called `path`, with permissions for the owner only.
 * Returns 0 or a negative errno value. */
int replace_open(struct replacement *r, const char *path);

/* Give the file the owner, mode and times of *from, as far as the system
 * permits. */
void replace_take_after(const struct replacement *r, const struct stat *from);

/* Give the file the permissions of any new file, according to the umask. */
void replace_make_public(const struct replacement *r);

/* Close the file and give it its name. An existing file is replaced if
 * `may_replace`. Returns 0, -EEXIST, or another negative errno value. On error
 * the file is removed. */
int replace_commit(struct replacement *r, bool may_replace);

/* Remove the unfinished file. */
void replace_drop(struct replacement *r);

#endif
