/* SPDX-License-Identifier: Apache-2.0 */
/* compress.c - the jobs, their tasks, the reader and the writer.
 *
 *	reader, the caller's thread    spare -> fills -> order, and a task
 *	task, on any worker            packs, sets the job's event
 *	writer, a thread of its own    order -> waits for the event -> writes
 *	                               -> spare
 *
 * If fibers wrote, a fiber whose turn has come would wait until its worker has
 * finished another block, and other workers would run out of jobs. */
#include "pig/compress.h"
#include "file/transfer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WINDOW 32768 /* the window of deflate */

/* A block in progress. */
struct job {
	struct compressor *owner;
	sennit_event       is_packed;
	size_t             dictionary; /* bytes before `bytes` */
	size_t             size;
	size_t             packed_size;
	uint32_t           crc;
	int                error; /* error of its task */
	bool               is_last;
	unsigned char     *packed;
	unsigned char     *bytes; /* in `room`, after the dictionary */
	unsigned char      room[];
};

struct compressor {
	sennit_scheduler *scheduler;
	size_t            block, packed_room;
	uint32_t          job_count, stream_count;
	struct job      **jobs;
	z_stream         *streams;
	sennit_channel    spare; /* struct job *: unused jobs */
	sennit_channel    idle;  /* z_stream *, one for each worker */
	sennit_channel    order; /* struct job *, in the order of reading */
	pthread_t         writer;
	bool              has_writer;
	/* For the current stream: */
	sennit_wait_group  unwritten;
	int                to;
	struct compressed *done;
	atomic_int         error; /* the first error; nothing is written
				   * afterwards */
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

/* A task does not wait while it has a stream, so there is one stream for each
 * worker.
 */
static int pack(struct job *j)
{
	struct compressor *c = j->owner;
	z_stream          *z;
	int                error;

	j->crc = (uint32_t)crc32(0, j->bytes, (uInt)j->size);
	error = sennit_channel_receive(&c->idle, &z);
	if (error)
		return error;
	error = deflate_block(z, j);
	(void)!sennit_channel_send(&c->idle, &z);
	return error;
}

/* After an error the job is skipped. */
static void pack_job(void *argument)
{
	struct job *j = argument;

	j->error = atomic_load(&j->owner->error);
	if (!j->error)
		j->error = pack(j);
	sennit_event_set(&j->is_packed);
}

/* --- the writer ---------------------------------------- */

/* Keep only the first error. */
static void fail(struct compressor *c, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&c->error, &none, error);
}

static void write_job(struct compressor *c, const struct job *j)
{
	struct compressed *d = c->done;
	int                error = j->error;

	if (atomic_load(&c->error))
		return;
	if (!error)
		error = file_write(c->to, j->packed, j->packed_size);
	if (error) {
		fail(c, error);
		return;
	}
	d->crc = (uint32_t)crc32_combine(d->crc, j->crc, (z_off_t)j->size);
	d->in += j->size;
	d->out += j->packed_size;
}

/* Write jobs until the channel is closed. */
static void *write_jobs(void *compressor)
{
	struct compressor *c = compressor;
	struct job        *j;

	while (!sennit_channel_receive(&c->order, &j)) {
		(void)!sennit_event_wait_until(&j->is_packed,
					       SENNIT_UNCANCELLED);
		write_job(c, j);
		(void)!sennit_channel_send(&c->spare, &j);
		sennit_wait_group_done(&c->unwritten);
	}
	return NULL;
}

/* --- the reader ---------------------------------------- */

static struct job *take_spare(struct compressor *c)
{
	struct job *j = NULL;

	(void)!sennit_channel_receive(&c->spare, &j);
	return j;
}

static void give_back(struct compressor *c, struct job *j)
{
	(void)!sennit_channel_send(&c->spare, &j);
}

