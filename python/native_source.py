#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""native_source.py FILE - writes the C source of the module sennit._native to FILE.

Compile FILE with Python's headers and link it to libsennit-io and libsennit.
The compiler checks the declarations below against sennit's headers and fills in
sizes and offsets. CMake calls this, and setup.py.
"""
import os
import sys

import cffi

DECLARATIONS = """
typedef uint64_t sennit_time;
typedef struct sennit_scheduler sennit_scheduler;
typedef struct sennit_wait_group { ...; } sennit_wait_group;
typedef struct sennit_channel { ...; } sennit_channel;
typedef struct sennit_future { ...; } sennit_future;
typedef struct sennit_config {
	size_t size;
	uint32_t workers, max_fibers, max_blocking_threads;
	size_t stack_size;
	const char *name;
	...;
} sennit_config;
typedef struct sennit_stats {
	size_t size;
	uint64_t tasks, steals, blocks, fibers, threads, blocking_threads;
	...;
} sennit_stats;

#define SENNIT_VERSION_MAJOR ...
#define SENNIT_VERSION_MINOR ...
#define SENNIT_VERSION_PATCH ...
#define SENNIT_NEVER ...
#define SENNIT_WORKERS_MAX ...
#define SENNIT_CHANNEL_UNBOUNDED ...
#define SENNIT_FUTURE_WAIT_MAX ...
#define SENNIT_WAIT_GROUP_MAX ...

sennit_time sennit_after(uint64_t nanoseconds);
const char *sennit_strerror(int error);

int sennit_scheduler_create(sennit_scheduler **out,
	const sennit_config *config);
void sennit_scheduler_retain(sennit_scheduler *s);
void sennit_scheduler_release(sennit_scheduler *s);
int sennit_scheduler_shutdown(sennit_scheduler *s, sennit_time deadline);
uint32_t sennit_scheduler_workers(const sennit_scheduler *s);
void sennit_scheduler_get_stats(sennit_scheduler *s, sennit_stats *stats);

bool sennit_future_is_set(const sennit_future *f);
int sennit_future_wait_until(sennit_future *f, sennit_time deadline);
int sennit_future_get_until(sennit_future *f, void **value,
	sennit_time deadline);
int sennit_future_wait_any_until(sennit_future *const futures[], size_t count,
	size_t *which, sennit_time deadline);

void sennit_wait_group_init(sennit_wait_group *g, uint32_t count);
void sennit_wait_group_add(sennit_wait_group *g, uint32_t n);
bool sennit_wait_group_done(sennit_wait_group *g);
int sennit_wait_group_wait_until(sennit_wait_group *g, sennit_time deadline);

int sennit_channel_init(sennit_channel *c, size_t capacity, size_t size,
	void *allocator);
void sennit_channel_destroy(sennit_channel *c);
int sennit_channel_send_until(sennit_channel *c, const void *value,
	sennit_time deadline);
int sennit_channel_receive_until(sennit_channel *c, void *value,
	sennit_time deadline);
void sennit_channel_close(sennit_channel *c);
size_t sennit_channel_length(sennit_channel *c);

typedef struct sennit_case {
	int result;
	...;
} sennit_case;
sennit_case sennit_case_send(sennit_channel *c, const void *value);
sennit_case sennit_case_receive(sennit_channel *c, void *value);
sennit_case sennit_case_future(sennit_future *f, void **value);
sennit_case sennit_case_readable(int fd);
sennit_case sennit_case_writable(int fd);
#define SENNIT_SELECT_MAX ...
int sennit_select_until(sennit_case cases[], size_t count, size_t *which,
	sennit_time deadline);

#define SENNIT_LISTEN_SHARED ...
int sennit_listen_at(const char *text, uint32_t flags,
	sennit_time deadline);
int sennit_close(int fd);

enum io_kind { IO_READ, IO_WRITE, IO_PREAD, IO_PWRITE, IO_RECV, IO_SEND,
	IO_POLL, IO_ACCEPT, IO_CONNECT };
struct io {
	int kind, fd, flags, made;
	void *buffer;
	size_t size, done;
	int64_t at;
	sennit_time deadline;
	...;
};

enum job_kind { JOB_TASK, JOB_MEMBER, JOB_ASYNC, JOB_PYTHON };
struct sink;
struct job;
struct group { ...; };

static struct sink *ended_sink(void);
static struct sink *sink_create(void);
static int sink_fd(const struct sink *s);
static void sink_release(struct sink *s);
static size_t sink_read(struct sink *s, uint64_t *cookies, size_t most);
static long live_count(void);
static void after_fork(void);
static struct job *job_create(int kind, void *function, void *data,
	uint64_t cookie);
static sennit_future *job_future(struct job *j);
static void job_release(struct job *j);
static int job_enqueue(sennit_scheduler *s, struct job *j);
static bool is_foreign(void *function, char *name, size_t size);
static int job_notify(struct job *j, struct sink *s, uint64_t cookie);
static void group_open(struct group *g, sennit_scheduler *s,
	sennit_time deadline);
static int group_spawn(struct group *g, struct job *j);
static void group_cancel(struct group *g);
static bool group_failed(struct group *g);
static int group_wait_until(struct group *g, sennit_time deadline);
static void group_set_deadline(struct group *g, sennit_time deadline);
static uint32_t group_members(struct group *g);
static int group_wait(struct group *g);

static struct io *io_create(void);
static void io_free(struct io *io);
static int io_run(void *io, void **value);

extern "Python" static int python_call(uint64_t cookie);
"""


def write(path):
    """Writes the C source."""
    here = os.path.dirname(os.path.abspath(__file__))
    builder = cffi.FFI()
    builder.cdef(DECLARATIONS)
    with open(os.path.join(here, "glue.c"), encoding="utf-8") as glue:
        builder.set_source("sennit._native", glue.read())
    builder.emit_c_code(path)


if __name__ == "__main__":
    write(sys.argv[1])
