/* SPDX-License-Identifier: Apache-2.0 */
/* head.c - the heads of messages. */
#include "head.h"

#include "host.h"

#include <string.h>
#include <strings.h>

/* --- texts -------------------------------------------------------------- */

bool sennit_http_text_is(sennit_http_text text, const char *other)
{
	return text.at && strlen(other) == text.size &&
	       !strncasecmp(text.at, other, text.size);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static sennit_http_text trim(const char *at, size_t size)
{
	while (size && is_blank(*at)) {
		at++;
		size--;
	}
	while (size && is_blank(at[size - 1]))
		size--;
	return (sennit_http_text){ at, size };
}

bool sennit_http_text_lists(sennit_http_text list, const char *member)
{
	const char *at = list.at;
	const char *end = at ? at + list.size : NULL;

	while (at) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;

		if (sennit_http_text_is(trim(at, (size_t)(stop - at)), member))
			return true;
		at = comma ? comma + 1 : NULL;
	}
	return false;
}

static bool is_letter_or_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

bool sn_http_is_token(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!is_letter_or_digit(text[i]) &&
		    (!text[i] || !strchr("!#$%&'*+-.^_`|~", text[i])))
			return false;
	return size;
}

/* Report whether it has a control character other than the tab of a value. */
static bool has_control(sennit_http_text text, bool tab)
{
	for (size_t i = 0; i < text.size; i++)
		if (((unsigned char)text.at[i] < ' ' &&
		     !(tab && text.at[i] == '\t')) ||
		    text.at[i] == 0x7f)
			return true;
	return false;
}

/* --- finding the end ---------------------------------------------------- */

/* Check the line whose '\n' is at `end`. Returns 0 or a status code. */
static int check_line(const struct scan *scan, const char *bytes, size_t end,
		      const struct limits *limits)
{
	if (end == scan->line || bytes[end - 1] != '\r')
		return 400; /* LF without CR */
	if (end - scan->line == 1)
		return scan->lines ? 0 : 400; /* the end; or no first line */
	if (scan->lines && is_blank(bytes[scan->line]))
		return 400; /* folded line */
	return scan->lines > limits->fields ? 431 : 0;
}

long sn_http_head_find(struct scan *scan, const char *bytes, size_t size,
		       const struct limits *limits)
{
	size_t end = size < limits->head ? size : limits->head;

	while (scan->at < end) {
		const char *n = memchr(bytes + scan->at, '\n', end - scan->at);
		size_t      at = n ? (size_t)(n - bytes) : end;
		int         status;

		if (!n) {
			scan->at = end;
			break;
		}
		status = check_line(scan, bytes, at, limits);
		if (status)
			return -status;
		scan->at = at + 1;
		if (at - scan->line == 1)
			return (long)scan->at;
		scan->line = at + 1;
		scan->lines++;
	}
	if (end == limits->head)
		return scan->lines ? -431 : -414;
	return 0;
}

/* --- fields ------------------------------------------------------------- */

/* Fields that say where a message ends or what is done with it, of which two
 * would contradict each other. */
static const char *const single[] = {
	"host",       "content-length",
	"expect",     "transfer-encoding",
	"range",      "if-range",
	"user-agent", "if-modified-since",
	"referer",    "if-unmodified-since",
};

static bool is_single(sennit_http_text name)
{
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		if (sennit_http_text_is(name, single[i]))
			return true;
	return false;
}

sennit_http_text sennit_http_find(const sennit_http_head *h, const char *name)
{
	const size_t size = strlen(name);

	for (uint32_t i = 0; i < h->count; i++)
		if (h->fields[i].name.size == size &&
		    !strncasecmp(h->fields[i].name.at, name, size))
			return h->fields[i].value;
	return (sennit_http_text){ NULL, 0 };
}

static bool occurs_before(const sennit_http_head *h, sennit_http_text name)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (h->fields[i].name.size == name.size &&
		    !strncasecmp(h->fields[i].name.at, name.at, name.size))
			return true;
	return false;
}

