/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - what a status code means, in words. */
#ifndef APPS_HTTP_REASON_H
#define APPS_HTTP_REASON_H

/* The reason phrase of a status line; "Unknown" for a code that has none. */
const char *http_reason(int status);

#endif
