/* SPDX-License-Identifier: Apache-2.0 */
/* glue.c - what runs on workers for Python: a part of the module
 * sennit._native, whose source native_source.py writes.
 *
 * A fiber never runs Python. Python keeps one stack of frames for each thread,
 * and two fibers of one worker would both push to it and pop from it, each at
 * its own pace. So a task that calls Python does so on a helper thread
 * (sennit/blocking.h), where nothing else runs until the call returns. Workers
 * never take the GIL either: they leave notes, and threads of Python read them.
 */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum job_kind { JOB_TASK, JOB_MEMBER, JOB_ASYNC, JOB_PYTHON };

struct sink;
struct job;

/* Says that a job has ended. */
struct note {
	sennit_continuation then; /* of an await */
	struct sink        *sink;
	struct note        *next; /* under the sink's lock */
	struct job         *job;  /* whose last note this is; or NULL */
	uint64_t            cookie;
};

/* Where a thread of Python finds notes. */
struct sink {
	pthread_mutex_t lock;
	struct note    *first, **last;
	int             fd; /* an eventfd that is readable while there are
			     * notes; or -1 */
	atomic_int      owners;
};

/* A call that a task makes. Its owners: Python's future, the task, and the last
 * note. */
struct job {
	sennit_future future;
	struct note   ended;
	atomic_int    owners;
	enum job_kind kind;
	void         *function, *data, *value;
	int           error;
	atomic_bool  *group_failed; /* of the group; or NULL */
};

/* Calls the job's function of Python with the GIL. Written in Python. */
static int python_call(uint64_t cookie);

/* All jobs end here, so that Python releases what they needed. */
static struct sink ended = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .last = &ended.first,
			     .fd = -1 };
static atomic_long live; /* jobs, notes of awaits and sinks */

/* --- sinks --------------------------------------------------------------- */

static struct sink *ended_sink(void)
{
	return &ended;
}

static struct sink *sink_create(void)
{
	struct sink *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->fd < 0) {
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->first = NULL;
	s->last = &s->first;
	atomic_init(&s->owners, 1);
	atomic_fetch_add(&live, 1);
	return s;
}

static int sink_fd(const struct sink *s)
{
	return s->fd;
}

static void sink_release(struct sink *s)
{
	if (atomic_fetch_sub(&s->owners, 1) != 1)
		return;
	for (struct note *n = s->first, *next; n; n = next) {
		next = n->next;
		free(n);
		atomic_fetch_sub(&live, 1);
	}
	close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
	atomic_fetch_sub(&live, 1);
}

/* Runs on workers. The lock is held for a few instructions, and never by a
 * thread that holds the GIL or waits for it. The eventfd is readable exactly
 * while there are notes. */
static void post(struct sink *s, struct note *n)
{
	pthread_mutex_lock(&s->lock);
	n->next = NULL;
	if (!s->first && s->fd >= 0)
		(void)eventfd_write(s->fd, 1);
	*s->last = n;
	s->last = &n->next;
	pthread_mutex_unlock(&s->lock);
}

static void job_release(struct job *j)
{
	if (atomic_fetch_sub(&j->owners, 1) == 1) {
		free(j);
		atomic_fetch_sub(&live, 1);
	}
}

static struct note *take(struct sink *s)
{
	struct note *n;
	eventfd_t    count;