/* Parse a line without its end. */
static uint32_t parse_field(struct head *h, const char *line, size_t size)
{
	const char       *colon = memchr(line, ':', size);
	sennit_http_field f;

	if (!colon || !sn_http_is_token(line, (size_t)(colon - line)))
		return 400;
	f.name = (sennit_http_text){ line, (size_t)(colon - line) };
	f.value = trim(colon + 1, size - f.name.size - 1);
	if (has_control(f.value, true) ||
	    (is_single(f.name) && occurs_before(&h->out, f.name)))
		return 400;
	h->fields[h->out.count++] = f;
	return 0;
}

/* Parse the lines from `at` to the empty one, which ends at `end`. */
static uint32_t parse_fields(struct head *h, const char *at, const char *end)
{
	for (;;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		uint32_t    status;

		stop--; /* the CR */
		if (stop == at)
			return 0;
		status = parse_field(h, at, (size_t)(stop - at));
		if (status)
			return status;
		at = stop + 2;
	}
}

/* --- the connection and the body ---------------------------------------- */

/* Several fields Connection count as one list. */
static void find_kept(sennit_http_head *h)
{
	bool close = false, keep = h->minor;

	for (uint32_t i = 0; i < h->count; i++) {
		const sennit_http_field *f = &h->fields[i];

		if (!sennit_http_text_is(f->name, "connection"))
			continue;
		close = close || sennit_http_text_lists(f->value, "close");
		keep = keep || sennit_http_text_lists(f->value, "keep-alive");
	}
	if (keep && !close)
		h->flags |= SENNIT_HTTP_KEPT;
}

static uint32_t parse_length(sennit_http_text text, uint64_t *length)
{
	*length = 0;
	for (size_t i = 0; i < text.size; i++) {
		const unsigned digit = (unsigned char)text.at[i] -
				       (unsigned)'0';

		if (digit > 9 || *length > (UINT64_MAX - 1 - digit) / 10)
			return 400;
		*length = *length * 10 + digit;
	}
	return text.size ? 0 : 400;
}

/* Whether "chunked" is the last coding. Otherwise the end of the body is not
 * known. */
static bool ends_with_chunked(sennit_http_text list)
{
	size_t at = list.size;

	while (at && list.at[at - 1] != ',')
		at--;
	return sennit_http_text_is(trim(list.at + at, list.size - at),
				   "chunked");
}

static uint32_t find_framing(struct head *h)
{
	const sennit_http_text length = sennit_http_find(&h->out,
							 "content-length");
	const sennit_http_text coding = sennit_http_find(&h->out,
							 "transfer-encoding");

	h->out.length = h->is_answer ? SENNIT_HTTP_UNKNOWN : 0;
	if (!coding.at)
		return length.at ? parse_length(length, &h->out.length) : 0;
	if (length.at || !h->out.minor)
		return 400;
	if (!sennit_http_text_is(coding, "chunked"))
		return ends_with_chunked(coding) ? 501 : 400;
	h->out.flags |= SENNIT_HTTP_CHUNKED;
	h->out.length = SENNIT_HTTP_UNKNOWN;
	return 0;
}

/* --- the first line ----------------------------------------------------- */

/* Parse "HTTP/1.x". Returns 0 or a status code. */
static uint32_t parse_version(sennit_http_head *h, const char *at, size_t size)
{
	if (size != 8 || memcmp(at, "HTTP/", 5) != 0 || at[5] < '0' ||
	    at[5] > '9' || at[6] != '.' || at[7] < '0' || at[7] > '9')
		return 400;
	if (at[5] != '1')
		return 505;
	h->minor = (uint32_t)(at[7] - '0');
	return 0;
}

static bool is_method(sennit_http_text text)
{
	for (size_t i = 0; i < text.size; i++)
		if ((text.at[i] < 'A' || text.at[i] > 'Z') && text.at[i] != '-')
			return false;
	return text.size;
}

/* Report whether it has one of the four forms of RFC 9112, 3.2. */
static bool is_target(const sennit_http_head *h)
{
	const sennit_http_text t = h->target;
	size_t                 i = 0;

	if (!t.size || has_control(t, false))
		return false;
	if (t.at[0] == '/' || sennit_http_text_is(h->method, "CONNECT") ||
	    sennit_http_text_is(t, "*"))
		return true;
	while (i < t.size && is_letter_or_digit(t.at[i]))
		i++;
	return i && t.size - i >= 3 && !memcmp(t.at + i, "://", 3);
}

