/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - what may stand in a Host field. */
#ifndef APPS_HTTP_HOST_H
#define APPS_HTTP_HOST_H

#include "http/head.h"

/* Whether the text is a name or an address, and perhaps ":port", as RFC 3986
 * writes them. "" is a name. */
bool http_host_is_valid(struct http_text host);

#endif
