/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - opens the files below a folder and caches them.
 *
 * Each thread has its own cache, so no lock is needed: small files with their
 * bytes, larger ones with their descriptor. A file that was checked less than a
 * second ago is not checked again.
 *
 * Paths are resolved beneath the folder: neither ".." nor a symbolic link leads
 * out of it (openat2; without openat2 no link is followed at all).
 */
#ifndef APPS_HTTPD_FILES_H
#define APPS_HTTPD_FILES_H

#include "http/select.h"

#include <sennit.h>

#include <sys/types.h>

struct file {
	struct http_variant variant;
	char                tag[40];
	int                 fd;      /* -1: use content */
	char               *content; /* NULL: use fd */
	/* For the head: */
	const char *type;
	char        date[SENNIT_HTTP_DATE];
	/* Private to files.c: */
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
	const char *index;       /* such as "index.html" */
	bool        no_symlinks; /* follow none, and do not use openat2 */
	size_t      keep;        /* bytes that a thread caches; 0: none */
	uint32_t    keep_files;  /* number of files that a thread caches */
	size_t      small;       /* the maximum size of a file whose bytes are
				  * cached */
	uint64_t    valid;       /* ns before a file is checked again */
};

/* Open the folder. Returns 0 or a negative errno value. Call it before other
 * threads start. */
int files_open(const struct files_config *config);

/* Find a file by the path of http_target_path. Returns 0 and the file, which
 * the caller releases with files_put in the same fiber, or a status code: 301
 * for a folder whose path lacks the slash, 403, 404, 500, 503. From a fiber. */
int files_get(struct file **out, const char *path);

void files_put(struct file *f);

/* Free all caches. Call it after all fibers have ended. */
void files_close(void);

#endif
