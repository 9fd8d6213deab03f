/* SPDX-License-Identifier: Apache-2.0 */
#include "http/option.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t http_option_number(const char *program, const char *text,
			    uint64_t least, uint64_t most)
{
	char              *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (end != text && !*end && text[0] != '-' && value >= least &&
	    value <= most)
		return value;
	fprintf(stderr, "%s: %s: not a number from %llu to %llu\n", program,
		text, (unsigned long long)least, (unsigned long long)most);
	exit(2);
}

uint64_t http_option_seconds(const char *program, const char *text)
{
	char  *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value >= 0 && value <= 1e9)
		return (uint64_t)(value * 1e9);
	fprintf(stderr, "%s: %s: not a number of seconds\n", program, text);
	exit(2);
}
