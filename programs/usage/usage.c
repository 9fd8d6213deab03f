/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - messages and numbers of a command line. */
#include "usage/usage.h"

#include <stdio.h>
#include <stdlib.h>

bool usage_wrong(const char *program, const char *what, const char *which)
{
	fprintf(stderr, "%s: %s%s\nTry '%s --help'.\n", program, what, which,
		program);
	return false;
}

bool usage_help(const char *help)
{
	fputs(help, stdout);
	return !fflush(stdout);
}

bool usage_number_at(const char **text, char end, uint32_t least, uint32_t most,
		     uint32_t *out)
{
	char         *behind;
	unsigned long n = strtoul(*text, &behind, 10);

	if (**text < '0' || **text > '9' || *behind != end || n < least ||
	    n > most)
		return false;
	*out = (uint32_t)n;
	*text = behind + 1;
	return true;
}

bool usage_number(const char *text, uint32_t least, uint32_t most,
		  uint32_t *out)
{
	return usage_number_at(&text, '\0', least, most, out);
}
