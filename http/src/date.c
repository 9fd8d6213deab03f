/* SPDX-License-Identifier: Apache-2.0 */
/* date.c - dates of fields: "Sun, 06 Nov 1994 08:49:37 GMT". */
#include "date.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

void sennit_http_write_date(char *to, time_t date)
{
	struct tm t;
	char      text[64];

	gmtime_r(&date, &t);
	snprintf(text, sizeof(text), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
		 days + (size_t)t.tm_wday * 3, t.tm_mday,
		 months + (size_t)t.tm_mon * 3, t.tm_year + 1900, t.tm_hour,
		 t.tm_min, t.tm_sec);
	memcpy(to, text, SENNIT_HTTP_DATE - 1);
	to[SENNIT_HTTP_DATE - 1] = '\0';
}

/* Return the number of `count` digits at *at, or -1. */
static int number(const char *at, int count)
{
	int value = 0;

	for (; count; count--, at++) {
		if (*at < '0' || *at > '9')
			return -1;
		value = value * 10 + *at - '0';
	}
	return value;
}

static int month_of(const char *at)
{
	for (int i = 0; i < 12; i++)
		if (!memcmp(months + 3 * (size_t)i, at, 3))
			return i;
	return -1;
}

int sennit_http_read_date(sennit_http_text text, time_t *date)
{
	static const char form[] = "___, __ ___ ____ __:__:__ GMT";
	struct tm         t = { .tm_isdst = 0 };

	if (text.size != sizeof(form) - 1)
		return -EINVAL;
	for (size_t i = 0; i < text.size; i++)
		if (form[i] != '_' && form[i] != text.at[i])
			return -EINVAL;
	t.tm_mday = number(text.at + 5, 2);
	t.tm_mon = month_of(text.at + 8);
	t.tm_year = number(text.at + 12, 4) - 1900;
	t.tm_hour = number(text.at + 17, 2);
	t.tm_min = number(text.at + 20, 2);
	t.tm_sec = number(text.at + 23, 2);
	if (t.tm_mday < 1 || t.tm_mon < 0 || t.tm_year < 0 || t.tm_hour < 0 ||
	    t.tm_min < 0 || t.tm_sec < 0 || t.tm_mday > 31 || t.tm_hour > 23 ||
	    t.tm_min > 59 || t.tm_sec > 60)
		return -EINVAL;
	*date = timegm(&t);
	return 0;
}

const char *sn_http_date_now(void)
{
	static _Thread_local time_t second;
	static _Thread_local char   text[SENNIT_HTTP_DATE];
	struct timespec             now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec != second) {
		second = now.tv_sec;
		sennit_http_write_date(text, second);
	}
	return text;
}