/* Split "method target version" into its parts. There must be no other
 * blank. */
static uint32_t parse_request_line(sennit_http_head *h)
{
	const char *at = h->line.at, *end = at + h->line.size;
	const char *first = memchr(at, ' ', h->line.size), *second = NULL;

	if (first)
		second = memchr(first + 1, ' ', (size_t)(end - first - 1));
	if (!second)
		return 400;
	h->method = (sennit_http_text){ at, (size_t)(first - at) };
	h->target = (sennit_http_text){ first + 1,
					(size_t)(second - first - 1) };
	if (!is_method(h->method) || !is_target(h))
		return 400;
	return parse_version(h, second + 1, (size_t)(end - second - 1));
}

static uint32_t parse_status_line(sennit_http_head *h)
{
	const char  *at = h->line.at;
	const size_t size = h->line.size;
	uint32_t     status;

	if (size < 12 || at[8] != ' ' || (size > 12 && at[12] != ' '))
		return 400;
	status = parse_version(h, at, 8);
	if (status)
		return status;
	for (int i = 9; i < 12; i++) {
		if (at[i] < '0' || at[i] > '9')
			return 400;
		h->status = h->status * 10 + (uint32_t)(at[i] - '0');
	}
	h->reason = (sennit_http_text){ at + 12, 0 };
	if (size > 13)
		h->reason = (sennit_http_text){ at + 13, size - 13 };
	return h->status < 100 || has_control(h->reason, true) ? 400 : 0;
}

/* The host of an absolute target replaces the Host field (RFC 9112, 3.2.2). */
static uint32_t find_host(sennit_http_head *h)
{
	const sennit_http_text of_target = sn_http_host_of(h->target);

	h->host = sennit_http_find(h, "host");
	if (h->minor && !h->host.at)
		return 400;
	if (h->host.at && !sn_http_host_is_valid(h->host))
		return 400;
	if (!of_target.at)
		return 0;
	h->host = of_target;
	return of_target.size && sn_http_host_is_valid(of_target) ? 0 : 400;
}

/* --- parsing ------------------------------------------------------------ */

void sn_http_head_clear(struct head *h, const char *bytes, size_t size)
{
	static const char head[] = "HEAD ";

	h->out = (sennit_http_head){ .fields = h->fields, .minor = 1 };
	h->expect = (sennit_http_text){ NULL, 0 };
	if (size >= 5 && !memcmp(bytes, head, 5))
		h->out.method = (sennit_http_text){ bytes, 4 };
}

uint32_t sn_http_head_parse(struct head *h, const char *bytes, size_t size)
{
	const char *end = memchr(bytes, '\r', size);
	uint32_t    status;

	h->size = size;
	h->out = (sennit_http_head){ .fields = h->fields };
	h->out.line = (sennit_http_text){ bytes, (size_t)(end - bytes) };
	if (end[1] != '\n')
		return 400;
	status = h->is_answer ? parse_status_line(&h->out)
			      : parse_request_line(&h->out);
	if (!status)
		status = parse_fields(h, end + 2, bytes + size);
	if (!status)
		status = find_framing(h);
	if (!status && !h->is_answer)
		status = find_host(&h->out);
	if (status)
		return status;
	find_kept(&h->out);
	h->expect = sennit_http_find(&h->out, "expect");
	return 0;
}

static void move_text(sennit_http_text *text, size_t by)
{
	if (text->at)
		text->at -= by;
}

void sn_http_head_move(struct head *h, size_t by)
{
	sennit_http_text *texts[] = { &h->out.line,   &h->out.method,
				      &h->out.target, &h->out.host,
				      &h->out.reason, &h->expect };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		move_text(texts[i], by);
	for (uint32_t i = 0; i < h->out.count; i++) {
		move_text(&h->fields[i].name, by);
		move_text(&h->fields[i].value, by);
	}
}
