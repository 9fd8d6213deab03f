/* SPDX-License-Identifier: Apache-2.0 */
#include "http/select.h"

#include "http/date.h"

#include <http_parser.h>
#include <string.h>
#include <strings.h>

/* --- conditions --------------------------------------------------------- */

/* Report whether a list of tags has this one. Weak tags match only for
 * If-None-Match of GET and HEAD. Our tags contain no commas, so a tag with a
 * comma does not match, and its condition is not met. */
static bool has_tag(struct http_text list, const char *tag, bool weakly)
{
	char weak[128] = "W/";

	if (http_text_is(list, "*") || http_text_lists(list, tag))
		return true;
	strncat(weak, tag, sizeof(weak) - 3);
	return weakly && http_text_lists(list, weak);
}

static bool is_before(struct http_text date, time_t modified)
{
	time_t time;

	return http_date_read(date, &time) && time < modified;
}

static bool is_since(struct http_text date, time_t modified)
{
	time_t time;

	return http_date_read(date, &time) && modified <= time;
}

static int check_conditions(const struct http_head    *h,
			    const struct http_variant *v)
{
	const struct http_text *k = h->known;

	if (k[HTTP_IF_MATCH].at) {
		if (!has_tag(k[HTTP_IF_MATCH], v->tag, false))
			return 412;
	} else if (k[HTTP_IF_UNMODIFIED_SINCE].at &&
		   is_before(k[HTTP_IF_UNMODIFIED_SINCE], v->modified)) {
		return 412;
	}
	if (k[HTTP_IF_NONE_MATCH].at)
		return has_tag(k[HTTP_IF_NONE_MATCH], v->tag, true) ? 304 : 200;
	if (k[HTTP_IF_MODIFIED_SINCE].at &&
	    is_since(k[HTTP_IF_MODIFIED_SINCE], v->modified))
		return 304;
	return 200;
}

/* --- ranges ------------------------------------------------------------- */

/* A date in If-Range counts only if it is exactly the one that was sent. */
static bool range_applies(const struct http_head    *h,
			  const struct http_variant *v)
{
	struct http_text condition = h->known[HTTP_IF_RANGE];
	time_t           time;

	if (h->method != HTTP_GET || !h->known[HTTP_RANGE].at)
		return false;
	if (!condition.at || http_text_is(condition, v->tag))
		return true;
	return http_date_read(condition, &time) && time == v->modified;
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
static int select_range(struct http_text text, uint64_t size,
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

int http_select(const struct http_head *h, const struct http_variant *v,
		struct http_range *range)
{
	int status = check_conditions(h, v);

	*range = (struct http_range){ 0, v->size };
	if (status != 200 || !range_applies(h, v))
		return status;
	return select_range(h->known[HTTP_RANGE], v->size, range);
}
