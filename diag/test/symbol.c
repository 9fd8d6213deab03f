/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - addresses get names, which are cut at the end of the buffer. */
#include "sennit/symbol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "testing/test.h"

/* A function that is not exported. */
#define HERE ((const void *)(uintptr_t)&in_this_file)

static void in_this_file(void)
{
}

/* An address of a shared library has its exported name, and an offset. */
TEST(an_exported_function_has_its_name)
{
	char text[128];

	assert_true(sennit_symbol_print((const void *)(uintptr_t)&calloc, text,
					sizeof(text)) > 0);
	assert_non_null(strstr(text, "calloc"));
	sennit_symbol_print((const char *)(uintptr_t)&calloc + 1, text,
			    sizeof(text));
	assert_non_null(strstr(text, "+0x1"));
}

TEST(a_hidden_function_is_named_by_its_file)
{
	char text[128];

	sennit_symbol_print(HERE, text, sizeof(text));
	assert_string_equal(text, "in_this_file");
	sennit_symbol_print((const char *)HERE + 1, text, sizeof(text));
	assert_string_equal(text, "in_this_file+0x1");
}

TEST(an_unknown_address_is_a_number)
{
	char text[32];

	assert_int_equal(
		sennit_symbol_print((const void *)0x10, text, sizeof(text)), 4);
	assert_string_equal(text, "0x10");
}

TEST(a_short_buffer_is_never_exceeded)
{
	char whole[128];
	char text[128];

	sennit_symbol_print(HERE, whole, sizeof(whole));
	for (size_t size = 1; size < sizeof(text); size++) {
		size_t n;

		memset(text, '#', sizeof(text));
		n = sennit_symbol_print(HERE, text, size);
		assert_true(n < size);
		assert_int_equal(strlen(text), n);
		assert_int_equal(strncmp(text, whole, n), 0);
		if (size + 1 < sizeof(text))
			assert_int_equal(text[size], '#');
	}
}
