/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - the files below a folder: opened, described, small ones kept.
 *
 * Each thread keeps files of its own, so nothing is locked: small ones with
 * their bytes, larger ones by their descriptor. A file that was looked at less
 * than a second ago is not looked at again.
 *
 * Paths are resolved beneath the folder: neither ".." nor a symbolic link leads
 * out of it (openat2; where the kernel has none, no link is followed at all).
 */
#ifndef APPS_HTTPD_FILES_H
#define APPS_HTTPD_FILES_H

#include "http/select.h"

#include <sennit.h>

#include <sys/types.h>

struct file {
	struct http_variant variant;
	char                tag[40];
	int                 fd;      /* -1: content */
	char               *content; /* NULL: fd */
	char               *fields;  /* of the head: type, tag, date */
	size_t              fields_size;
	/* Of files.c: */
	char           *path; /* with index.html */
	dev_t           device;
	ino_t           inode;
	struct timespec changed;
	sennit_time     checked;
	uint32_t        users;
	struct file    *next;          /* in a list of the table */
	struct file    *newer, *older; /* by last use */
};

struct files_config {
	const char *root;
	const char *index;       /* "index.html" */
	bool        no_symlinks; /* follow none, nor use openat2 */
	size_t      keep;        /* bytes that a thread keeps; 0: nothing */
	uint32_t    keep_files;  /* files that a thread keeps */
	size_t      small;       /* files up to this size are kept whole */
	uint64_t    valid;       /* ns before a file is looked at again */
};

/* Open the folder. Returns 0 or a negative errno. Before there are threads. */
int files_open(const struct files_config *config);

/* Find a file by the path of http_target_path. Returns 0 and the file, which is
 * given back by files_put in the same fiber, or a status code: 301 for a folder
 * whose path lacks the slash, 403, 404, 500, 503. From a fiber. */
int files_get(struct file **out, const char *path);

void files_put(struct file *f);

/* Free all that threads keep. After all fibers have ended. */
void files_close(void);

#endif