	pthread_mutex_lock(&s->lock);
	n = s->first;
	if (n) {
		s->first = n->next;
		if (!s->first) {
			s->last = &s->first;
			if (s->fd >= 0)
				(void)eventfd_read(s->fd, &count);
		}
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

/* Take up to `most` notes, and store their cookies. Returns their number. */
static size_t sink_read(struct sink *s, uint64_t *cookies, size_t most)
{
	struct note *n;
	size_t       count = 0;

	while (count < most && (n = take(s))) {
		cookies[count++] = n->cookie;
		if (n->job) {
			job_release(n->job);
			continue;
		}
		free(n);
		atomic_fetch_sub(&live, 1);
	}
	return count;
}

static long live_count(void)
{
	return atomic_load(&live);
}

/* In the child of a fork no other thread is left to release the lock. */
static void after_fork(void)
{
	pthread_mutex_init(&ended.lock, NULL);
}

/* --- jobs ---------------------------------------------------------------- */

static struct job *job_create(int kind, void *function, void *data,
			      uint64_t cookie)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->kind = (enum job_kind)kind;
	j->function = function;
	j->data = data;
	j->ended.cookie = cookie;
	j->ended.job = j;
	atomic_init(&j->owners, 1);
	atomic_fetch_add(&live, 1);
	return j;
}

static sennit_future *job_future(struct job *j)
{
	return &j->future;
}

/* If the system has no thread to give, sennit calls this on a fiber. */
static void *call_python(void *argument)
{
	struct job *j = argument;

	j->error = sennit_scheduler_current() ? -EAGAIN
					      : python_call(j->ended.cookie);
	return NULL;
}

static int call(struct job *j)
{
	int err;

	switch (j->kind) {
	case JOB_TASK:
		((sennit_task_fn *)j->function)(j->data);
		return 0;
	case JOB_MEMBER:
		err = ((sennit_member_fn *)j->function)(j->data);
		j->value = (void *)(intptr_t)err;
		return err < 0 ? err : 0;
	case JOB_ASYNC:
		return ((sennit_future_fn *)j->function)(j->data, &j->value);
	default:
		err = sennit_blocking_call_until(call_python, j, NULL,
						 SENNIT_NEVER);
		return err ? err : j->error;
	}
}

/* Post the note before the future is set: a thread that waited for the future
 * then finds the note, and frees what the job needed. A note that is posted
 * later might never be read. */
static int run_member(void *argument)
{
	struct job *j = argument;
	int         err = call(j);

	if (err && j->group_failed)
		atomic_store(j->group_failed, true);
	atomic_fetch_add(&j->owners, 1); /* the note's */
	post(&ended, &j->ended);
	if (err)
		sennit_future_set_error(&j->future, err);
	else
		sennit_future_set(&j->future, j->value);
	job_release(j);
	return err;
}

static void run_task(void *argument)
{
	(void)run_member(argument);
}

static int job_enqueue(sennit_scheduler *s, struct job *j)
{
	sennit_task task = { .run = run_task, .argument = j };
	int         err;

	atomic_fetch_add(&j->owners, 1);
	err = sennit_schedule_task_on(s, &task);
	if (err)
		job_release(j);
	return err;
}

/* --- libraries of C functions --------------------------------------------- */

/* Whether the library that contains the function calls another libsennit than
 * this module: an installed one, while the module has its own. That one knows
 * no scheduler of this one, so its waits would block workers. The library's
 * name is stored in *name then, cut off if it is long. */
static bool is_foreign(void *function, char *name, size_t size)
{
	Dl_info info;
	void   *library, *theirs;

	/* What is no library is the program, or was made at run time. */
	if (!dladdr(function, &info) || !info.dli_fname)
		return false;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	/* Of the library, or of those that it is linked to. */
	theirs = dlsym(library, "sennit_fiber_current");
	dlclose(library);
	if (!theirs || theirs == (void *)(uintptr_t)sennit_fiber_current)
		return false;
	strncpy(name, info.dli_fname, size - 1);
	name[size - 1] = '\0';
	return true;
}

/* --- groups -------------------------------------------------------------- */

struct group {
	sennit_group group;
	atomic_bool  failed;
};

static void group_open(struct group *g, sennit_scheduler *s,
		       sennit_time deadline)
{
	atomic_init(&g->failed, false);
	sennit_group_init_on(&g->group, s, deadline, 0);
}

static int group_spawn(struct group *g, struct job *j)
{
	int err;

	j->group_failed = &g->failed;
	atomic_fetch_add(&j->owners, 1);
	err = sennit_group_spawn(&g->group, run_member, j);
	if (err)
		job_release(j);
	return err;
}

static void group_cancel(struct group *g)
{
	atomic_store(&g->failed, true);
	(void)sennit_group_cancel(&g->group);
}

static bool group_failed(struct group *g)
{
	return atomic_load(&g->failed);
}

static int group_wait_until(struct group *g, sennit_time deadline)
{
	return sennit_group_wait_until(&g->group, deadline);
}

static void group_set_deadline(struct group *g, sennit_time deadline)
{
	sennit_group_set_deadline(&g->group, deadline);
}

static uint32_t group_members(struct group *g)
{
	return sennit_group_members(&g->group);
}

static int group_wait(struct group *g)
{
	return sennit_group_wait(&g->group);
}

/* --- awaits -------------------------------------------------------------- */

static void run_note(void *argument, void *value, int error)
{
	struct note *n = argument;
	struct sink *s = n->sink;

	(void)value;
	(void)error;
	post(s, n);
	sink_release(s); /* frees the note, too, if there is no reader left */
}

/* Post the cookie to the sink once the job has ended. */
static int job_notify(struct job *j, struct sink *s, uint64_t cookie)
{
	struct note *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->sink = s;
	n->cookie = cookie;
	n->then.run = run_note;
	n->then.argument = n;
	n->then.flags = SENNIT_CONTINUATION_INLINE;
	atomic_fetch_add(&s->owners, 1);
	atomic_fetch_add(&live, 1);
	sennit_future_then(&j->future, &n->then);
	return 0;
}

/* --- input and output ----------------------------------------------------- */

enum io_kind {
	IO_READ,
	IO_WRITE,
	IO_PREAD,
	IO_PWRITE,
	IO_RECV,
	IO_SEND,
	IO_POLL,
	IO_ACCEPT,
	IO_CONNECT
};

/* A call of libsennit-io that a fiber makes, and what it has made. */
struct io {
	enum io_kind kind;
	int          fd, flags;
	int          made;   /* the descriptor that the call has made, until
			      * Python takes it; or -1 */
	void        *buffer; /* or the text of an address */
	size_t       size;
	size_t       done; /* bytes of IO_WRITE, IO_PWRITE and IO_SEND */
	int64_t      at;
	sennit_time  deadline;
};

static struct io *io_create(void)
{
	struct io *io = calloc(1, sizeof(*io));

