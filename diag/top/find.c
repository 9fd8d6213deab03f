/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - finds the socket of a live view. The name of the view's thread
 * contains the number of the socket's descriptor. That leads to the socket's
 * inode, and the table of Unix sockets to its path. So no other socket of the
 * program is touched. */
#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREAD "sn-live/"

/* Return the number in the name of a thread of a live view; -1: another
 * thread. */
static int descriptor_of(const char *pid, const char *thread)
{
	char  path[128];
	char  name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/comm", pid,
		 thread);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	if (strncmp(name, THREAD, sizeof(THREAD) - 1))
		return -1;
	return atoi(name + sizeof(THREAD) - 1);
}

/* Return the descriptor of the oldest live view; -1: none. */
static int find_descriptor(const char *pid, struct fault *f)
{
	char           path[64];
	DIR           *threads;
	struct dirent *thread;
	int            fd = -1;
	long           oldest = 0;

	snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
	threads = opendir(path);
	if (!threads) {
		fault_set(f, "process %s: %s", pid, strerror(errno));
		return -1;
	}
	while ((thread = readdir(threads))) {
		long number = atol(thread->d_name);
		int  found = descriptor_of(pid, thread->d_name);

		if (found >= 0 && (fd < 0 || number < oldest)) {
			fd = found;
			oldest = number;
		}
	}
	closedir(threads);
	if (fd < 0)
		fault_set(f, "process %s has no live view (sennit/live.h)",
			  pid);
	return fd;
}

/* Return the inode of a descriptor that is a socket; 0: it is not one. */
static unsigned long inode_of(const char *pid, int fd, struct fault *f)
{
	char          path[64];
	char          link[64];
	unsigned long inode = 0;
	ssize_t       n;

	snprintf(path, sizeof(path), "/proc/%.16s/fd/%d", pid, fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0) {
		fault_set(f, "process %s: %s", pid, strerror(errno));
		return 0;
	}
	link[n] = '\0';
	if (sscanf(link, "socket:[%lu]", &inode) != 1)
		fault_set(f, "process %s: descriptor %d is not a socket", pid,
			  fd);
	return inode;
}

/* Lines are: Num RefCount Protocol Flags Type St Inode Path. */
static bool find_path(const char *pid, unsigned long wanted, char *path,
		      size_t size)
{
	char  name[64];
	char  line[512];
	FILE *file;
	bool  found = false;

	snprintf(name, sizeof(name), "/proc/%.16s/net/unix", pid);
	file = fopen(name, "r");
	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned long inode;
		int           at = 0;

		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu %n", &inode,
			   &at) != 1 ||
		    inode != wanted || !at || line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, size, "%s", line + at);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

bool find_socket(const char *pid, char *path, size_t size, struct fault *f)
{
	int           fd = find_descriptor(pid, f);
	unsigned long inode = fd < 0 ? 0 : inode_of(pid, fd, f);

	if (!inode)
		return false;
	if (find_path(pid, inode, path, size))
		return true;
	fault_set(f, "process %s: the path of its live view is not found", pid);
	return false;
}
