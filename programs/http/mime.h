/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - what a file is, by the end of its name. */
#ifndef APPS_HTTP_MIME_H
#define APPS_HTTP_MIME_H

/* The media type, for Content-Type; application/octet-stream if not known. */
const char *http_mime_type(const char *path);

#endif
