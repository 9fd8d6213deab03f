/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - validates Host fields. */
#ifndef APPS_HTTP_HOST_H
#define APPS_HTTP_HOST_H

#include "http/head.h"

/* Report whether the text is a name or an address as in RFC 3986, optionally
 * with ":port". "" is a name. */
bool http_host_is_valid(struct http_text host);

#endif
