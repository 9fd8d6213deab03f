/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - the task that searches one file. */
#include "grep/search.h"
#include "grep/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number of bytes that are searched at once. A longer line makes it
 * more. */
#define BUFFER (96 << 10)

/* A search with this much output waits for its turn. */
#define MUCH (256 << 10)

/* The walk owns a search until it spawns its task. The task returns it. */
struct search {
	struct run     *run;
	sennit_ticket   ticket;
	struct matcher *matcher;
	char           *buffer;
	size_t          room;
	struct text     text; /* not yet printed */
	/* For the current file: */
	char    *path;
	bool     is_named;
	bool     is_binary;
	bool     is_over; /* no later line counts */
	uint64_t count;
	uint64_t number; /* number of newlines counted */
};

void run_failed(struct run *run, const char *name, const char *why)
{
	atomic_store_explicit(&run->failed, true, memory_order_relaxed);
	fprintf(stderr, PROGRAM ": %s: %s\n", name, why);
}

static const char *name_of(const struct search *s)
{
	return strcmp(s->path, "-") ? s->path : "(standard input)";
}

/* --- printing ---------------------------------------- */

/* After a write error nothing more is written. Returns 0 or that error. */
static int print(struct search *s)
{
	struct run *run = s->run;

	/* Its turn comes in a cancelled group, too. */
	(void)!sennit_ticket_wait_until(&s->ticket, SENNIT_UNCANCELLED);
	if (!run->written)
		run->written = output_add(&run->output, &s->text);
	s->text.size = 0;
	if (run->written)
		sennit_group_cancel(&run->group);
	return run->written;
}

static int add_text(struct search *s, const char *text)
{
	return text_add(&s->text, text, strlen(text));
}

static int add_number(struct search *s, uint64_t number, const char *behind)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)number,
		 behind);
	return add_text(s, text);
}

static int add_name(struct search *s, const char *behind)
{
	int error = 0;

	if (s->run->options.names)
		error = add_text(s, name_of(s));
	return error || !s->run->options.names ? error : add_text(s, behind);
}

static int add_line(struct search *s, const struct line *line)
{
	int error = add_name(s, ":");

	if (!error && s->run->options.numbers)
		error = add_number(s, s->number + 1, ":");
	if (!error)
		error = text_add(&s->text, line->begin,
				 (size_t)(line->end - line->begin));
	if (!error)
		error = text_add(&s->text, "\n", 1);
	if (!error && s->text.size > MUCH)
		error = print(s);
	return error;
}

/* Add what is printed once per file. */
static int add_end(struct search *s)
{
	int error;

	if (s->run->options.list) {
		error = s->count ? add_text(s, name_of(s)) : 0;
		return error || !s->count ? error : add_text(s, "\n");
	}
	if (!s->run->options.count)
		return 0;
	error = add_name(s, ":");
	return error ? error : add_number(s, s->count, "\n");
}

/* --- lines ---------------------------------------- */

static int found_line(struct search *s, const struct line *line)
{
	const struct options *o = &s->run->options;

	s->count++;
	if (o->list) {
		s->is_over = true;
		return 0;
	}
	if (o->count)
		return 0;
	if (!s->is_binary)
		return add_line(s, line);
	s->is_over = true;
	fprintf(stderr, PROGRAM ": %s: binary file matches\n", name_of(s));
	return 0;
}

static void count_newlines(struct search *s, const char *begin, const char *end)
{
	if (!s->run->options.numbers)
		return;
	while ((begin = memchr(begin, '\n', (size_t)(end - begin)))) {
		s->number++;
		begin++;
	}
}

/* Search complete lines. Returns 0, -ELOOP if the pattern takes too many steps,
 * or some other error. */
static int search_lines(struct search *s, const char *begin, const char *end)
{
	struct line line;
	const char *counted = begin;
	int         found, error;

	while (begin < end && !s->is_over) {
		found = pattern_find(s->run->pattern, s->matcher, begin, end,
				     &line);
		if (found < 0)
			return -ELOOP;
		if (!found)
			break;
		count_newlines(s, counted, line.begin);
		counted = line.begin;
		error = found_line(s, &line);
		if (error)
			return error;
		begin = line.end + 1;
	}
	count_newlines(s, counted, end);
	return 0;
}

/* --- bytes ---------------------------------------- */

/* As in GNU grep, lines of a binary file also end at zero bytes. */
static void look_for_zeros(struct search *s, char *begin, size_t size)
{
	char *end = begin + size, *zero = memchr(begin, '\0', size);

	if (!zero)
		return;
	s->is_binary = true;
	for (; zero; zero = memchr(zero, '\0', (size_t)(end - zero)))
		*zero = '\n';
}

static int grow(struct search *s)
{
	char *more = s->room > SIZE_MAX / 2 ? NULL
					    : realloc(s->buffer, 2 * s->room);

	if (!more)
		return -ENOMEM;
	s->buffer = more;
	s->room *= 2;
	return 0;
}

static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t got;

	do
		got = read(fd, to, size);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Search the lines among the first `have` bytes. The last `fresh` of them were
 * just read; 0 at the end of the file. Returns the number of bytes that remain,
 * or an error. */
static ssize_t search_bytes(struct search *s, size_t have, size_t fresh)
{
	char  *newline;
	size_t whole = have;
	int    error;

	look_for_zeros(s, s->buffer + have - fresh, fresh);
	if (fresh) {
		newline = memrchr(s->buffer + have - fresh, '\n', fresh);
		whole = newline ? (size_t)(newline + 1 - s->buffer) : 0;
	}
	error = search_lines(s, s->buffer, s->buffer + whole);
	if (error)
		return error;
	memmove(s->buffer, s->buffer + whole, have - whole);
	return (ssize_t)(have - whole);
}

