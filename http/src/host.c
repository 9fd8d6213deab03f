/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the host of a request. */
#include "host.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Report whether it is an unreserved character or sub-delim of RFC 3986. */
static bool is_plain_in_host(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c && strchr("-._~!$&'()*+,;=", c));
}

/* Return the number of bytes of the name at the beginning. A "%" needs two
 * digits. */
static size_t size_of_name(sennit_http_text t)
{
	size_t i = 0;

	while (i < t.size) {
		if (is_plain_in_host(t.at[i]))
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
static size_t size_of_literal(sennit_http_text t)
{
	size_t i = 1;

	while (i < t.size && (is_plain_in_host(t.at[i]) || t.at[i] == ':'))
		i++;
	return i > 1 && i < t.size && t.at[i] == ']' ? i + 1 : 0;
}

bool sn_http_host_is_valid(sennit_http_text host)
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

sennit_http_text sn_http_host_of(sennit_http_text target)
{
	sennit_http_text host = { NULL, 0 };
	size_t           at = 7;

	if (target.size >= 8 && !strncasecmp(target.at, "https://", 8))
		at = 8;
	else if (target.size < at || strncasecmp(target.at, "http://", at) != 0)
		return host;
	host.at = target.at + at;
	while (at + host.size < target.size &&
	       !strchr("/?#", host.at[host.size]))
		host.size++;
	return host;
}
