/* SPDX-License-Identifier: Apache-2.0 */
/* misuse.h - each misuse aborts the process, with one line that names the call.
 * Each runs in a child.
 *
 * The parent itself starts no thread, so that forking is safe.
 */
#ifndef SN_TEST_MISUSE_H
#define SN_TEST_MISUSE_H

#include "child.h"
#include "offence.h"

/* What the child writes when it aborts. */
#define ABORTED "(aborted)\n"

static pid_t offender; /* in the child */

/* The child leaves its end to its parent, which kills it. Ends of their own
 * take long, or for ever, under tools whose threads sleep in the kernel.
 * Children of its own, of which the parent does not know, end by themselves. */
static inline void tell_abort(int signal_number)
{
	(void)signal_number;
	if (getpid() != offender)
		return; /* abort() then ends it */
	if (write(STDERR_FILENO, ABORTED, strlen(ABORTED)) < 0)
		_exit(3);
	for (;;)
		pause();
}

/* Read until the child has aborted or ended. Returns whether it has aborted.
 */
static inline bool hear_abort(int words, char *text, size_t size)
{
	char   *aborted = NULL;
	size_t  length = 0;
	ssize_t n = 1;

	while (!aborted && n > 0) {
		n = read(words, text + length, size - 1 - length);
		length += n > 0 ? (size_t)n : 0;
		text[length] = '\0';
		aborted = strstr(text, ABORTED);
	}
	close(words);
	if (aborted)
		*aborted = '\0';
	return aborted;
}

/* AddressSanitizer prints a warning first if a thread has left a fiber's stack
 * by exiting, and qemu a line after what aborts in it. */
static inline void drop_tools_words(char *text)
{
	char *emulator = strstr(text, "qemu: uncaught target signal");

	if (emulator)
		*emulator = '\0';
#if defined(SN_ASAN)
	char *words = strstr(text, "sennit: misuse of ");

	if (words)
		memmove(text, words, strlen(words) + 1);
#endif
}

static inline void assert_misuse(const struct world *w, const char *call,
				 void (*commit)(const struct offence *o))
{
	const struct offence o = { .workers = w->workers, .commit = commit };
	char                 text[2048];
	int                  words, status;
	bool                 aborted;
	const pid_t          child = begin_heard_child(&words);

	if (!child) {
		offender = getpid();
		signal(SIGABRT, tell_abort);
		die_of(&o);
	}
	aborted = hear_abort(words, text, sizeof(text));
	if (aborted)
		kill(child, SIGKILL);
	status = await_child(child);
	if (!aborted)
		fail_msg("child ended with %#x, not by abort, saying \"%s\"",
			 (unsigned)status, text);
	drop_tools_words(text);
	assert_says(text, call);
}

#endif
