/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-pig: processes each file. */
#include "file/replace.h"
#include "file/transfer.h"
#include "pig/compress.h"
#include "pig/decompress.h"
#include "pig/gzip.h"
#include "pig/names.h"
#include "pig/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status { DONE, FAILED, LEFT }; /* the exit status */

struct run {
	struct options     options;
	sennit_scheduler  *scheduler;
	struct compressor *compressor;
	enum status        status;
};

/* A file, or standard input, with a descriptor to read. */
struct source {
	const char *name; /* in messages */
	const char *path; /* NULL: standard input */
	int         fd;
	struct stat st;
};

static enum status say(enum status status, const char *name, const char *what)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", name, what);
	return status;
}

/* --- the bytes ---------------------------------------- */

static int put_head(const struct run *run, const struct source *s, int to,
		    uint64_t *size)
{
	const char   *slash = s->path ? strrchr(s->path, '/') : NULL;
	const char   *name = slash ? slash + 1 : s->path;
	time_t        modified = s->path ? s->st.st_mtime : 0;
	unsigned char head[GZIP_HEAD_MOST];

	if (run->options.nameless) {
		name = NULL;
		modified = 0;
	}
	*size = gzip_head(head, run->options.level, name, modified);
	return file_write(to, head, *size);
}

static void say_ratio(const struct source *s, uint64_t plain, uint64_t packed,
		      const char *target)
{
	double saved = plain ? 1 - (double)packed / (double)plain : 0;

	fprintf(stderr, "%s: %.1f%%%s%s\n", s->name, 100 * saved,
		target ? " -- made " : "", target ? target : "");
}

/* The thread that writes to a pipe may block SIGPIPE. */
static enum status say_error(const struct source *s, const char *target,
			     bool on_read, int error)
{
	if (error == -EPIPE)
		raise(SIGPIPE);
	return say(FAILED, on_read ? s->name : target, strerror(-error));
}

static enum status compress(struct run *run, const struct source *s, int to,
			    const char *target)
{
	struct compressed done = { .in = 0 };
	unsigned char     tail[GZIP_TAIL];
	uint64_t          head;
	int               error = put_head(run, s, to, &head);

	if (!error)
		error = compress_stream(run->compressor, s->fd, to, &done);
	if (!error) {
		gzip_tail(tail, done.crc, done.in);
		error = file_write(to, tail, sizeof(tail));
	}
	if (error)
		return say_error(s, target, done.on_read, error);
	if (run->options.verbose)
		say_ratio(s, done.in, head + done.out + sizeof(tail),
			  s->path && !run->options.to_stdout ? target : NULL);
	return DONE;
}

static enum status decompress(struct run *run, const struct source *s, int to,
			      const char *target)
{
	struct decompressed done;
	int                 error = decompress_stream(s->fd, to, &done);

	if (done.wrong)
		return say(FAILED, s->name, done.wrong);
	if (error)
		return say_error(s, target, done.on_read, error);
	if (run->options.verbose)
		say_ratio(s, done.out, done.in,
			  s->path && !run->options.to_stdout &&
					  !run->options.test
				  ? target
				  : NULL);
	if (done.has_garbage)
		return say(LEFT, s->name, "trailing garbage ignored");
	return DONE;
}

static enum status convert(struct run *run, const struct source *s, int to,
			   const char *target)
{
	if (run->options.decompress)
		return decompress(run, s, to, target);
	return compress(run, s, to, target);
}

/* --- outputs ---------------------------------------- */

static enum status convert_to_stdout(struct run *run, const struct source *s)
{
	const struct options *o = &run->options;

	if (o->test)
		return convert(run, s, -1, "nowhere");
	if (!o->decompress && !o->force && isatty(STDOUT_FILENO))
		return say(FAILED, "standard output",
			   "a terminal; use -f to write to it");
	return convert(run, s, STDOUT_FILENO, "standard output");
}

/* The source is removed after the result has its name. */
static enum status convert_to_file(struct run *run, const struct source *s,
				   const char *target)
{
	const struct options *o = &run->options;
	struct replacement    r;
	enum status           status;
	int                   error;

	/* this is checked again when the file gets its name */
	if (!o->force && !access(target, F_OK))
		return say(LEFT, target,
			   "exists; skipped (use -f to replace it)");
	error = replace_open(&r, target);
	if (error)
		return say(FAILED, target, strerror(-error));
	status = convert(run, s, r.fd, target);
	if (status == FAILED) {
		replace_drop(&r);
		return FAILED;
	}
	replace_take_after(&r, &s->st);
	error = replace_commit(&r, o->force);
	if (error)
		return say(error == -EEXIST ? LEFT : FAILED, target,
			   strerror(-error));
	if (!o->keep && unlink(s->path))
		return say(FAILED, s->path, strerror(errno));
	return status;
}

