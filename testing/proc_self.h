/* SPDX-License-Identifier: Apache-2.0 */
/* proc_self.h - the current resources of this process, to check that nothing is
 * left. */
#ifndef SN_TEST_PROC_SELF_H
#define SN_TEST_PROC_SELF_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>
#endif

/* `.` and `..` count, too: compare the result only with an earlier one. */
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

/* A thread that was joined may stay listed for a moment. */
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

/* Whether an emulator runs this program on a kernel of another processor
 * (qemu-user). What the kernel says in /proc about system calls, open files and
 * children of forks is then about the emulator. Linux says its processor since
 * 6.1; earlier this returns false. */
static inline bool under_emulator(void)
{
	bool other = false;
#if __has_include(<sys/utsname.h>)
	struct utsname seen;
	char           real[sizeof(seen.machine)] = "";
	FILE          *f = fopen("/proc/sys/kernel/arch", "re");

	other = f && fscanf(f, "%64s", real) == 1 && !uname(&seen) &&
		strcmp(real, seen.machine);
	if (f)
		fclose(f);
#endif
	return other;
}

#endif
