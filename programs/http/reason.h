/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - reason phrases of status codes. */
#ifndef APPS_HTTP_REASON_H
#define APPS_HTTP_REASON_H

/* Return the reason phrase of a status line; "Unknown" for a code that has
 * none. */
const char *http_reason(int status);

#endif
