/* SPDX-License-Identifier: Apache-2.0 */
/* reader.c - a reader returns exactly what was sent, however it arrives and
 * whatever ends a wait. The results are compared with the text itself.
 */
#include "streams.h"

#include "testing/misuse.h"
#include "testing/random.h"
#include "sennit/reader.h"

/* --- readers of each kind ----------------------------------------------- */

enum kind { DESCRIPTOR, STREAM, FUNCTION, KINDS };

struct subject {
	sennit_reader  r;
	sennit_stream *stream;
	enum kind      kind;
	int            fd;
	char           room[256];
};

/* In pieces of at most three bytes. */
static ptrdiff_t read_little(void *subject, void *to, size_t size,
			     sennit_time deadline)
{
	struct subject *x = subject;

	EXPECT(size > 0);
	return sennit_read(x->fd, to, size < 3 ? size : 3, deadline);
}

static void begin_reader(struct subject *x, enum kind kind, int fd, size_t size,
			 bool own)
{
	void *memory = own ? NULL : x->room;

	x->kind = kind;
	x->fd = fd;
	if (kind == DESCRIPTOR)
		sennit_reader_init(&x->r, fd, memory, size);
	else if (kind == FUNCTION)
		sennit_reader_init_source(&x->r, read_little, x, memory, size);
	else
		sennit_reader_init_stream(&x->r, x->stream = must_open(fd),
					  memory, size);
}

static void end_reader(struct subject *x)
{
	sennit_reader_destroy(&x->r);
	if (x->kind == STREAM)
		sennit_stream_close(x->stream);
}

/* --- expected results --------------------------------------------------- */

struct text {
	const char *bytes;
	size_t      size, at; /* at: the number of bytes taken */
	size_t      room;     /* of the reader */
};

/* The size up to and including the byte; 0: there is none. */
static size_t up_to(const struct text *t, char byte)
{
	const char *found = memchr(t->bytes + t->at, byte, t->size - t->at);

	return found ? (size_t)(found + 1 - t->bytes) - t->at : 0;
}

static bool passes(ptrdiff_t n)
{
	return n == -ETIMEDOUT;
}

/* The length of the next line and, in *taken, the number of its bytes; or the
 * error. */
static ptrdiff_t expected_line(const struct text *t, size_t *taken)
{
	const size_t left = t->size - t->at;
	const char  *at = t->bytes + t->at;
	size_t       n = up_to(t, '\n');

	*taken = n ? n : left;
	if (n > t->room || (!n && left >= t->room))
		return -EMSGSIZE;
	if (!left)
		return -ENODATA;
	if (!n)
		return (ptrdiff_t)left;
	return (ptrdiff_t)n - 1 - (n > 1 && at[n - 2] == '\r');
}

static ptrdiff_t check_line(struct text *t, sennit_reader *r,
			    sennit_time deadline)
{
	char     *line = NULL;
	size_t    taken;
	ptrdiff_t wanted = expected_line(t, &taken);
	ptrdiff_t n = sennit_reader_read_line(r, &line, deadline);

	EXPECT(n == wanted || passes(n));
	EXPECT((n >= 0) == !!line);
	if (n < 0 || n != wanted)
		return n;
	EXPECT(!memcmp(line, t->bytes + t->at, (size_t)n));
	EXPECT(line[n] == '\0');
	memset(line, 'x', (size_t)n + 1); /* the caller may change it */
	t->at += taken;
	return n;
}

static ptrdiff_t check_until(struct text *t, sennit_reader *r, char byte,
			     sennit_time deadline)
{
	void     *bytes = NULL;
	size_t    size = up_to(t, byte);
	bool      large = size ? size > t->room : t->size - t->at >= t->room;
	ptrdiff_t wanted = large  ? -EMSGSIZE
			   : size ? (ptrdiff_t)size
				  : -ENODATA;
	ptrdiff_t n = sennit_reader_read_delimited(r, byte, &bytes, deadline);

	EXPECT(n == wanted || passes(n));
	EXPECT((n >= 0) == !!bytes);
	if (n > 0 && n == wanted) {
		EXPECT(!memcmp(bytes, t->bytes + t->at, (size_t)n));
		t->at += (size_t)n;
	}
	return n;
}

