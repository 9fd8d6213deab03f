/* SPDX-License-Identifier: Apache-2.0 */
/* made_up_system.h - made-up system files in a directory of the test. Code that
 * reads /proc and /sys gets `root` as a prefix for their names.
 *
 *	TEST_ON_NEW_SYSTEM(f)  runs f on a system that has no files yet
 */
#ifndef SN_TEST_MADE_UP_SYSTEM_H
#define SN_TEST_MADE_UP_SYSTEM_H

#include "../test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[32];

static inline int make_system(void **state)
{
	(void)state;
	strcpy(root, "/tmp/sennit-system-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *s, int type,
			     struct FTW *where)
{
	(void)s;
	(void)type;
	(void)where;
	return remove(path);
}

static inline int remove_system(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Make the directories in the path, and the file unless text is NULL. */
static inline void put(const char *path, const char *text)
{
	char  whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *c = whole + strlen(root) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(whole, 0700);
		*c = '/';
	}
	if (!text)
		return;
	f = fopen(whole, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define TEST_ON_NEW_SYSTEM(f) TEST_BETWEEN(f, make_system, remove_system)

#endif