/* --- holes ---------------------------------------- */

/* Return the position in a regular file before its end, or -1. */
static off_t place_in_file(int fd, off_t *size)
{
	struct stat st;
	off_t       at;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	*size = st.st_size;
	at = lseek(fd, 0, SEEK_CUR);
	return at < *size ? at : -1;
}

/* As in GNU grep, a file with a hole is binary from its beginning. */
static bool has_hole(int fd)
{
	off_t size, at = place_in_file(fd, &size), hole;

	if (at < 0)
		return false;
	hole = lseek(fd, at, SEEK_HOLE);
	(void)lseek(fd, at, SEEK_SET);
	return hole >= 0 && hole < size;
}

/* A hole is skipped like empty lines, unless empty lines match. */
static void skip_hole(const struct search *s, int fd)
{
	static const char empty[] = "\n";
	struct line       line;
	off_t             size, at = place_in_file(fd, &size);

	if (at < 0 ||
	    pattern_find(s->run->pattern, s->matcher, empty, empty + 1, &line))
		return;
	if (lseek(fd, at, SEEK_DATA) < 0 && errno == ENXIO)
		(void)lseek(fd, size, SEEK_SET);
}

/* --- a file ---------------------------------------- */

static int search_fd(struct search *s, int fd)
{
	ssize_t have = 0, got;
	bool    is_first = true, in_zeros;
	int     error = 0;

	do {
		if ((size_t)have == s->room)
			error = grow(s);
		if (!error)
			error = sennit_check_cancelled();
		if (error)
			return error;
		got = read_some(fd, s->buffer + have, s->room - (size_t)have);
		if (got < 0)
			return (int)got;
		if (is_first && (size_t)got == s->room)
			s->is_binary = has_hole(fd);
		is_first = false;
		in_zeros = got && !s->buffer[have + got - 1];
		have = search_bytes(s, (size_t)(have + got), (size_t)got);
		if (have < 0)
			return (int)have;
		if (in_zeros && !s->is_over)
			skip_hole(s, fd);
	} while (got && !s->is_over);
	return 0;
}

/* --- the task ---------------------------------------- */

static int open_file(const struct search *s)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;

	if (!strcmp(s->path, "-"))
		return dup(STDIN_FILENO);
	if (!s->is_named)
		flags |= O_NOFOLLOW | O_NONBLOCK;
	return open_path(s->path, flags);
}

static const char *reason(int error)
{
	return error == -ELOOP ? "the pattern takes too many steps"
			       : strerror(-error);
}

static void search_open(struct search *s, int fd)
{
	int error;

	if (output_is(&s->run->output, fd)) {
		run_failed(s->run, name_of(s), "input file is also the output");
		return;
	}
	error = search_fd(s, fd);
	if (error && error != -ECANCELED && error != s->run->written)
		run_failed(s->run, name_of(s), reason(error));
	error = add_end(s);
	if (error)
		run_failed(s->run, name_of(s), reason(error));
	if (s->count)
		atomic_store_explicit(&s->run->matched, true,
				      memory_order_relaxed);
}

/* Search a file, as a member of the group. An error in one file does not end
 * the others. */
static int search_file(void *argument)
{
	struct search *s = argument;
	struct run    *run = s->run;
	int            fd = open_file(s);

	if (fd < 0) {
		run_failed(run, name_of(s), strerror(errno));
	} else {
		search_open(s, fd);
		close(fd);
	}
	(void)print(s);
	sennit_ticket_done(&s->ticket);
	free(s->path);
	(void)!sennit_channel_send(&run->spare, &s);
	return 0;
}

static int start(struct search *s)
{
	struct run *run = s->run;
	int         error;

	sennit_ticket_queue_take(&run->order, &s->ticket);
	error = sennit_group_spawn(&run->group, search_file, s);
	if (error) {
		sennit_ticket_done(&s->ticket);
		free(s->path);
		(void)!sennit_channel_send(&run->spare, &s);
	}
	return error;
}

int search_start(struct run *run, const char *path, bool is_named)
{
	struct search *s;
	int            error = sennit_channel_receive(&run->spare, &s);

	if (error)
		return error;
	s->path = strdup(path);
	if (!s->path) {
		(void)!sennit_channel_send(&run->spare, &s);
		return -ENOMEM;
	}
	s->is_named = is_named;
	s->is_binary = s->is_over = false;
	s->count = s->number = 0;
	return start(s);
}

/* --- memory ---------------------------------------- */

static struct search *make_search(struct run *run)
{
	struct search *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->run = run;
	s->room = BUFFER;
	s->buffer = malloc(s->room);
	s->matcher = matcher_new(run->pattern);
	return s;
}

int searches_init(struct run *run, uint32_t count)
{
	struct search *s;
	int            error;

	error = sennit_channel_init(&run->spare, count, sizeof(struct search *),
				    NULL);
	run->searches = calloc(count, sizeof(struct search *));
	if (!run->searches)
		return -ENOMEM;
	for (; run->search_count < count && !error; run->search_count++) {
		s = run->searches[run->search_count] = make_search(run);
		error = s && s->buffer && s->matcher
				? sennit_channel_send(&run->spare, &s)
				: -ENOMEM;
	}
	return error;
}

void searches_free(struct run *run)
{
	struct search *s;

	for (uint32_t i = 0; i < run->search_count; i++) {
		s = run->searches[i];
		if (!s)
			continue;
		matcher_free(s->matcher);
		text_free(&s->text);
		free(s->buffer);
		free(s);
	}
	free(run->searches);
	sennit_channel_destroy(&run->spare);
}
