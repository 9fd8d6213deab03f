/* SPDX-License-Identifier: Apache-2.0 */
#include "http/select.h"

#include <string.h>
#include <strings.h>

/* --- conditions --------------------------------------------------------- */

/* Report whether a list of tags has this one. Weak tags match only for
 * If-None-Match of GET and HEAD. Our tags contain no commas, so a tag with a
 * comma does not match, and its condition is not met. */
static bool has_tag(sennit_http_text list, const char *tag, bool weakly)
{
	char weak[128] = "W/";

	if (sennit_http_text_is(list, "*") || sennit_http_text_lists(list, tag))
		return true;
	strncat(weak, tag, sizeof(weak) - 3);
	return weakly && sennit_http_text_lists(list, weak);
}

static bool is_before(sennit_http_text date, time_t modified)
{
	time_t time;

	return !sennit_http_read_date(date, &time) && time < modified;
}

static bool is_since(sennit_http_text date, time_t modified)
{
	time_t time;

	return !sennit_http_read_date(date, &time) && modified <= time;
}

static int check_conditions(const sennit_http_head    *h,
			    const struct http_variant *v)
{
	const sennit_http_text match = sennit_http_find(h, "if-match");
	const sennit_http_text unmodified =
		sennit_http_find(h, "if-unmodified-since");
	const sennit_http_text none_match = sennit_http_find(h,
							     "if-none-match");
	const sennit_http_text since = sennit_http_find(h, "if-modified-since");

	if (match.at) {
		if (!has_tag(match, v->tag, false))
			return 412;
	} else if (unmodified.at && is_before(unmodified, v->modified)) {
		return 412;
	}
	if (none_match.at)
		return has_tag(none_match, v->tag, true) ? 304 : 200;
	if (since.at && is_since(since, v->modified))
		return 304;
	return 200;
}

/* --- ranges ------------------------------------------------------------- */

/* A date in If-Range counts only if it is exactly the one that was sent. */
static bool range_applies(const sennit_http_head    *h,
			  const struct http_variant *v)
{
	const sennit_http_text condition = sennit_http_find(h, "if-range");
	time_t                 time;

	if (!sennit_http_text_is(h->method, "GET") ||
	    !sennit_http_find(h, "range").at)
		return false;
	if (!condition.at || sennit_http_text_is(condition, v->tag))
		return true;
	return !sennit_http_read_date(condition, &time) && time == v->modified;
}

/* Read digits at *at and move *at past them. Returns false if there are none,
 * or too many. */
static bool read_number(const char **at, const char *end, uint64_t *value)
{
	const char *start = *at;

	*value = 0;
	for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
		if (*value > UINT64_MAX / 16)
			return false;
		*value = *value * 10 + (uint64_t)(**at - '0');
	}
	return *at > start;
}

/* Select the last `count` bytes. */
static int select_last(uint64_t count, uint64_t size, struct http_range *range)
{
	if (!count || !size)
		return 416;
	range->count = count < size ? count : size;
	range->first = size - range->count;
	return 206;
}

/* Parse "bytes=first-last", "bytes=first-", "bytes=-count"; returns 200 for
 * anything else. */
static int select_range(sennit_http_text text, uint64_t size,
			struct http_range *range)
{
	const char *at = text.at;
	const char *end = at + text.size;
	uint64_t    first, last = UINT64_MAX;
	bool        from;

	if (text.size < 6 || strncasecmp(at, "bytes=", 6) != 0)
		return 200;
	at += 6;
	from = read_number(&at, end, &first);
	if (at == end || *at++ != '-')
		return 200;
	if (at < end && !read_number(&at, end, &last))
		return 200;
	if (at != end || (!from && last == UINT64_MAX) || last < first)
		return 200;
	if (!from)
		return select_last(last, size, range);
	if (first >= size)
		return 416;
	range->first = first;
	range->count = (last < size ? last : size - 1) - first + 1;
	return 206;
}

int http_select(const sennit_http_head *h, const struct http_variant *v,
		struct http_range *range)
{
	int status = check_conditions(h, v);

	*range = (struct http_range){ 0, v->size };
	if (status != 200 || !range_applies(h, v))
		return status;
	return select_range(sennit_http_find(h, "range"), v->size, range);
}