/* Read a block into a job, after the end of the previous block. Returns its
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

static void start(struct compressor *c, struct job *j, bool is_last)
{
	const sennit_task task = { .run = pack_job, .argument = j };
	int               error;

	j->is_last = is_last;
	sennit_event_init(&j->is_packed, SENNIT_EVENT_AUTO);
	sennit_wait_group_add(&c->unwritten, 1);
	error = sennit_schedule_task_on(c->scheduler, &task);
	if (error) {
		j->error = error;
		sennit_event_set(&j->is_packed);
	}
	(void)!sennit_channel_send(&c->order, &j); /* it has room for all */
}

/* Read all blocks. A block is started when the next one has been read, because
 * only then it is known whether it is the last. Returns 0, or the error of
 * reading. Other errors end the loop. */
static int read_blocks(struct compressor *c, int from)
{
	struct job *before = NULL, *j;
	ssize_t     got = 0;

	while ((j = take_spare(c)) && !atomic_load(&c->error)) {
		got = fill(j, before, from);
		if (got < 0)
			break;
		if (before && !got) {
			give_back(c, j);
			start(c, before, true);
			return 0;
		}
		if (before)
			start(c, before, false);
		if ((size_t)got < c->block) {
			start(c, j, true);
			return 0;
		}
		before = j;
	}
	give_back(c, j);
	if (before)
		give_back(c, before);
	return got < 0 ? (int)got : 0;
}

int compress_stream(struct compressor *c, int from, int to,
		    struct compressed *done)
{
	int reading;

	*done = (struct compressed){ .crc = 0 };
	c->to = to;
	c->done = done;
	atomic_store(&c->error, 0);
	sennit_wait_group_init(&c->unwritten, 0);
	reading = read_blocks(c, from);
	if (reading)
		fail(c, reading);
	sennit_wait_group_wait(&c->unwritten);
	done->on_read = reading != 0;
	return reading ? reading : atomic_load(&c->error);
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
	int error = sennit_channel_init(&c->spare, c->job_count,
					sizeof(struct job *), NULL);

	for (uint32_t i = 0; i < c->job_count && !error; i++) {
		c->jobs[i] = make_job(c);
		error = c->jobs[i] ? sennit_channel_send(&c->spare, &c->jobs[i])
				   : -ENOMEM;
	}
	return error;
}

static int make_streams(struct compressor *c, int level)
{
	int error = sennit_channel_init(&c->idle, c->stream_count,
					sizeof(z_stream *), NULL);

	for (uint32_t i = 0; i < c->stream_count && !error; i++) {
		z_stream *z = &c->streams[i];

		if (deflateInit2(z, level, Z_DEFLATED, -MAX_WBITS, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
			return -ENOMEM;
		error = sennit_channel_send(&c->idle, &z);
		/* A flush adds some bytes that this does not count. */
		c->packed_room = deflateBound(z, (uLong)c->block) + 16;
	}
	return error;
}

static int start_writer(struct compressor *c)
{
	int error = sennit_channel_init(&c->order, c->job_count,
					sizeof(struct job *), NULL);

	if (!error)
		error = -pthread_create(&c->writer, NULL, write_jobs, c);
	c->has_writer = !error;
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
	if (!error)
		error = start_writer(c);
	if (error)
		compressor_free(c);
	else
		*out = c;
	return error;
}

void compressor_free(struct compressor *c)
{
	if (c->has_writer) {
		sennit_channel_close(&c->order);
		pthread_join(c->writer, NULL);
	}
	for (uint32_t i = 0; c->jobs && i < c->job_count; i++) {
		if (c->jobs[i])
			free(c->jobs[i]->packed);
		free(c->jobs[i]);
	}
	for (uint32_t i = 0; c->streams && i < c->stream_count; i++)
		deflateEnd(&c->streams[i]);
	sennit_channel_destroy(&c->spare);
	sennit_channel_destroy(&c->idle);
	sennit_channel_destroy(&c->order);
	free(c->jobs);
	free(c->streams);
	free(c);
}
