/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - parses the target of a request: a server, and a path below a
 * folder. */
#ifndef APPS_HTTP_TARGET_H
#define APPS_HTTP_TARGET_H

#include <sennit/http.h>

/* The size of a path with its terminating zero. */
#define HTTP_PATH_MAX 1024

/* Remove "http://host" or "https://host", which a client may send, from the
 * front of the target. Returns the host with its port; `at` is NULL if there is
 * none. The rest may be empty, or begin with the query. */
sennit_http_text http_target_authority(sennit_http_text *target);

/* Write the path of the target to `to`, which has room for HTTP_PATH_MAX bytes:
 * decoded, without a leading slash, without empty segments and ".". "" is the
 * folder itself, and a slash at the end stays. Accepts "/path?query" and
 * "http://host/path?query".
 * Returns 0, or a status code: 400 for an invalid path, a "..", a zero byte or
 * a slash that is written as %2F; 404 for a segment that begins with a dot,
 * except .well-known; 414. */
int http_target_path(char *to, sennit_http_text target);

/* Write the path to `to` as in a URL: bytes that are not allowed there become
 * %xx. Returns false if it does not fit into `size` bytes with the terminating
 * zero. */
bool http_target_escape(char *to, size_t size, const char *path);

#endif
