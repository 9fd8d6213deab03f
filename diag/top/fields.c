/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

/* Read all numbers as reals: a count may be too large for an integer of the
 * JSON reader. */
json_t *fields_parse(const char *line)
{
	return json_loads(line, JSON_DECODE_INT_AS_REAL, NULL);
}

bool field_exists(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

double field_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

const char *field_string(const json_t *object, const char *key)
{
	const char *string = json_string_value(json_object_get(object, key));

	return string ? string : "";
}

const json_t *field_member(const json_t *object, const char *key, size_t i)
{
	return json_array_get(json_object_get(object, key), i);
}