static ptrdiff_t check_some(struct text *t, sennit_reader *r, size_t size,
			    sennit_time deadline)
{
	char      bytes[512];
	ptrdiff_t n = sennit_reader_read(r, bytes, size, deadline);

	EXPECT(n <= (ptrdiff_t)size);
	EXPECT(n || !size || t->at == t->size);
	EXPECT(n >= 0 || passes(n));
	if (n > 0) {
		EXPECT((size_t)n <= t->size - t->at);
		EXPECT(!memcmp(bytes, t->bytes + t->at, (size_t)n));
		t->at += (size_t)n;
	}
	return n;
}

static ptrdiff_t check_exactly(struct text *t, sennit_reader *r, size_t size,
			       sennit_time deadline)
{
	char   bytes[512];
	size_t done = 0;
	int err = sennit_reader_read_exactly(r, bytes, size, &done, deadline);

	EXPECT(done <= t->size - t->at);
	EXPECT(err ? done < size : done == size);
	EXPECT(err != -ENODATA || done == t->size - t->at);
	EXPECT(!err || err == -ENODATA || passes(err));
	EXPECT(!memcmp(bytes, t->bytes + t->at, done));
	t->at += done;
	return err;
}

static ptrdiff_t check_peek(struct text *t, sennit_reader *r, size_t least,
			    sennit_time deadline)
{
	void     *bytes;
	ptrdiff_t n = sennit_reader_peek(r, least, &bytes, deadline);
	size_t    size;

	if (n < 0) {
		EXPECT(passes(n) ||
		       n == (least > t->room ? -EMSGSIZE : -ENODATA));
		EXPECT(n != -ENODATA || least > t->size - t->at);
		return n == -EMSGSIZE ? 0 : n; /* the reader may be empty */
	}
	size = (size_t)n;
	EXPECT(size >= least && size <= t->size - t->at && size <= t->room);
	EXPECT(!size || !memcmp(bytes, t->bytes + t->at, size));
	size = size ? least : 0;
	sennit_reader_skip(r, size);
	t->at += size;
	return n;
}

/* --- an end at every offset --------------------------------------------- */

static const char lines[] = "one\r\n\ntwo\rtwo\n\r\n\r\r\nthree\0\nfour\r";

/* The first `size` bytes of the text, then the end. */
static void read_prefix(enum kind kind, size_t size, size_t room, bool own)
{
	struct text    t = { lines, size, 0, room };
	struct subject x;
	ptrdiff_t      n;
	int            fds[2];

	open_sockets(fds);
	must(write(fds[1], lines, size) == (ptrdiff_t)size, "write");
	close(fds[1]);
	begin_reader(&x, kind, fds[0], room, own);
	do
		n = check_line(&t, &x.r, SENNIT_NEVER);
	while (n >= 0 || (n == -EMSGSIZE && check_some(&t, &x.r, 1, 0) == 1));
	EXPECT(n == -ENODATA && t.at == size);
	for (int i = 0; i < 2; i++)
		EXPECT(check_line(&t, &x.r, SENNIT_NEVER) == -ENODATA);
	end_reader(&x);
	close(fds[0]);
}

static void read_prefixes(void *unused)
{
	(void)unused;
	for (size_t size = 0; size < sizeof(lines); size++)
		for (size_t room = 1; room < 12; room++)
			read_prefix((enum kind)(size % KINDS), size, room,
				    (size / KINDS + room) % 2);
}

TEST_WITH_WORKERS(the_end_may_be_anywhere)
{
	in_each_place(read_prefixes, NULL);
}

/* --- random calls ------------------------------------------------------- */

enum { TEXT = 6000, RUNS = 4 };

struct exchange {
	char        text[TEXT];
	int         fds[2];
	uint64_t    in, out; /* random */
	enum kind   kind;
	size_t      room;
	atomic_uint over;
};

static void make_text(struct exchange *e)
{
	static const char letters[] = "aabbcdefg\n\n\r\r\n";

	for (size_t i = 0; i < TEXT; i++)
		e->text[i] = letters[random_below(&e->out, sizeof(letters))];
}

