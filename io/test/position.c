/* SPDX-License-Identifier: Apache-2.0 */
/* position.c - fibers and threads read or write one file description at its own
 * position, all at the same time: each record is read once, and none that was
 * written is lost.
 */
#include "operations.h"

#include "testing/random.h"

#include <stdlib.h>
#include <sys/uio.h>

enum { PART = 4096, RECORD = 2 * PART, RECORDS = 120, FIBERS = 8, THREADS = 2 };

struct file {
	int         fd;
	bool        writes;
	atomic_uint next;          /* to be written */
	atomic_uint seen[RECORDS]; /* number of times it was read, here or
				    * afterwards */
};

struct member {
	struct file *file;
	uint64_t     random;
	char        *record;
};

/* --- records ------------------------------------------------------------ */

static void fill_record(char *record, uint32_t number)
{
	for (size_t at = 0; at < RECORD; at += sizeof(number))
		memcpy(record + at, &number, sizeof(number));
}

static void take_record(struct file *f, const char *record)
{
	uint32_t number;

	memcpy(&number, record, sizeof(number));
	EXPECT(number < RECORDS);
	EXPECT(!memcmp(record, record + sizeof(number),
		       RECORD - sizeof(number)));
	if (number < RECORDS)
		atomic_fetch_add(&f->seen[number], 1);
}

/* Some calls end before they have begun; others wait. */
static sennit_time some_deadline(uint64_t *random)
{
	switch (random_below(random, 4)) {
	case 0:
		return sennit_after(random_below(random, 30000));
	case 1:
		return sennit_after(random_below(random, 2000000));
	default:
		return SENNIT_NEVER;
	}
}

/* As one buffer or two, until a deadline does not pass. */
static ptrdiff_t move_record(struct member *m)
{
	const int          fd = m->file->fd;
	const struct iovec v[] = { { m->record, PART },
				   { m->record + PART, PART } };
	ptrdiff_t          n;

	do {
		const sennit_time until = some_deadline(&m->random);

		if (random_below(&m->random, 2))
			n = m->file->writes ? sennit_writev(fd, v, 2, until)
					    : sennit_readv(fd, v, 2, until);
		else
			n = m->file->writes
				    ? sennit_write(fd, m->record, RECORD, until)
				    : sennit_read(fd, m->record, RECORD, until);
	} while (n == -ETIMEDOUT);
	return n;
}

static int read_records(struct member *m)
{
	ptrdiff_t n;

	while ((n = move_record(m)) == RECORD)
		take_record(m->file, m->record);
	EXPECT(!n);
	return 0;
}

static int write_records(struct member *m)
{
	uint32_t number;

	while ((number = atomic_fetch_add(&m->file->next, 1)) < RECORDS) {
		fill_record(m->record, number);
		EXPECT(move_record(m) == RECORD);
	}
	return 0;
}

static int be_member(void *member)
{
	struct member *m = member;

	m->record = aligned_alloc(PART, RECORD);
	must(m->record, "aligned_alloc");
	if (m->file->writes)
		write_records(m);
	else
		read_records(m);
	free(m->record);
	return 0;
}

static void *be_thread(void *member)
{
	be_member(member);
	return NULL;
}

/* --- files -------------------------------------------------------------- */

/* In the build folder, because /tmp may be a memory file system; -1: O_DIRECT
 * is not supported there. */
static int open_again(const char *name, int flags)
{
	int fd = open(name, O_RDWR | O_CLOEXEC | flags);

	must(fd >= 0 || (errno == EINVAL && flags), name);
	return fd;
}

/* With all records, none of them in the page cache. */
static void fill_file(int fd)
{
	static char record[RECORD];

	for (uint32_t i = 0; i < RECORDS; i++) {
		fill_record(record, i);
		must(write(fd, record, RECORD) == RECORD, "write");
	}
	must(!fsync(fd), "fsync");
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void take_all(struct file *f, int fd)
{
	static char record[RECORD];
	int64_t     at = 0;

	for (; pread(fd, record, RECORD, at) == RECORD; at += RECORD)
		take_record(f, record);
	EXPECT(at == (int64_t)RECORDS * RECORD);
}

static void run_all(struct file *f)
{
	struct member members[FIBERS + THREADS];
	pthread_t     threads[THREADS];
	sennit_group  g;

	for (uint64_t i = 0; i < FIBERS + THREADS; i++)
		members[i] = (struct member){ f, random_stream(i), NULL };
	for (int i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(be_thread, &members[FIBERS + i]);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < FIBERS; i++)
		EXPECT(!sennit_group_spawn(&g, be_member, &members[i]));
	EXPECT(!sennit_group_wait(&g));
	for (int i = 0; i < THREADS; i++)
		must(!pthread_join(threads[i], NULL), "join");
}

static void move_all(bool writes, int flags)
{
	struct file f = { .writes = writes };
	char        name[] = "position-XXXXXX";
	int         fd = mkstemp(name);

	must(fd >= 0, "mkstemp");
	if (!writes)
		fill_file(fd);
	f.fd = open_again(name, flags);
	unlink(name);
	if (f.fd >= 0) {
		run_all(&f);
		if (writes)
			take_all(&f, fd);
		for (int i = 0; i < RECORDS; i++)
			EXPECT(atomic_load(&f.seen[i]) == 1);
		close(f.fd);
	}
	close(fd);
}

TEST_WITH_WORKERS(each_record_is_read_once)
{
	(void)w;
	move_all(false, 0);
	move_all(false, O_DIRECT);
}

TEST_WITH_WORKERS(no_record_that_was_written_is_lost)
{
	(void)w;
	move_all(true, 0);
	move_all(true, O_DIRECT);
}

AFTER_ALL(random_report);
USES_BACKEND;
