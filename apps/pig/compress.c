/* SPDX-License-Identifier: Apache-2.0 */
/* compress.c - the jobs, their tasks and the reader. */
#include "pig/compress.h"
#include "file/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define WINDOW 32768 /* how far deflate looks back */

/* A block on its way. The reader owns it until it spawns its task, which gives
 * it back through the channel `spare`. */
struct job {
	struct compressor *owner;
	sennit_ticket      ticket;
	size_t             dictionary; /* bytes before `bytes` */
	size_t             size;
	size_t             packed_size;
	bool               is_last;
	unsigned char     *packed;
	unsigned char     *bytes; /* in `room`, behind the dictionary */
	unsigned char      room[];
};

struct compressor {
	sennit_scheduler   *scheduler;
	size_t              block, packed_room;
	uint32_t            job_count, stream_count;
	struct job        **jobs;
	z_stream           *streams;
	sennit_channel      spare; /* struct job *, which nobody uses */
	sennit_channel      idle;  /* z_stream *, one for each worker */
	sennit_ticket_queue order;
	/* Of the present stream. */
	sennit_group       group;
	int                to;
	bool               to_file; /* writing does not wait for anyone */
	struct compressed *done;    /* whose turn it is writes */
};

/* --- a task ---------------------------------------- */

static int deflate_block(z_stream *z, struct job *j)
{
	int flush = j->is_last ? Z_FINISH : Z_SYNC_FLUSH;
	int result;

	deflateReset(z);
	if (j->dictionary)
		deflateSetDictionary(z, j->bytes - j->dictionary,
				     (uInt)j->dictionary);
	z->next_in = j->bytes;
	z->avail_in = (uInt)j->size;
	z->next_out = j->packed;
	z->avail_out = (uInt)j->owner->packed_room;
	result = deflate(z, flush);
	j->packed_size = j->owner->packed_room - z->avail_out;
	if (result != (j->is_last ? Z_STREAM_END : Z_OK) || !z->avail_out)
		return -EIO; /* the bound of deflateBound() was wrong */
	return 0;
}

/* A task does not wait while it has a stream, so there is one for each worker.
 */
static int pack(struct job *j, uint32_t *crc)
{
	struct compressor *c = j->owner;
	z_stream          *z;
	int                error;

	*crc = (uint32_t)crc32(0, j->bytes, (uInt)j->size);
	error = sennit_channel_receive(&c->idle, &z);
	if (error)
		return error;
	error = deflate_block(z, j);
	(void)!sennit_channel_send(&c->idle, &z);
	return error;
}

static void *write_job(void *argument)
{
	struct job *j = argument;

	errno = -file_write(j->owner->to, j->packed, j->packed_size);
	return errno ? NULL : j;
}

/* A pipe or a terminal may wait for its reader; the worker does not. */
static int put_out(struct job *j)
{
	void *written = j->owner->to_file ? write_job(j)
					  : sennit_blocking_call(write_job, j);

	return written ? 0 : -errno;
}

static void note(struct job *j, uint32_t crc)
{
	struct compressed *d = j->owner->done;

	d->crc = (uint32_t)crc32_combine(d->crc, crc, (z_off_t)j->size);
	d->in += j->size;
	d->out += j->packed_size;
}

/* A member. After an error the jobs behind it write nothing. */
static int compress_job(void *argument)
{
	struct job        *j = argument;
	struct compressor *c = j->owner;
	uint32_t           crc = 0;
	int                error = sennit_cancelled();

	if (!error)
		error = pack(j, &crc);
	sennit_ticket_wait(&j->ticket);
	if (!error)
		error = sennit_cancelled();
	if (!error)
		error = put_out(j);
	if (!error)
		note(j, crc);
	if (error)
		sennit_group_cancel(&c->group); /* before the next turn */
	sennit_ticket_done(&j->ticket);
	(void)!sennit_channel_send(&c->spare, &j);
	return error;
}

/* --- the reader ---------------------------------------- */

static struct job *take_spare(struct compressor *c)
{
	struct job *j = NULL;

	(void)!sennit_channel_receive(&c->spare, &j);
	return j;
}

/* Reads a block into a job, behind the end of the block before. Returns its
 * size or a negative errno value. */
static ssize_t fill(struct job *j, const struct job *before, int from)
{
	ssize_t got = file_read(from, j->bytes, j->owner->block);

	j->size = got < 0 ? 0 : (size_t)got;
	j->dictionary = before ? WINDOW : 0;
	if (before)
		memcpy(j->room, before->bytes + before->size - WINDOW, WINDOW);
	return got;
}

