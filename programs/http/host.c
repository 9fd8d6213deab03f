/* SPDX-License-Identifier: Apache-2.0 */
#include "http/host.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Report whether it is an unreserved character or sub-delim of RFC 3986. */
static bool is_plain(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c && strchr("-._~!$&'()*+,;=", c));
}

/* Return the number of bytes of the name at the beginning. A "%" needs two
 * digits. */
static size_t size_of_name(struct http_text t)
{
	size_t i = 0;

	while (i < t.size) {
		if (is_plain(t.at[i]))
			i++;
		else if (t.at[i] == '%' && t.size - i >= 3 &&
			 is_hex(t.at[i + 1]) && is_hex(t.at[i + 2]))
			i += 3;
		else
			break;
	}
	return i;
}

/* Return the number of bytes of the "[address]" at the beginning, or 0. */
static size_t size_of_literal(struct http_text t)
{
	size_t i = 1;

	while (i < t.size && (is_plain(t.at[i]) || t.at[i] == ':'))
		i++;
	return i > 1 && i < t.size && t.at[i] == ']' ? i + 1 : 0;
}

bool http_host_is_valid(struct http_text host)
{
	bool   literal = host.size && host.at[0] == '[';
	size_t i = literal ? size_of_literal(host) : size_of_name(host);

	if ((literal && !i) || (i < host.size && host.at[i] != ':'))
		return false;
	for (i++; i < host.size; i++)
		if (!is_digit(host.at[i]))
			return false;
	return true;
}
