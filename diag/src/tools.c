/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - the functions that the environment variable SENNIT_DEBUG turns on
 * in this library. They are registered with libsennit when this library is
 * loaded. */
#include "base/own_fd.h"
#include "dump.h"
#include "last_words.h"
#include "profile.h"
#include "stacks.h"
#include "watchdog.h"
#include "sennit/detail/debugger.h"
#include "sennit/live.h"
#include "sennit/stacks.h"
#include "sennit/symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char sn_tools_are_linked = 1;

static int print_stacks(int fd)
{
	return sennit_stacks_print(NULL, fd, SENNIT_STACKS_TEXT);
}

/* --- live --------------------------------------------------------------- */

static sennit_live *live; /* fixed once it is set */

/* Remove the socket at exit(). */
static void close_live(void)
{
	sennit_live_stop(live);
}

static int open_live(const char *path)
{
	const char *folder = secure_getenv("XDG_RUNTIME_DIR");
	char        name[128];
	int         err;

	if (!path) {
		int n = snprintf(name, sizeof(name), "%s/sennit-%ld",
				 folder && *folder ? folder : "/tmp",
				 (long)getpid());

		if (n >= (int)sizeof(name))
			return -ENAMETOOLONG;
		path = name;
	}
	err = sennit_live_start(&live, NULL, path);
	if (!err)
		atexit(close_live);
	return err;
}

/* --- fatal -------------------------------------------------------------- */

#define FATAL_LIMIT_MS 10000u

static int write_when_fatal(const char *file)
{
	int fd = STDERR_FILENO;
	int err;

	if (file)
		fd = sn_own_fd(open(
			file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
	if (fd < 0)
		return -errno;
	if (!file)
		return sennit_dump_fatal(fd, FATAL_LIMIT_MS);
	err = sn_last_words_into(fd, FATAL_LIMIT_MS);
	if (err)
		close(fd);
	return err;
}

/* --- the table ---------------------------------------------------------- */

static const struct sennit_debug_tools tools = {
	.size = sizeof(struct sennit_debug_tools),
	.print_stacks = print_stacks,
	.dump = sn_dump_lend,
	.watchdog = sn_watchdog_follow,
	.live = open_live,
	.fatal = write_when_fatal,
	.symbol = sennit_symbol_print,
	.profile = sn_profile_lend,
};

__attribute__((constructor)) static void register_tools(void)
{
	sennit_debug_tools = &tools;
}
