/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - text that tests read, and what a report prints. */
#ifndef SN_TEST_WORDS_H
#define SN_TEST_WORDS_H

#include "sennit.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- words ------------------------------------------------------------- */

/* Reads what is written into a pipe, as text. */

/* Returns the end to write to. *out becomes the end to read from. */
static inline int open_pipe(int *out)
{
	int ends[2];

	if (pipe(ends)) {
		perror("pipe");
		abort();
	}
	*out = ends[0];
	return ends[1];
}

/* Read until all writers have closed the pipe, then close it. */
static inline void read_words(int from, char *text, size_t size)
{
	size_t  length = 0;
	ssize_t n;

	while ((n = read(from, text + length, size - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(from);
}

/* --- printed ----------------------------------------------------------- */

/* The text that a scheduler prints about itself. */

/* The text must fit into a pipe's buffer. */
static inline const char *printed(int (*print)(sennit_scheduler *s, int fd),
				  sennit_scheduler *s, char *text, size_t size)
{
	int words;
	int in = open_pipe(&words);

	if (print(s, in)) {
		fprintf(stderr, "a print failed\n");
		abort();
	}
	close(in);
	read_words(words, text, size);
	return text;
}

static inline const char *printed_report(sennit_scheduler *s, char *text,
					 size_t size)
{
	return printed(sennit_report_print, s, text, size);
}

#endif
