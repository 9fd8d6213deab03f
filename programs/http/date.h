/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - dates of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT". */
#ifndef APPS_HTTP_DATE_H
#define APPS_HTTP_DATE_H

#include "http/head.h"

#include <time.h>

/* Bytes of a date, and the zero behind it. */
#define HTTP_DATE_SIZE 30

/* Write the date at *to, which has room for HTTP_DATE_SIZE bytes. */
void http_date_write(char *to, time_t time);

/* Read a date into *time. False: it is none of this form. The two older forms,
 * which nobody sends, are not read. */
bool http_date_read(struct http_text text, time_t *time);

/* The present second as a date, made once a second in each thread. Valid until
 * the fiber waits. */
const char *http_date_now(void);

#endif
