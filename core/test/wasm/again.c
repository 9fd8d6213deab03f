/* SPDX-License-Identifier: Apache-2.0 */
#include "again.h"

#include "testing/test.h"

#include <string.h>

/* In again.js. Runs node with this file of a program and its arguments. Returns
 * its exit status; `text` becomes what it writes to standard error. */
int run_node(const char *file, const char *arguments, char *text, size_t size);

uint32_t run_program_again(const char *arguments, char *text, size_t size)
{
	return (uint32_t)run_node(test_argv[0], arguments, text, size);
}

void drop_system_words(char *text)
{
	char *words = strstr(text, "\nAborted(");

	if (words)
		words[1] = '\0';
}
