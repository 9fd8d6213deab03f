/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - an access log in the Combined Log Format. No worker and no connection
 * waits for it: each thread fills a buffer, and a thread of the log writes it.
 * If the disc or a terminal is too slow, lines are dropped and counted.
 */
#ifndef APPS_HTTP_LOG_H
#define APPS_HTTP_LOG_H

#include <sennit/http.h>

#include <sys/socket.h>

/* Open the log for appending; "-" is standard output. Returns 0 or a negative
 * errno value. Call it before other threads start. */
int http_log_open(const char *path);

/* Report whether the log is open. */
bool http_log_on(void);

/* Add the line of a request and its answer. h: the head of a request that could
 * be parsed, or NULL. From a fiber. Does not wait. */
void http_log_add(const struct sockaddr *peer, const sennit_http_head *h,
		  int status, uint64_t bytes);

/* Return the number of lines that were dropped. From any thread. */
uint64_t http_log_dropped(void);

/* Write the rest and close the log. Gives up after a second if the file accepts
 * nothing. Call it after all fibers have ended. */
void http_log_close(void);

#endif
