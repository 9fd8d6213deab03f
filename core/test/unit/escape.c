/* SPDX-License-Identifier: Apache-2.0 */
/* escape.c - names inside a printed line: no name can end the line or control
 * the terminal. */
#include "base/text.h"

#include "testing/random.h"

#include "testing/test.h"
#include <stdbool.h>
#include <string.h>

static void assert_shown(const char *text, const char *expected)
{
	char out[256];

	assert_int_equal(sn_escape(out, sizeof(out), text), strlen(expected));
	assert_string_equal(out, expected);
}

TEST(plain_text_stays)
{
	assert_shown("", "");
	assert_shown("client 42 (\"it's\" <b>&amp;</b>) %s ~", /* unchanged */
		     "client 42 (\"it's\" <b>&amp;</b>) %s ~");
	assert_shown("Gr\xc3\xb6\xc3\x9f"
		     "e \xe2\x82\xac \xf0\x9f\x98\x80",
		     "Gr\xc3\xb6\xc3\x9f"
		     "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(control_characters_are_spelt_out)
{
	assert_shown("a\nsennit: misuse", "a\\nsennit: misuse");
	assert_shown("\t\r\a\x1b[31m\x7f", "\\t\\x0d\\x07\\x1b[31m\\x7f");
	assert_shown("\x01\x1f ", "\\x01\\x1f ");
}

/* Otherwise "\n" would be ambiguous. */
TEST(a_backslash_is_doubled)
{
	assert_shown("a\\nb\n", "a\\\\nb\\n");
}

/* CSI as one character, line separators, and text direction. */
TEST(control_characters_of_unicode_are_spelt_out)
{
	assert_shown("\xc2\x9b"
		     "2J",
		     "\\xc2\\x9b2J");
	assert_shown("\xc2\x85", "\\xc2\\x85");
	assert_shown("\xc2\xa0", "\xc2\xa0");
	assert_shown("\xe2\x80\xa8\xe2\x80\xa9",
		     "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
	assert_shown("\xe2\x80\xae", "\\xe2\\x80\\xae");
	assert_shown("\xe2\x81\xa6\xe2\x81\xa9",
		     "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
	assert_shown("\xe2\x80\x8f\xd8\x9c", "\\xe2\\x80\\x8f\\xd8\\x9c");
}

TEST(what_is_no_utf_8_is_spelt_out)
{
	assert_shown("\x80\xbf\xff", "\\x80\\xbf\\xff");
	assert_shown("\xc3", "\\xc3");          /* incomplete */
	assert_shown("\xe2\x82", "\\xe2\\x82"); /* incomplete */
	assert_shown("\xc3(", "\\xc3(");        /* continued wrongly */
	assert_shown("\xc0\x8a", "\\xc0\\x8a"); /* a newline in an overlong
						 * encoding */
	assert_shown("\xe0\x80\x8a", "\\xe0\\x80\\x8a");
	assert_shown("\xf0\x80\x80\x8a", "\\xf0\\x80\\x80\\x8a");
	assert_shown("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* one half of a
							  * surrogate pair */
	assert_shown("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

/* The cut is at a whole character. The result is terminated and stays inside
 * the buffer. */
TEST(what_does_not_fit_is_cut)
{
	const char text[] = "a\n\x1b\xe2\x82\xac";
	size_t     ends[] = { 0, 0, 1, 1, 3, 3, 3, 3, 7, 7, 7, 10 };
	char       out[16];
	size_t     size;

	for (size = 1; size < 12; size++) {
		memset(out, 'X', sizeof(out));
		assert_int_equal(sn_escape(out, size, text), ends[size]);
		assert_int_equal(out[ends[size]], '\0');
		assert_int_equal(out[size], 'X');
	}
}

static bool is_one_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* The result of any bytes is one line of UTF-8. Escaping it again changes only
 * its backslashes. */
TEST(any_bytes_become_one_line)
{
	uint64_t random = random_stream(0);
	char     text[24], once[128], again[256], undone[256];
	unsigned i, k;
	size_t   n, m;

	for (i = 0; i < 100000; i++) {
		for (k = 0; k < sizeof(text) - 1; k++)
			text[k] = (char)(random_below(&random, 255) + 1);
		text[k] = '\0';
		sn_escape(once, sizeof(once), text);
		assert_true(is_one_line(once));
		sn_escape(again, sizeof(again), once);
		for (n = m = 0; again[n]; n++) {
			n += again[n] == '\\';
			undone[m++] = again[n];
		}
		undone[m] = '\0';
		assert_string_equal(undone, once);
	}
}
