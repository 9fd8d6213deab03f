/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - strings and durations in the languages of the outputs. */
#ifndef APPS_TRACE_TEXT_H
#define APPS_TRACE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* A string of JSON, with its quotes. text is UTF-8 without control
 * characters. */
void text_json(FILE *out, const char *text);

/* Text of XML, likewise. */
void text_xml(FILE *out, const char *text);

/* A frame of a folded stack: without semicolons, blanks and newlines. */
void text_frame(FILE *out, const char *text);

/* Writes at most three digits and a unit: "12.3 ms". `room` of at least 16
 * bytes. Returns room. */
const char *text_duration(char room[16], uint64_t ns);

#endif