static enum status convert_file(struct run *run, const struct source *s)
{
	char *(*name)(const char *) = run->options.decompress
					      ? name_decompressed
					      : name_compressed;
	enum status status;
	char       *target;

	if (run->options.to_stdout || run->options.test)
		return convert_to_stdout(run, s);
	if (!run->options.decompress && !run->options.force &&
	    name_is_compressed(s->path))
		return say(LEFT, s->name, "already has a suffix; skipped");
	errno = EINVAL;
	target = name(s->path);
	if (!target)
		return errno == ENOMEM
			       ? say(FAILED, s->name, strerror(ENOMEM))
			       : say(LEFT, s->name, "unknown suffix; skipped");
	status = convert_to_file(run, s, target);
	free(target);
	return status;
}

/* --- inputs ---------------------------------------- */

/* Return the reason to skip the file, or NULL. */
static const char *reason_to_leave(const struct options *o,
				   const struct source  *s)
{
	if (S_ISDIR(s->st.st_mode))
		return "a directory; skipped";
	if (o->to_stdout || o->test)
		return NULL;
	if (!S_ISREG(s->st.st_mode))
		return "not a regular file; skipped";
	if (!o->keep && !o->force && s->st.st_nlink > 1)
		return "has other links; skipped (use -k or -f)";
	return NULL;
}

static enum status convert_path(struct run *run, const char *path)
{
	const struct options *o = &run->options;
	struct source         s = { .name = path, .path = path };
	const char           *reason;
	enum status           status;
	int                   flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;

	if (!o->to_stdout && !o->test)
		flags |= O_NONBLOCK | (o->force ? 0 : O_NOFOLLOW);
	s.fd = open(path, flags);
	if (s.fd < 0 && errno == ELOOP)
		return say(LEFT, path, "a symbolic link; skipped");
	if (s.fd < 0 || fstat(s.fd, &s.st)) {
		status = say(FAILED, path, strerror(errno));
		if (s.fd >= 0)
			close(s.fd);
		return status;
	}
	reason = reason_to_leave(o, &s);
	status = reason ? say(LEFT, path, reason) : convert_file(run, &s);
	close(s.fd);
	return status;
}

static enum status convert_stdin(struct run *run)
{
	struct source s = { .name = "standard input", .fd = STDIN_FILENO };

	return convert_to_stdout(run, &s);
}

/* The status of an error takes precedence over that of a warning. */
static void convert_all(struct run *run)
{
	char      **file = run->options.files;
	enum status status;

	if (!*file)
		run->status = convert_stdin(run);
	for (; *file; file++) {
		status = strcmp(*file, "-") ? convert_path(run, *file)
					    : convert_stdin(run);
		if (run->status != FAILED && status != DONE)
			run->status = status;
	}
}

/* --- the program ---------------------------------------- */

/* Tasks run oldest first, because the oldest block is needed first. The threads
 * start with signals blocked, so that the main thread gets them. Returns 0 or a
 * negative errno value. */
static int start_workers(struct run *run)
{
	int error;

	replace_block_signals();
	error = sennit_scheduler_create(
		&run->scheduler,
		SENNIT_CONFIG(.workers = run->options.workers, .name = "pig",
			      .order = SENNIT_ORDER_OLDEST,
			      .start = SENNIT_START_NOW));
	if (!error) {
		error = compressor_new(&run->compressor, run->scheduler,
				       run->options.level, run->options.block);
		if (error)
			sennit_scheduler_release(run->scheduler);
	}
	replace_unblock_signals();
	return error;
}

static void end_workers(struct run *run)
{
	compressor_free(run->compressor);
	(void)!sennit_scheduler_shutdown(run->scheduler, SENNIT_NEVER);
}

int main(int count, char **arguments)
{
	struct run run = { .status = DONE };
	int        status, error;

	if (!options_read(&run.options, count, arguments, &status))
		return status;
	if (run.options.test)
		run.options.decompress = true;
	replace_on_signals();
	if (run.options.decompress) {
		convert_all(&run);
		return (int)run.status;
	}
	error = start_workers(&run);
	if (error)
		return (int)say(FAILED, "workers", strerror(-error));
	convert_all(&run);
	end_workers(&run);
	return (int)run.status;
}
