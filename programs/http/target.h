/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - what the target of a request names: a server, and a path below a
 * folder. */
#ifndef APPS_HTTP_TARGET_H
#define APPS_HTTP_TARGET_H

#include "http/head.h"

/* Bytes of a path, with the zero behind it. */
#define HTTP_PATH_MAX 1024

/* Take "http://host" or "https://host" off the front of the target, as a client
 * may send it. Returns the host, with its port; at: NULL if there is none. What
 * is left may be empty, or begin with the query. */
struct http_text http_target_authority(struct http_text *target);

/* Write the path that the target names to `to`, which has room for
 * HTTP_PATH_MAX bytes, decoded, without a slash in front, without empty
 * segments and "."; "" is the folder itself, and a slash at the end stays.
 * Takes "/path?query" and "http://host/path?query".
 * Returns 0, or the status code to answer: 400 for what is no path, a "..", a
 * zero byte or a slash that is written as %2F; 404 for a segment that begins
 * with a dot, except .well-known; 414. */
int http_target_path(char *to, struct http_text target);

/* Write the path to `to` as it stands in a URL: what may not stand there is
 * written as %xx. Returns false if it does not fit into `size` bytes with the
 * zero behind it. */
bool http_target_escape(char *to, size_t size, const char *path);

#endif
