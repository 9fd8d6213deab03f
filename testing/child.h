/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - runs a part of a test in a child process.
 *
 *	child = begin_child();
 *	if (!child)
 *		_exit(live(...));
 *	status = await_child(child);
 *
 * A child leaves no core file, and SIGALRM ends one that hangs. If the parent
 * has threads, the child may only do what is allowed after such a fork.
 */
#ifndef SN_TEST_CHILD_H
#define SN_TEST_CHILD_H

#include "test.h"

#include "words.h"

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

/* The exit status of a child, or of a test, that this machine does not support.
 */
enum { SKIPPED = 77 };

/* Returns 0 in the child. */
static inline pid_t begin_child(void)
{
	const struct rlimit no_core = { 0, 0 };
	pid_t               child;

	fflush(NULL);
	child = fork();
	if (child < 0) {
		perror("fork");
		abort();
	}
	if (!child) {
		alarm(300);
		setrlimit(RLIMIT_CORE, &no_core);
	}
	return child;
}

/* The same; await_words returns what the child writes to stderr. */
static inline pid_t begin_heard_child(int *words)
{
	const int   in = open_pipe(words);
	const pid_t child = begin_child();

	if (!child) {
		dup2(in, STDERR_FILENO);
		close(*words);
	}
	close(in);
	return child;
}

/* Returns the status of waitpid. */
static inline int await_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child) {
		perror("waitpid");
		abort();
	}
	return status;
}

static inline int await_words(pid_t child, int words, char *text, size_t size)
{
	read_words(words, text, size);
	return await_child(child);
}

static inline void skip_if_told(int status, const char *why)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status) != SKIPPED)
		return;
	print_message("%s\n", why);
	skip();
}

#endif
