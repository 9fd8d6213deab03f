/* SPDX-License-Identifier: Apache-2.0 */
/* method.h - the methods that are known. */
#ifndef APPS_HTTP_METHOD_H
#define APPS_HTTP_METHOD_H

#include <sennit/http.h>

/* Report whether the method is registered. Others are answered with 501. */
bool http_method_is_known(sennit_http_text method);

#endif
