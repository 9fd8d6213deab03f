/* SPDX-License-Identifier: Apache-2.0 */
#include "http/method.h"

/* Those that IANA lists, and PURGE, NOTIFY and SUBSCRIBE, which are in use. */
static const char *const methods[] = {
	"GET",
	"HEAD",
	"POST",
	"PUT",
	"DELETE",
	"OPTIONS",
	"PATCH",
	"CONNECT",
	"TRACE",
	"ACL",
	"BASELINE-CONTROL",
	"BIND",
	"CHECKIN",
	"CHECKOUT",
	"COPY",
	"LABEL",
	"LINK",
	"LOCK",
	"MERGE",
	"MKACTIVITY",
	"MKCALENDAR",
	"MKCOL",
	"MKREDIRECTREF",
	"MKWORKSPACE",
	"MOVE",
	"ORDERPATCH",
	"PROPFIND",
	"PROPPATCH",
	"QUERY",
	"REBIND",
	"REPORT",
	"SEARCH",
	"UNBIND",
	"UNCHECKOUT",
	"UNLINK",
	"UNLOCK",
	"UPDATE",
	"UPDATEREDIRECTREF",
	"VERSION-CONTROL",
	"PURGE",
	"NOTIFY",
	"SUBSCRIBE",
	"UNSUBSCRIBE",
	"M-SEARCH",
	"SOURCE",
};

bool http_method_is_known(sennit_http_text method)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (sennit_http_text_is(method, methods[i]))
			return true;
	return false;
}
