/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - an access log in the Combined Log Format. No worker and no connection
 * waits for it: each thread has a buffer, which a fiber of its own writes out.
 * When the disc is too slow for that, lines are dropped and counted.
 */
#ifndef APPS_HTTP_LOG_H
#define APPS_HTTP_LOG_H

#include "http/head.h"

#include <sys/socket.h>

/* Open the log for appending; "-" is standard output. Returns 0 or a negative
 * errno. Before there are threads. */
int http_log_open(const char *path);

/* Whether it is open. */
bool http_log_on(void);

/* Add a line: what a request was answered with. h: of a request that could be
 * parsed, or NULL. From a fiber. Does not wait. */
void http_log_add(const struct sockaddr *peer, const struct http_head *h,
		  int status, uint64_t bytes);

/* Lines that were dropped. From any thread. */
uint64_t http_log_dropped(void);

/* Free the buffers and close the log. After all fibers have ended. */
void http_log_close(void);

#endif
