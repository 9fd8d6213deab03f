/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head.h"

#include "http/host.h"
#include "http/target.h"

#include <http_parser.h>
#include <string.h>
#include <strings.h>

/* --- texts -------------------------------------------------------------- */

bool http_text_is(struct http_text text, const char *other)
{
	return text.at && strlen(other) == text.size &&
	       !strncasecmp(text.at, other, text.size);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct http_text trim(const char *at, size_t size)
{
	while (size && is_blank(*at)) {
		at++;
		size--;
	}
	while (size && is_blank(at[size - 1]))
		size--;
	return (struct http_text){ at, size };
}

bool http_text_lists(struct http_text list, const char *member)
{
	const char *at = list.at;
	const char *end = at ? at + list.size : NULL;

	while (at) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;

		if (http_text_is(trim(at, (size_t)(stop - at)), member))
			return true;
		at = comma ? comma + 1 : NULL;
	}
	return false;
}

/* --- finding the end ---------------------------------------------------- */

/* Check the line whose '\n' is at `end`. Returns 0 or a status code. */
static int check_line(const struct http_scan *scan, const char *bytes,
		      size_t end, const struct http_limits *limits)
{
	if (end == scan->line || bytes[end - 1] != '\r')
		return 400; /* LF without CR */
	if (end - scan->line == 1)
		return scan->lines ? 0 : 400; /* the end; or no first line */
	if (scan->lines && is_blank(bytes[scan->line]))
		return 400; /* folded line */
	return scan->lines > limits->fields ? 431 : 0;
}

long http_head_find(struct http_scan *scan, const char *bytes, size_t size,
		    const struct http_limits *limits)
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

/* --- the library's callbacks -------------------------------------------- */

struct parse {
	struct http_head         *h;
	const struct http_limits *limits;
	int                       status; /* status code of the error */
};

static int fail(struct parse *p, int status)
{
	p->status = status;
	return 1;
}

static int on_target(http_parser *parser, const char *at, size_t size)
{
	struct parse *p = parser->data;

	p->h->target = (struct http_text){ at, size };
	return 0;
}

/* Debian's build of the library accepts spaces in a name. */
static int on_name(http_parser *parser, const char *at, size_t size)
{
	struct parse     *p = parser->data;
	struct http_head *h = p->h;

	if (h->count == p->limits->fields || h->count == HTTP_FIELDS_MAX)
		return fail(p, 431);
	if (at[size] != ':' || memchr(at, ' ', size))
		return fail(p, 400);
	h->fields[h->count++] = (struct http_field){ .name = { at, size } };
	return 0;
}

static int on_value(http_parser *parser, const char *at, size_t size)
{
	struct parse *p = parser->data;

	p->h->fields[p->h->count - 1].value = trim(at, size);
	return 0;
}

static int on_headers(http_parser *parser)
{
	struct parse *p = parser->data;

	p->h->keep_alive = http_should_keep_alive(parser);
	return 0;
}

static const http_parser_settings callbacks = { .on_url = on_target,
						.on_header_field = on_name,
						.on_header_value = on_value,
						.on_headers_complete =
							on_headers };

/* --- fields ------------------------------------------------------------- */

static const char *const known_names[HTTP_KNOWN] = {
	[HTTP_HOST] = "host",
	[HTTP_RANGE] = "range",
	[HTTP_IF_RANGE] = "if-range",
	[HTTP_IF_MATCH] = "if-match",
	[HTTP_IF_NONE_MATCH] = "if-none-match",
	[HTTP_IF_MODIFIED_SINCE] = "if-modified-since",
	[HTTP_IF_UNMODIFIED_SINCE] = "if-unmodified-since",
	[HTTP_EXPECT] = "expect",
	[HTTP_REFERER] = "referer",
	[HTTP_USER_AGENT] = "user-agent",
	[HTTP_CONNECTION] = "connection",
	[HTTP_TRANSFER_ENCODING] = "transfer-encoding",
	[HTTP_CONTENT_LENGTH] = "content-length",
	[HTTP_UPGRADE] = "upgrade"
};

static enum http_known which(struct http_text name)
{
	int first = name.size ? name.at[0] | 0x20 : 0;

	for (unsigned k = 0; k < HTTP_KNOWN; k++)
		if (known_names[k][0] == first &&
		    http_text_is(name, known_names[k]))
			return (enum http_known)k;
	return HTTP_KNOWN;
}

/* Report whether a second field of this name would contradict the first one. */
static bool is_single(enum http_known k)
{
	return k != HTTP_CONNECTION && k != HTTP_IF_MATCH &&
	       k != HTTP_IF_NONE_MATCH && k != HTTP_UPGRADE;
}

/* Find the known fields. Of several only the first is used: a condition that is
 * missed counts as not met, and the library itself has read all fields that
 * concern the connection. */
static int find_known(struct http_head *h)
{
	for (uint32_t i = 0; i < h->count; i++) {
		enum http_known k = which(h->fields[i].name);

		/* The library does not report an empty value. */
		if (!h->fields[i].value.at)
			h->fields[i].value.at = "";
		if (k == HTTP_KNOWN)
			continue;
		if (h->known[k].at && is_single(k))
			return 400;
		if (!h->known[k].at)
			h->known[k] = h->fields[i].value;
	}
	return 0;
}