	if (io)
		io->made = -1;
	return io;
}

static void io_free(struct io *io)
{
	if (io->made >= 0)
		(void)sennit_close(io->made);
	free(io);
}

/* All bytes, as sennit_write_all() does, at a place of the file. */
static int pwrite_all(struct io *io)
{
	ptrdiff_t n;

	while (io->done < io->size) {
		n = sennit_pwrite(io->fd, (char *)io->buffer + io->done,
				  io->size - io->done,
				  io->at + (int64_t)io->done, io->deadline);
		if (n < 0)
			return (int)n;
		io->done += (size_t)n;
	}
	return 0;
}

static ptrdiff_t io_call(struct io *io)
{
	switch (io->kind) {
	case IO_READ:
		return sennit_read(io->fd, io->buffer, io->size, io->deadline);
	case IO_WRITE:
		return sennit_write_all(io->fd, io->buffer, io->size, &io->done,
					io->deadline);
	case IO_PREAD:
		return sennit_pread(io->fd, io->buffer, io->size, io->at,
				    io->deadline);
	case IO_PWRITE:
		return pwrite_all(io);
	case IO_RECV:
		return sennit_recv(io->fd, io->buffer, io->size, io->flags,
				   io->deadline);
	case IO_SEND:
		return sennit_send_all(io->fd, io->buffer, io->size, io->flags,
				       &io->done, io->deadline);
	case IO_POLL:
		return sennit_poll(io->fd, (short)io->flags, io->deadline);
	case IO_ACCEPT:
		return io->made = sennit_accept(io->fd, NULL, NULL,
						SOCK_CLOEXEC, io->deadline);
	default:
		return io->made = sennit_connect_to(io->buffer, io->deadline);
	}
}

/* A sennit_future_fn. */
static int io_run(void *argument, void **value)
{
	ptrdiff_t n = io_call(argument);

	if (n < 0)
		return (int)n;
	*value = (void *)n;
	return 0;
}
