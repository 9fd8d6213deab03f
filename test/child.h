/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a part of a test that has a process of its own.
 *
 *	child = begin_child();
 *	if (!child)
 *		_exit(live(...));
 *	status = await_child(child);
 *
 * It leaves no core, and SIGALRM ends one that hangs. Where the parent has
 * threads, the child may do only what it may after such a fork.
 */
#ifndef SN_TEST_CHILD_H
#define SN_TEST_CHILD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "words.h"

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

/* The exit status of a child, or of a test, for which the machine is not made.
 */
enum { SKIPPED = 77 };

/* 0: we are the child. */
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

/* The same; what the child says on stderr is for await_words. */
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

/* How it ended, as waitpid has it. */
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
