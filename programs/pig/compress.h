/* SPDX-License-Identifier: Apache-2.0 */
/* compress.h - compresses a stream in blocks, on all workers.
 *
 * The input is cut into blocks. A task compresses each one, with the 32 KiB
 * before it as the dictionary, so the result is hardly larger than that of one
 * long block. Each task but the last ends at a full byte, so their results form
 * one deflate stream. A thread writes them in the order in which the reader
 * sent it the jobs.
 *
 *	read --job--> compress (a task) --event--> write, in order
 *	  ^                                            |
 *	  +------------------ free jobs ---------------+
 *
 * There are two jobs per worker and two more. When all are in use the reader
 * waits, so memory does not grow with the file.
 */
#ifndef PIG_COMPRESS_H
#define PIG_COMPRESS_H

#include <sennit.h>

struct compressor;

/* Make a compressor for the workers of *s, and its threads. Returns 0 or a
 * negative errno value. */
int  compressor_new(struct compressor **out, sennit_scheduler *s, int level,
		    size_t block);
void compressor_free(struct compressor *c);

/* The result of compress_stream. */
struct compressed {
	uint64_t in, out; /* bytes */
	uint32_t crc;     /* of the input */
	bool     on_read; /* an error is one of reading */
};

/* Read `from` to its end and write a deflate stream to `to`. Returns 0 or a
 * negative errno value.
 *
 * From: thread that is not bound.  */
int compress_stream(struct compressor *c, int from, int to,
		    struct compressed *done);

#endif
