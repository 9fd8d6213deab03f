/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - prints strings and durations in the output formats. */
#ifndef APPS_TRACE_TEXT_H
#define APPS_TRACE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Print a JSON string with quotes. text is UTF-8 without control characters. */
void text_json(FILE *out, const char *text);

/* Print text for XML, likewise. */
void text_xml(FILE *out, const char *text);

/* Print a frame of a folded stack: without semicolons, blanks and newlines. */
void text_frame(FILE *out, const char *text);

/* Write at most three digits and a unit: "12.3 ms". `room` has at least 16
 * bytes. Returns room. */
const char *text_duration(char room[16], uint64_t ns);

#endif
