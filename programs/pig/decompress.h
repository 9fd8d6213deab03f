/* SPDX-License-Identifier: Apache-2.0 */
/* decompress.h - decompresses gzip files on the calling thread. */
#ifndef PIG_DECOMPRESS_H
#define PIG_DECOMPRESS_H

#include <stdbool.h>
#include <stdint.h>

struct decompressed {
	uint64_t    in, out;     /* bytes */
	const char *wrong;       /* an error in the data, or NULL */
	bool        on_read;     /* an error is one of reading */
	bool        has_garbage; /* bytes follow that are not a member */
};

/* Read `from` to its end and write the contents of its members to `to`, or
 * nowhere if that is negative. Zeros after the last member are padding. Returns
 * 0 or a negative errno value; -EBADMSG with a message in `wrong`. */
int decompress_stream(int from, int to, struct decompressed *done);

#endif
