/* SPDX-License-Identifier: Apache-2.0 */
/* children.h - starting children, and checking how they end. */
#ifndef SN_TEST_CHILDREN_H
#define SN_TEST_CHILDREN_H

#include "operations.h"

#include "sennit/process.h"

#include <sys/wait.h>

static inline pid_t must_spawn(const sennit_process_command *command)
{
	pid_t child = -1;

	EXPECT(sennit_process_spawn(&child, command) == 0);
	return child;
}

/* The descriptors of a command: { from, to }, ... */
#define FDS(...)                                                         \
	.fds = (const sennit_process_fd[]){ __VA_ARGS__ },               \
	.fd_count = sizeof((const sennit_process_fd[]){ __VA_ARGS__ }) / \
		    sizeof(sennit_process_fd)

static inline pid_t spawn_shell(const char *script, int in, int out)
{
	char *const argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };

	return must_spawn(SENNIT_PROCESS_COMMAND(.argv = argv,
						 FDS({ in, STDIN_FILENO },
						     { out, STDOUT_FILENO })));
}

/* status: as waitpid() stores it. */
static inline void expect_end(pid_t child, int status)
{
	int got = -1;

	EXPECT(sennit_process_wait(child, &got, SENNIT_NEVER) == 0);
	EXPECT(got == status);
	EXPECT(sennit_process_wait(child, &got, SENNIT_NEVER) == -ECHILD);
}

#define EXITED(status) ((status) << 8) /* as waitpid() stores it */

#endif
