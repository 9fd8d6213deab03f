/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - numbers on the command line. An invalid one ends the program with
 * a message and status 2. */
#ifndef APPS_HTTP_OPTION_H
#define APPS_HTTP_OPTION_H

#include <stdint.h>

uint64_t http_option_number(const char *program, const char *text,
			    uint64_t least, uint64_t most);

/* Parse seconds, with or without a decimal point, into nanoseconds. */
uint64_t http_option_seconds(const char *program, const char *text);

#endif
