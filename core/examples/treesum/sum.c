/* SPDX-License-Identifier: Apache-2.0 */
/* sum.c - reads and sums one file. */
#include "sum.h"

#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct sum {
	struct job   *job;
	struct entry *entry;
};

/* Read fd to its end into b, piece by piece.
 * Returns 0 or an errno value. */
static int digest_pieces(int fd, struct buffer *b, struct progress *p)
{
	ssize_t got;

	do {
		/* The kernel reads ahead while other fibers of this worker run.
		 * A large file also lets small files run. */
		sennit_yield();
		if (interrupt_asked())
			return EINTR;
		got = read(fd, b->bytes, BUFFER_SIZE);
		if (got < 0 && errno != EINTR)
			return errno;
		if (got <= 0)
			continue;
		if (!EVP_DigestUpdate(b->digest, b->bytes, (size_t)got))
			return EIO;
		progress_count(&p->bytes, (uint64_t)got);
	} while (got);
	return 0;
}

static int digest_open_file(int fd, struct entry *e, struct buffer *b,
			    struct progress *p)
{
	struct stat st;
	int         error;

	if (fstat(fd, &st))
		return errno;
	if (!S_ISREG(st.st_mode)) {
		e->note = "no longer a regular file";
		return EINVAL;
	}
	(void)posix_fadvise(fd, 0, BUFFER_SIZE, POSIX_FADV_WILLNEED);
	/* NULL keeps the algorithm that the buffer was made with. */
	if (!EVP_DigestInit_ex(b->digest, NULL, NULL))
		return EIO;
	error = digest_pieces(fd, b, p);
	if (!error && !EVP_DigestFinal_ex(b->digest, e->digest, NULL))
		return EIO;
	return error;
}

static int digest_file(struct entry *e, struct buffer *b, struct progress *p)
{
	/* O_NONBLOCK: do not wait for a writer if the name has become a
	 * fifo. */
	int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int error;

	if (fd < 0)
		return errno;
	error = digest_open_file(fd, e, b, p);
	close(fd);
	return error;
}

static void sum_file(void *argument)
{
	const struct sum *s = argument;
	struct job       *job = s->job;
	struct entry     *e = s->entry;
	struct buffer    *b;

	if (!interrupt_asked()) {
		b = buffers_take(&job->buffers);
		e->error = digest_file(e, b, &job->progress);
		e->is_summed = !e->error;
		buffers_give(&job->buffers, b);
		progress_count(&job->progress.done, 1);
	}
	(void)sennit_wait_group_done(&job->tasks);
}

void sum_start(struct job *job, struct entry *e)
{
	struct sum s = { job, e };

	progress_count(&job->progress.found, 1);
	sennit_wait_group_add(&job->tasks, 1);
	if (sennit_schedule_copy(sum_file, &s, sizeof(s)))
		sum_file(&s);
}
