/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/text.h"

void text_json(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

void text_xml(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

void text_frame(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == ';')
			fputs("\\x3b", out);
		else
			putc(*text == ' ' ? '_' : *text, out);
}

const char *text_duration(char room[16], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double                   value = (double)ns;
	int                      unit = 0;

	while (value >= 999.5 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(room, 16, "%.*f %s",
		 unit == 0 || value >= 99.95 ? 0
		 : value >= 9.995            ? 1
					     : 2,
		 value > 1e9 ? 1e9 : value, units[unit]);
	return room;
}
