/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - HTTP dates: "Sun, 06 Nov 1994 08:49:37 GMT". */
#ifndef APPS_HTTP_DATE_H
#define APPS_HTTP_DATE_H

#include "http/head.h"

#include <time.h>

/* The size of a date with the terminating zero. */
#define HTTP_DATE_SIZE 30

/* Write the date to *to, which has room for HTTP_DATE_SIZE bytes. */
void http_date_write(char *to, time_t time);

/* Read a date into *time. Returns false if it does not have this form. The two
 * older forms are obsolete and are not read. */
bool http_date_read(struct http_text text, time_t *time);

/* Return the current second as a date. Each thread makes it once a second.
 * Valid until the fiber waits. */
const char *http_date_now(void);

#endif