static int start(struct compressor *c, struct job *j, bool is_last)
{
	int error;

	j->is_last = is_last;
	sennit_ticket_queue_take(&c->order, &j->ticket);
	error = sennit_group_spawn(&c->group, compress_job, j);
	if (error) {
		sennit_ticket_done(&j->ticket);
		(void)!sennit_channel_send(&c->spare, &j);
	}
	return error;
}

/* A block is started when the next one is read, since only then it is known
 * whether it is the last. Returns 0, or why the input could not be read. Errors
 * of tasks end the loop, and the group's wait returns them. */
static int read_blocks(struct compressor *c, int from)
{
	struct job *before = NULL, *j;
	ssize_t     got;

	for (;;) {
		j = take_spare(c);
		got = fill(j, before, from);
		if (before && got <= 0) {
			(void)!sennit_channel_send(&c->spare, &j);
			j = before;
		} else if (before && start(c, before, false)) {
			(void)!sennit_channel_send(&c->spare, &j);
			return 0;
		}
		if (got < 0) {
			(void)!sennit_channel_send(&c->spare, &j);
			return (int)got;
		}
		if ((size_t)got < c->block) {
			(void)!start(c, j, true);
			return 0;
		}
		before = j;
	}
}

int compress_stream(struct compressor *c, int from, int to,
		    struct compressed *done)
{
	struct stat st;
	int         error, reading;

	*done = (struct compressed){ .crc = 0 };
	c->to = to;
	c->to_file = !fstat(to, &st) && S_ISREG(st.st_mode);
	c->done = done;
	sennit_group_init_on(&c->group, c->scheduler, SENNIT_NEVER, 0);
	reading = read_blocks(c, from);
	if (reading)
		sennit_group_cancel(&c->group);
	error = sennit_group_wait(&c->group);
	done->on_read = reading != 0;
	return reading ? reading : error;
}

/* --- its memory ---------------------------------------- */

static struct job *make_job(struct compressor *c)
{
	struct job *j = malloc(sizeof(*j) + WINDOW + c->block);

	if (!j)
		return NULL;
	j->owner = c;
	j->bytes = j->room + WINDOW;
	j->packed = malloc(c->packed_room);
	if (!j->packed) {
		free(j);
		return NULL;
	}
	return j;
}

static int make_jobs(struct compressor *c)
{
	int error = sennit_channel_init(&c->spare, sizeof(struct job *),
					c->job_count, NULL);

	for (uint32_t i = 0; i < c->job_count && !error; i++) {
		c->jobs[i] = make_job(c);
		error = c->jobs[i] ? sennit_channel_send(&c->spare, &c->jobs[i])
				   : -ENOMEM;
	}
	return error;
}

static int make_streams(struct compressor *c, int level)
{
	int error = sennit_channel_init(&c->idle, sizeof(z_stream *),
					c->stream_count, NULL);

	for (uint32_t i = 0; i < c->stream_count && !error; i++) {
		z_stream *z = &c->streams[i];

		if (deflateInit2(z, level, Z_DEFLATED, -MAX_WBITS, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
			return -ENOMEM;
		error = sennit_channel_send(&c->idle, &z);
		/* A flush adds some bytes to what this counts. */
		c->packed_room = deflateBound(z, (uLong)c->block) + 16;
	}
	return error;
}

int compressor_new(struct compressor **out, sennit_scheduler *s, int level,
		   size_t block)
{
	struct compressor *c = calloc(1, sizeof(*c));
	uint32_t           workers = sennit_scheduler_workers(s);
	int                error = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->scheduler = s;
	c->block = block;
	c->stream_count = workers;
	c->job_count = 2 * workers + 2;
	c->streams = calloc(c->stream_count, sizeof(*c->streams));
	c->jobs = calloc(c->job_count, sizeof(struct job *));
	if (c->streams && c->jobs)
		error = make_streams(c, level);
	if (!error)
		error = make_jobs(c);
	if (error)
		compressor_free(c);
	else
		*out = c;
	return error;
}

void compressor_free(struct compressor *c)
{
	for (uint32_t i = 0; c->jobs && i < c->job_count; i++) {
		if (c->jobs[i])
			free(c->jobs[i]->packed);
		free(c->jobs[i]);
	}
	for (uint32_t i = 0; c->streams && i < c->stream_count; i++)
		deflateEnd(&c->streams[i]);
	sennit_channel_destroy(&c->spare);
	sennit_channel_destroy(&c->idle);
	free(c->jobs);
	free(c->streams);
	free(c);
}
