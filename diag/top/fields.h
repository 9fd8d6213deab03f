/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - reads fields of the JSON lines of a live view. Lines are not
 * trusted: a field that is missing or of another type is read as 0, "" or
 * NULL. */
#ifndef TOP_FIELDS_H
#define TOP_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

/* Parse a line. Returns the value, which the caller releases with json_decref,
 * or NULL if it is not a JSON object or array, or there is no memory. */
json_t *fields_parse(const char *line);

/* Report whether the object has the field. `object` may be NULL, here and
 * below. */
bool field_exists(const json_t *object, const char *key);

double      field_number(const json_t *object, const char *key);
const char *field_string(const json_t *object, const char *key);

/* Return member i of an array. NULL: it has no more. */
const json_t *field_member(const json_t *object, const char *key, size_t i);

#endif