static void send_text(void *argument)
{
	struct exchange *e = argument;

	for (size_t sent = 0; sent < TEXT;) {
		size_t n = 1 + random_below(&e->out, 40);

		if (n > TEXT - sent)
			n = TEXT - sent;
		if (sennit_send_all(e->fds[1], e->text + sent, n, 0, NULL,
				    SENNIT_NEVER))
			break; /* the receiving fiber has failed */
		sent += n;
		if (random_below(&e->out, 4) == 0)
			sennit_yield();
	}
	sennit_shutdown(e->fds[1], SHUT_WR);
	atomic_fetch_add(&e->over, 1);
}

static ptrdiff_t check_any(struct text *t, sennit_reader *r, uint64_t *random)
{
	const uint32_t    size = random_below(random, 100);
	const uint32_t    us = random_below(random, 50);
	const sennit_time deadline =
		us > 30 ? SENNIT_NEVER
		: us    ? sennit_after(us * SENNIT_MICROSECOND)
			: 0;

	switch (random_below(random, 8)) {
	case 0:
		return check_until(t, r, 'e', deadline);
	case 1:
		return check_some(t, r, size, deadline);
	case 2:
		return check_exactly(t, r, size, deadline);
	case 3:
		return check_peek(t, r, size, deadline);
	default:
		return check_line(t, r, deadline);
	}
}

static void receive_text(void *argument)
{
	struct exchange *e = argument;
	struct text      t = { e->text, TEXT, 0, e->room };
	struct subject   x;

	begin_reader(&x, e->kind, e->fds[0], e->room, random_below(&e->in, 2));
	while (t.at < TEXT && !atomic_load(&broken_claims))
		if (check_any(&t, &x.r, &e->in) == -EMSGSIZE)
			EXPECT(check_some(&t, &x.r, 1, 0) == 1);
	EXPECT(t.at < TEXT || check_line(&t, &x.r, SENNIT_NEVER) == -ENODATA);
	end_reader(&x);
	sennit_shutdown(e->fds[0], SHUT_RD);
	atomic_fetch_add(&e->over, 1);
}

TEST_WITH_WORKERS(any_call_continues_where_the_last_one_stopped)
{
	struct exchange *all = calloc(RUNS * KINDS, sizeof(*all));

	must(all, "calloc");
	for (uint32_t i = 0; i < RUNS * KINDS; i++) {
		struct exchange *e = &all[i];

		e->in = random_stream(2 * i);
		e->out = random_stream(2 * i + 1);
		e->kind = (enum kind)(i % KINDS);
		e->room = 1 + random_below(&e->in, i % 2 ? 16 : 200);
		make_text(e);
		open_sockets(e->fds);
		must_schedule(receive_text, e);
		must_schedule(send_text, e);
	}
	for (int i = 0; i < RUNS * KINDS; i++) {
		assert_soon(atomic_load(&all[i].over) == 2);
		close_both(all[i].fds);
	}
	free(all);
}

/* --- waits that are ended ----------------------------------------------- */

struct ended {
	enum kind kind;
	int       fds[2];
	int       end;
};

static int read_until_ended(void *argument)
{
	struct ended  *e = argument;
	struct subject x;
	char          *line = NULL;

	begin_reader(&x, e->kind, e->fds[0], 64, true);
	EXPECT(sennit_reader_read_line(&x.r, &line, SENNIT_NEVER) == e->end);
	EXPECT(!line);
	give_two_bytes(e->fds);
	must(write(e->fds[1], "c\nd\n", 4) == 4, "write");
	EXPECT(sennit_reader_read_line(&x.r, &line, SENNIT_UNCANCELLED) == 5);
	EXPECT(!strcmp(line, "ababc"));
	/* Buffered bytes are returned, even in a cancelled group. */
	EXPECT(sennit_reader_peek(&x.r, 2, (void **)&line,
				  SENNIT_UNCANCELLED) == 2);
	EXPECT(sennit_reader_read_line(&x.r, &line, SENNIT_NEVER) == 1);
	EXPECT(!strcmp(line, "d"));
	end_reader(&x);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_wait_and_loses_no_byte)
{
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct ended e = { .kind = kind, .end = -ECANCELED };
		sennit_group g;

		open_sockets(e.fds);
		give_two_bytes(e.fds);
		sennit_group_init(&g, SENNIT_NEVER, 0);
		assert_int_equal(sennit_group_spawn(&g, read_until_ended, &e),
				 0);
		assert_soon(io_waits(w->s) == 1);
		sennit_group_cancel(&g);
		assert_int_equal(sennit_group_wait(&g), -ECANCELED);
		close_both(e.fds);
	}
}

