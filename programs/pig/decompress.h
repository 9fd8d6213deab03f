/* SPDX-License-Identifier: Apache-2.0 */
/* decompress.h - decompresses gzip files on the calling thread. */
#ifndef PIG_DECOMPRESS_H
#define PIG_DECOMPRESS_H

#include <stdbool.h>
#include <stdint.h>

struct decompressed {
	uint64_t    in, out;     /* bytes */
	const char *wrong;       /* what is wrong with the data, or NULL */
	bool        on_read;     /* whether an error is of the input */
	bool        has_garbage; /* bytes follow that are no member */
};

/* Reads `from` to its end and writes what its members contain to `to`, or
 * nowhere if that is negative. Zeros behind the last member are padding.
 * Returns 0, or a negative errno value: -EBADMSG if `wrong` says more. */
int decompress_stream(int from, int to, struct decompressed *done);

#endif
