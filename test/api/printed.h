/* SPDX-License-Identifier: Apache-2.0 */
/* printed.h - the text that a scheduler prints about itself. */
#ifndef SN_TEST_PRINTED_H
#define SN_TEST_PRINTED_H

#include "../words.h"
#include "sennit.h"

/* The text must fit into a pipe's buffer. */
static inline const char *printed(void (*print)(sennit_scheduler *s, int fd),
				  sennit_scheduler *s, char *text, size_t size)
{
	int words;
	int in = open_pipe(&words);

	print(s, in);
	close(in);
	read_words(words, text, size);
	return text;
}

static inline const char *printed_report(sennit_scheduler *s, char *text,
					 size_t size)
{
	return printed(sennit_scheduler_print_report, s, text, size);
}

#endif