TEST_WITH_WORKERS(the_deadline_of_a_group_ends_the_wait_and_loses_no_byte)
{
	(void)w;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct ended e = { .kind = kind, .end = -ETIMEDOUT };
		sennit_group g;

		open_sockets(e.fds);
		give_two_bytes(e.fds);
		sennit_group_init(&g, in_ms(2), 0);
		assert_int_equal(sennit_group_spawn(&g, read_until_ended, &e),
				 0);
		/* Its members have returned 0. */
		assert_int_equal(sennit_group_wait(&g), 0);
		close_both(e.fds);
	}
}

/* --- errors ------------------------------------------------------------- */

/* Bytes, then an error, then bytes. */
static ptrdiff_t read_and_fail(void *source, void *to, size_t size,
			       sennit_time deadline)
{
	int *calls = source;

	(void)size;
	(void)deadline;
	if ((*calls)++ == 1)
		return -EIO;
	memcpy(to, "ab\n", 3);
	return *calls == 1 ? 2 : 3;
}

TEST_WITHOUT(bytes_before_an_error_stay)
{
	int           calls = 0;
	char          room[8], *line;
	sennit_reader r;

	(void)w;
	sennit_reader_init_source(&r, read_and_fail, &calls, room,
				  sizeof(room));
	assert_int_equal(sennit_reader_read_line(&r, &line, SENNIT_NEVER),
			 -EIO);
	assert_int_equal(sennit_reader_read_line(&r, &line, SENNIT_NEVER), 4);
	assert_string_equal(line, "abab");
	sennit_reader_destroy(&r);
}

static void read_closed(void *unused)
{
	sennit_reader r;
	char          room[8], *line;

	(void)unused;
	sennit_reader_init(&r, -1, room, sizeof(room));
	EXPECT(sennit_reader_read_line(&r, &line, SENNIT_NEVER) == -EBADF);
	EXPECT(sennit_reader_peek(&r, 9, (void **)&line, 0) == -EMSGSIZE);
	EXPECT(sennit_reader_peek(&r, 0, (void **)&line, 0) == 0);
	sennit_reader_skip(&r, 0);
	sennit_reader_destroy(&r);
}

TEST_WITH_WORKERS(errors_of_the_descriptor_are_told)
{
	in_each_place(read_closed, NULL);
}

/* --- memory ------------------------------------------------------------- */

static void wait_without_memory(void *unused)
{
	struct subject x;
	int            fds[2];
	char          *line;

	(void)unused;
	open_sockets(fds);
	begin_reader(&x, STREAM, fds[0], 64, true);
	must(write(fds[1], "a\n", 2) == 2, "write");
	EXPECT(sennit_reader_read_line(&x.r, &line, SENNIT_NEVER) == 1);
	EXPECT(x.r.bytes_ != NULL);
	EXPECT(sennit_reader_read_line(&x.r, &line, 0) == -ETIMEDOUT);
	EXPECT(x.r.bytes_ == NULL);
	end_reader(&x);
	close_both(fds);
}

TEST_WITH_WORKERS(an_idle_reader_of_a_stream_has_no_memory)
{
	in_each_place(wait_without_memory, NULL);
}

/* --- misuse ------------------------------------------------------------- */

static sennit_reader reader;
static char          room[1];
static size_t        too_many = 2;

MISUSE_BY(a_reader_without_room, "sennit_reader_init",
	  sennit_reader_init(&reader, 0, NULL, 0));
MISUSE_BY(skipping_what_is_not_there, "sennit_reader_skip",
	  sennit_reader_init(&reader, 0, room, 1),
	  sennit_reader_skip(&reader, 1));
MISUSE_BY(more_read_than_is_asked_for, "sennit_reader_read_exactly",
	  sennit_reader_init(&reader, 0, room, 1),
	  (void)!sennit_reader_read_exactly(&reader, room, 1, &too_many, 0));

AFTER_ALL(random_report);
USES_BACKEND;
