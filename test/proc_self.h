/* SPDX-License-Identifier: Apache-2.0 */
/* proc_self.h - what this process has just now, to see that nothing is left. */
#ifndef SN_TEST_PROC_SELF_H
#define SN_TEST_PROC_SELF_H

#include <dirent.h>
#include <stdio.h>

/* `.` and `..` count too: compare with an earlier answer. */
static inline unsigned entries_of(const char *path)
{
	DIR     *d = opendir(path);
	unsigned count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

/* One that was joined may stay listed for a moment. */
static inline unsigned threads_now(void)
{
	return entries_of("/proc/self/task");
}

static inline unsigned files_now(void)
{
	return entries_of("/proc/self/fd");
}

static inline unsigned mappings_now(void)
{
	FILE    *f = fopen("/proc/self/maps", "re");
	unsigned lines = 0;
	int      c;

	while (f && (c = getc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines;
}

#endif
