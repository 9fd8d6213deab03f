/* SPDX-License-Identifier: Apache-2.0 */
#include "again.h"

#include <stdlib.h>
#include <string.h>

#define OFFENCE "SENNIT_TEST_OFFENCE"

static const char *program, *test;

/* In again.js. Runs node with this file of a program and two arguments. Returns
 * its exit status; `text` becomes what it writes to standard error. */
int run_node(const char *file, const char *name, const char *offence,
	     char *text, size_t size);

void note_arguments(int argc, char **argv)
{
	program = argv[0];
	test = argc > 1 ? argv[1] : "";
	if (argc > 2)
		setenv(OFFENCE, argv[2], 1);
}

uint32_t run_program_again(const char *arguments, char *text, size_t size)
{
	(void)arguments;
	return (uint32_t)run_node(program, test, getenv(OFFENCE), text, size);
}

void drop_system_words(char *text)
{
	char *words = strstr(text, "\nAborted(");

	if (words)
		words[1] = '\0';
}
