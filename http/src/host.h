/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - the host of a request: the Host field, or a part of the target. */
#ifndef SN_HTTP_HOST_H
#define SN_HTTP_HOST_H

#include "sennit/http.h"

/* Report whether the text is a name or an address as in RFC 3986, optionally
 * with ":port". "" is a name. */
bool sn_http_host_is_valid(sennit_http_text host);

/* Return the host of a target "http://host/path" or "https://host/path", with
 * its port; `at` is NULL if the target has none. */
sennit_http_text sn_http_host_of(sennit_http_text target);

#endif
