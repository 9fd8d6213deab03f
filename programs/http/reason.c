/* SPDX-License-Identifier: Apache-2.0 */
#include "http/reason.h"

#include <http_parser.h>

const char *http_reason(int status)
{
	switch (status) {
#define REASON(number, name, text) \
	case number:               \
		return #text;
		HTTP_STATUS_MAP(REASON)
#undef REASON
	default:
		return "Unknown";
	}
}
