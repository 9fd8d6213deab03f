/* SPDX-License-Identifier: Apache-2.0 */
/* misuse.h - each misuse ends the process with one line that names the call.
 * Each runs in a child, which aborts.
 *
 * The parent itself starts no thread, so that forking is safe.
 */
#ifndef SN_TEST_MISUSE_H
#define SN_TEST_MISUSE_H

#include "../child.h"
#include "offence.h"

/* qemu-user prints lines of its own when its guest aborts. AddressSanitizer
 * prints a warning first if a thread has left a fiber's stack by exiting. */
static inline void drop_tools_words(char *text)
{
	char *words = strstr(text, "\nqemu:");

	if (words)
		words[1] = '\0';
#if defined(SN_ASAN)
	words = strstr(text, "sennit: misuse of ");
	if (words)
		memmove(text, words, strlen(words) + 1);
#endif
}

static inline void assert_misuse(void **state, const char *call,
				 void (*commit)(const struct offence *o))
{
	const struct world  *w = *state;
	const struct offence o = { .workers = w->workers, .commit = commit };
	char                 text[2048];
	int                  words, status;
	const pid_t          child = begin_heard_child(&words);

	if (!child)
		die_of(&o);
	status = await_words(child, words, text, sizeof(text));
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		fail_msg("child ended with %#x, not by abort, saying \"%s\"",
			 (unsigned)status, text);
	drop_tools_words(text);
	assert_says(text, call);
}

#endif
