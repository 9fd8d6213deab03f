/* SPDX-License-Identifier: Apache-2.0 */
#include "http/target.h"

#include <string.h>
#include <strings.h>

sennit_http_text http_target_authority(sennit_http_text *target)
{
	sennit_http_text authority = { NULL, 0 };
	size_t           size = 7;

	if (target->size >= 8 && !strncasecmp(target->at, "https://", 8))
		size = 8;
	else if (target->size < size ||
		 strncasecmp(target->at, "http://", size) != 0)
		return authority;
	authority.at = target->at + size;
	while (size + authority.size < target->size &&
	       !strchr("/?#", authority.at[authority.size]))
		authority.size++;
	target->at = authority.at + authority.size;
	target->size -= size + authority.size;
	return authority;
}

static sennit_http_text without_query(sennit_http_text t)
{
	const char *query = memchr(t.at, '?', t.size);
	const char *fragment = memchr(t.at, '#', t.size);

	if (query)
		t.size = (size_t)(query - t.at);
	if (fragment && (size_t)(fragment - t.at) < t.size)
		t.size = (size_t)(fragment - t.at);
	return t;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Return the byte at *i and move *i past it; -1: invalid. */
static int next_byte(sennit_http_text t, size_t *i)
{
	int high, low;

	if (t.at[*i] != '%')
		return (unsigned char)t.at[(*i)++];
	if (t.size - *i < 3)
		return -1;
	high = hex(t.at[*i + 1]);
	low = hex(t.at[*i + 2]);
	*i += 3;
	if (high < 0 || low < 0 || high * 16 + low == '/')
		return -1;
	return high * 16 + low;
}

/* A complete segment is at to[start..end-1]. Returns where the next one begins,
 * or a negative status code. */
static long end_segment(char *to, size_t start, size_t end)
{
	const char  *s = to + start;
	const size_t size = end - start;

	if (!size || (size == 1 && s[0] == '.'))
		return (long)start;
	if (size == 2 && s[0] == '.' && s[1] == '.')
		return -400;
	if (s[0] == '.' && (size != 11 || memcmp(s, ".well-known", 11) != 0))
		return -404;
	to[end] = '/';
	return (long)end + 1;
}

static int decode(char *to, sennit_http_text t)
{
	size_t start = 0, end = 0;

	for (size_t i = 1; i < t.size;) {
		bool slash = t.at[i] == '/';
		int  c = next_byte(t, &i);
		long next;

		if (c <= 0)
			return 400;
		if (end + 2 > HTTP_PATH_MAX - 1)
			return 414;
		if (!slash) {
			to[end++] = (char)c;
			continue;
		}
		next = end_segment(to, start, end);
		if (next < 0)
			return (int)-next;
		start = end = (size_t)next;
	}
	if (end > start) {
		long next = end_segment(to, start, end);

		if (next < 0)
			return (int)-next;
		end = next > (long)start ? end : start;
	}
	to[end] = '\0';
	return 0;
}

int http_target_path(char *to, sennit_http_text target)
{
	bool             absolute = http_target_authority(&target).at;
	sennit_http_text t = without_query(target);

	if (absolute && !t.size)
		t = (sennit_http_text){ "/", 1 };
	if (!t.size || t.at[0] != '/')
		return 400;
	return decode(to, t);
}

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c && strchr("/-._~!$&'()*+,;=@", c));
}

bool http_target_escape(char *to, size_t size, const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t            n = 0;

	for (; *path; path++) {
		if (n + 4 > size)
			return false;
		if (is_plain(*path)) {
			to[n++] = *path;
			continue;
		}
		to[n++] = '%';
		to[n++] = digits[(unsigned char)*path >> 4];
		to[n++] = digits[(unsigned char)*path & 15];
	}
	if (n >= size)
		return false;
	to[n] = '\0';
	return true;
}
