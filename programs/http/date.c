/* SPDX-License-Identifier: Apache-2.0 */
#include "http/date.h"

#include <stdio.h>
#include <string.h>

static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

void http_date_write(char *to, time_t time)
{
	struct tm t;
	char      text[64];

	gmtime_r(&time, &t);
	snprintf(text, sizeof(text), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
		 days + (size_t)t.tm_wday * 3, t.tm_mday,
		 months + (size_t)t.tm_mon * 3, t.tm_year + 1900, t.tm_hour,
		 t.tm_min, t.tm_sec);
	memcpy(to, text, HTTP_DATE_SIZE - 1);
	to[HTTP_DATE_SIZE - 1] = '\0';
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

bool http_date_read(struct http_text text, time_t *time)
{
	static const char form[] = "___, __ ___ ____ __:__:__ GMT";
	struct tm         t = { .tm_isdst = 0 };

	if (text.size != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < text.size; i++)
		if (form[i] != '_' && form[i] != text.at[i])
			return false;
	t.tm_mday = number(text.at + 5, 2);
	t.tm_mon = month_of(text.at + 8);
	t.tm_year = number(text.at + 12, 4) - 1900;
	t.tm_hour = number(text.at + 17, 2);
	t.tm_min = number(text.at + 20, 2);
	t.tm_sec = number(text.at + 23, 2);
	if (t.tm_mday < 1 || t.tm_mon < 0 || t.tm_year < 0 || t.tm_hour < 0 ||
	    t.tm_min < 0 || t.tm_sec < 0 || t.tm_mday > 31 || t.tm_hour > 23 ||
	    t.tm_min > 59 || t.tm_sec > 60)
		return false;
	*time = timegm(&t);
	return true;
}

const char *http_date_now(void)
{
	static _Thread_local time_t second;
	static _Thread_local char   text[HTTP_DATE_SIZE];
	struct timespec             now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec != second) {
		second = now.tv_sec;
		http_date_write(text, second);
	}
	return text;
}
