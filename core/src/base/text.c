/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The length in bytes of a UTF-8 character, from its first byte. 0: no
 * character begins with this byte. */
static size_t length_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Decode the first character of text. Returns its length in bytes. 0: there is
 * none, its encoding is not the shortest, or Unicode has no such character. */
static size_t decode(const unsigned char *text, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t          length = length_of(text[0]);
	uint32_t              c = text[0];

	if (length > 1)
		c &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80) /* also true at the terminating
					       * 0 */
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	*character = c;
	if (!length || c < least[length] || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	return length;
}

static bool is_harmless(uint32_t c)
{
	if (c < 0x20 || c == '\\' || (c >= 0x7f && c < 0xa0))
		return false;
	if (c == 0x61c || c == 0x200e || c == 0x200f)
		return false; /* bidirectional marks */
	/* Line and paragraph separators, and bidirectional controls. */
	return !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/* Write the escape sequence of a byte. Returns its length, at most 4 bytes. */
static size_t escape_byte(char out[4], unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	static const char known[] = "\n\t\\";
	static const char letters[] = "nt\\";
	const char       *at = byte ? strchr(known, byte) : NULL;

	out[0] = '\\';
	if (at) {
		out[1] = letters[at - known];
		return 2;
	}
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 15];
	return 4;
}

size_t sn_escape(char *out, size_t size, const char *text)
{
	const unsigned char *in = (const unsigned char *)text;
	size_t               used = 0;

	while (*in) {
		uint32_t    c;
		char        shown[4];
		size_t      read = decode(in, &c);
		const bool  harmless = read && is_harmless(c);
		const char *part = harmless ? (const char *)in : shown;
		size_t      length = harmless ? read : escape_byte(shown, *in);

		if (length >= size - used)
			break;
		memcpy(out + used, part, length);
		used += length;
		in += harmless ? read : 1;
	}
	out[used] = '\0';
	return used;
}