static int check_framing(struct http_head *h)
{
	const struct http_text coding = h->known[HTTP_TRANSFER_ENCODING];

	if (!coding.at)
		return h->has_length && !h->known[HTTP_CONTENT_LENGTH].size
			       ? 400
			       : 0;
	if (h->has_length || !h->minor)
		return 400;
	if (!http_text_is(coding, "chunked"))
		return 501;
	h->chunked = true;
	return 0;
}

/* --- the first line ----------------------------------------------------- */

static int check_request_line(const struct http_head *h)
{
	static const char version[] = " HTTP/1.x";
	const char       *end = h->line.at + h->line.size;
	size_t            size = sizeof(version) - 1;

	if (!h->target.at || h->target.at[-1] != ' ' ||
	    h->target.at[-2] == ' ' ||
	    h->target.at + h->target.size + size != end ||
	    memcmp(end - size, version, size - 1) != 0)
		return 400;
	return 0;
}

/* Debian's build of the library accepts tabs. */
static bool has_control(struct http_text text)
{
	for (size_t i = 0; i < text.size; i++)
		if ((unsigned char)text.at[i] <= ' ' || text.at[i] == 0x7f)
			return true;
	return false;
}

/* The host of an absolute target replaces the Host field (RFC 9112, 3.2.2). */
static int check_host(struct http_head *h)
{
	struct http_text *host = &h->known[HTTP_HOST];
	struct http_text  target = h->target;
	struct http_text  authority = http_target_authority(&target);

	if (h->minor && !host->at)
		return 400;
	if (host->at && !http_host_is_valid(*host))
		return 400;
	if (!authority.at)
		return 0;
	*host = authority;
	return authority.size && http_host_is_valid(authority) ? 0 : 400;
}

static int check_request(struct http_head *h)
{
	int status = check_request_line(h);

	if (status)
		return status;
	return has_control(h->target) ? 400 : check_host(h);
}

/* The library accepts a status with any number of digits. */
static int check_status_line(const struct http_head *h)
{
	static const char form[] = "HTTP/1.x ";
	const char       *at = h->line.at;
	const size_t      size = sizeof(form) - 1;

	if (h->line.size < size + 3 || memcmp(at, form, size - 2) != 0 ||
	    at[size - 1] != ' ' || h->status < 100 || h->status > 999 ||
	    (h->line.size > size + 3 && at[size + 3] != ' '))
		return 400;
	return 0;
}

/* --- parsing ------------------------------------------------------------ */

static int status_of(const http_parser *parser, const struct parse *p)
{
	enum http_errno e = HTTP_PARSER_ERRNO(parser);

	if (p->status)
		return p->status;
	if (e == HPE_INVALID_METHOD && p->h->line.at[0] >= 'A' &&
	    p->h->line.at[0] <= 'Z')
		return 501;
	if (e == HPE_HEADER_OVERFLOW)
		return 431;
	return 400;
}

static int parse(struct http_head *h, http_parser *parser, struct parse *p,
		 const char *bytes, size_t size)
{
	size_t parsed;
	int    status;

	h->size = size;
	h->count = 0;
	h->target = (struct http_text){ NULL, 0 };
	memset(h->known, 0, sizeof(h->known));
	h->chunked = false;
	h->line.at = bytes;
	h->line.size = (size_t)((char *)memchr(bytes, '\r', size) - bytes);
	parsed = http_parser_execute(parser, &callbacks, bytes, size);
	if (HTTP_PARSER_ERRNO(parser) != HPE_OK || p->status)
		return status_of(parser, p);
	if (parsed != size && !parser->upgrade)
		return 400;
	if (parser->http_major != 1)
		return 505;
	h->method = parser->method;
	h->status = parser->status_code;
	h->minor = parser->http_minor;
	status = find_known(h);
	h->has_length = h->known[HTTP_CONTENT_LENGTH].at != NULL;
	h->length = h->has_length ? parser->content_length : 0;
	return status;
}

void http_head_clear(struct http_head *h, const char *bytes, size_t size)
{
	h->method = size >= 5 && !memcmp(bytes, "HEAD ", 5) ? HTTP_HEAD
							    : HTTP_GET;
	h->minor = 1;
	h->line.at = NULL;
	memset(h->known, 0, sizeof(h->known));
}

int http_head_parse(struct http_head *h, const char *bytes, size_t size,
		    const struct http_limits *limits)
{
	struct parse p = { .h = h, .limits = limits };
	http_parser  parser;
	int          status;

	http_parser_init(&parser, HTTP_REQUEST);
	parser.data = &p;
	status = parse(h, &parser, &p, bytes, size);
	if (!status)
		status = check_framing(h);
	return status ? status : check_request(h);
}

int http_head_parse_response(struct http_head *h, const char *bytes,
			     size_t size, const struct http_limits *limits)
{
	struct parse p = { .h = h, .limits = limits };
	http_parser  parser;
	int          status;

	http_parser_init(&parser, HTTP_RESPONSE);
	parser.data = &p;
	status = parse(h, &parser, &p, bytes, size);
	if (!status)
		status = check_status_line(h);
	return status ? status : check_framing(h);
}
