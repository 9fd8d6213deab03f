/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - media types by file name extension. */
#ifndef APPS_HTTP_MIME_H
#define APPS_HTTP_MIME_H

/* Return the media type for Content-Type; application/octet-stream if it is not
 * known. */
const char *http_mime_type(const char *path);

#endif
