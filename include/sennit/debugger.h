/* SPDX-License-Identifier: Apache-2.0 */
/* debugger.h - what a debugger needs to find the fibers of a process, and what
 * libsennit-diag does for the environment variable SENNIT_DEBUG.
 *
 * Programs do not need this header. It describes the one symbol that the
 * debugger scripts of sennit read (docs/debugging.md), in a process or in a
 * core file, without debug information. Each number is fixed when the library
 * is compiled. A script that does not know the version must not read further
 * than `size`.
 *
 * Members whose names end in _at are offsets in bytes into the struct that the
 * first word of the name tells.
 */
#ifndef SENNIT_DEBUGGER_H
#define SENNIT_DEBUGGER_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

struct sennit_scheduler;

/* It changes with each change of the structs below, or of their meaning. */
#define SENNIT_DEBUG_VERSION 1

/* The maximum number of saved registers. */
#define SENNIT_DEBUG_REGISTERS 20

/* Where the registers of a suspended fiber are: offsets from the address that
 * the fiber's record has at fiber_context_at. */
struct sennit_debug_context {
	uint32_t machine;      /* e_machine of ELF; 0: not described */
	uint32_t pc_at;        /* the address at which it resumes */
	uint32_t sp_at;        /* its stack pointer */
	uint32_t sp_is_stored; /* 1: the stack pointer is stored at sp_at; 0: it
				* is the address itself plus sp_at */
	uint32_t count;        /* number of further registers */
	struct {
		uint16_t number; /* of DWARF */
		uint16_t at;
	} registers[SENNIT_DEBUG_REGISTERS];
};

struct sennit_debug_descriptor {
	char     magic[8]; /* "sennitdb" */
	uint32_t version;  /* SENNIT_DEBUG_VERSION */
	uint32_t size;     /* sizeof(struct sennit_debug_descriptor) */

	/* Addresses. */
	const void *schedulers; /* of a pointer to a link in a circular list of
				 * schedulers; NULL: there is none */
	const void *task_names; /* of pairs: a function, its name */
	const char *const *waits; /* of the names of enum sennit_waits_for */
	const struct sennit_debug_context *context;

	uint32_t task_names_count; /* number of pairs; some are empty */
	uint32_t waits_count;      /* number of names */

	uint32_t scheduler_link_at;
	uint32_t scheduler_name_at; /* characters, zero-terminated */
	uint32_t scheduler_name_size;
	uint32_t scheduler_workers_at;  /* pointer to pointers to workers, each
					 * NULL at first */
	uint32_t scheduler_capacity_at; /* 32 bits: number of them */
	uint32_t scheduler_bound_at;    /* pointer to a link in a circular list
					 * of bound workers; NULL: none */

	uint32_t worker_size;
	uint32_t worker_current_at; /* pointer to the running fiber */
	uint32_t worker_main_at;    /* a fiber: the thread's own stack */
	uint32_t worker_bound_at;   /* the link of a bound worker */
	uint32_t worker_fibers_at;  /* pointer to a link in a circular list of
				     * fibers without main; NULL: none */
	uint32_t worker_index_at;   /* 32 bits: UINT32_MAX if bound */
	uint32_t worker_thread_at;  /* 32 bits: the system's number of its
				     * thread; 0: no thread has begun */
	uint32_t worker_clock_at;   /* 64 bits: a recent time */

	uint32_t fiber_size;
	uint32_t fiber_link_at;
	uint32_t fiber_context_at; /* pointer: see sennit_debug_context; valid
				    * while the fiber is suspended */
	uint32_t fiber_worker_at;  /* pointer to its worker */
	uint32_t fiber_id_at;      /* 32 bits */
	uint32_t fiber_low_at;     /* pointer to the low end of its stack, which
				    * ends at the record; NULL: a thread's
				    * own */
	uint32_t fiber_task_at;    /* pointer to the function; NULL: none. The
				    * stack is idle if it also runs */
	uint32_t fiber_object_at;  /* pointer: what it waits for */
	uint32_t fiber_since_at;   /* 64 bits */
	uint32_t fiber_deadline_at;     /* 64 bits; valid with doing_timed */
	uint32_t fiber_doing_at;        /* 32 bits: state, kind of wait */
	uint32_t fiber_name_version_at; /* 32 bits: odd while it is written */
	uint32_t fiber_name_at;         /* characters, zero-terminated */
	uint32_t fiber_name_size;

	uint32_t doing_state;      /* mask: enum sennit_report_state */
	uint32_t doing_kind;       /* mask: enum sennit_waits_for */
	uint32_t doing_kind_shift; /* bits below the kind */
	uint32_t doing_timed;      /* mask: the wait has a deadline */
};

/* The parts of a fiber that tell which fiber waits for which
 * (sennit/wait_graph.h). */
struct sennit_debug_waits {
	uint32_t size;              /* sizeof(struct sennit_debug_waits) */
	uint32_t fiber_identity_at; /* pointer: what locks that it holds have as
				     * their owner */
	uint32_t fiber_scope_at;    /* pointer to the group that its task is a
				     * member of, or to another scope; NULL:
				     * none */
	uint32_t fiber_owner_at;    /* pointer to a pointer: the owner of the
				     * lock that it waits for. NULL: none. The
				     * two lowest bits say nothing */
	uint32_t fiber_reads_at;    /* pointers to the reader-writer locks that
				     * it holds as a reader; NULL: none */
	uint32_t fiber_reads_count;
	uint32_t rwlock_reader; /* one reader, in the first 32 bits of such a
				 * lock */
	uint32_t fiber_site_at; /* pointer: the address to which the call that
				 * spawned its task returned; NULL: not known.
				 * 0: the library was built without
				 * SENNIT_SPAWN_SITES */
};

/* Where the blocking call runs that a fiber waits for (sennit/blocking.h). */
struct sennit_debug_helpers {
	uint32_t size;            /* sizeof(struct sennit_debug_helpers) */
	uint32_t fiber_helper_at; /* 32 bits: the thread that makes the call; 0:
				   * none does */
	void (*outermost)(void);  /* the library's function that calls the
				   * program's on that thread */
};

/* The descriptor of this library. It is constant.  */
extern SENNIT_API const struct sennit_debug_descriptor sennit_debug_descriptor;

/* More about the fibers of that descriptor. It is constant.  */
extern SENNIT_API const struct sennit_debug_waits sennit_debug_waits;

/* More about fibers that wait for blocking calls. It is constant.  */
extern SENNIT_API const struct sennit_debug_helpers sennit_debug_helpers;

/* Where the registers of an interrupted thread are: offsets from the address of
 * the ucontext_t that a signal handler gets. It is constant.  */
extern SENNIT_API const struct sennit_debug_context sennit_debug_interrupted;

/* What libsennit calls about a signal that ends the process: SIGSEGV, SIGBUS,
 * SIGABRT, SIGILL, SIGFPE, SIGTRAP or SIGSYS. Both run in a signal handler. */
struct sennit_debug_death {
	/* One has come to the calling thread. May jump out of the handler. */
	void (*fault)(void);

	/* The process is about to end by it: the handler of the program, if
	 * there is one, has returned and has not mended the cause. `context` is
	 * the ucontext_t. */
	void (*last_words)(int signal, const void *context);
};

/* What libsennit tells a profiler (sennit/profile.h). */
struct sennit_debug_profiler {
	uint32_t size; /* sizeof(struct sennit_debug_profiler) */

	/* The calling thread begins, or is about to end: a worker's or one for
	 * blocking calls. Or it has been bound. */
	void (*thread)(bool begins);

	/* The running fiber has waited for `ns` nanoseconds, until it ran
	 * again. It calls this on its stack, within the call that waited. kind:
	 * enum sennit_waits_for. */
	void (*waited)(uint32_t kind, uint64_t ns);
};

/* What libsennit does for libsennit-diag. */
struct sennit_debug_calls {
	uint32_t size; /* sizeof(struct sennit_debug_calls) */

	/* Call what *d says from now on. *d must stay. A handler that the
	 * program has installed earlier runs first. To be called by one thread
	 * at a time. Returns 0, or -ENOTSUP: not on this system. */
	int (*at_death)(const struct sennit_debug_death *d);

	/* From now on tell *p, which must stay, of threads, and with `waits` of
	 * waits that begin; NULL: nobody. A call of it that has begun may still
	 * be under way. A worker that runs a task begins, and stops, at its
	 * next dispatch. A child of fork() tells nobody. To be called by one
	 * thread at a time; it does not block. */
	void (*profile)(const struct sennit_debug_profiler *p, bool waits);
};

/* It is constant.  */
extern SENNIT_API const struct sennit_debug_calls sennit_debug_calls;

/* What libsennit finds in libsennit-diag when the environment asks for it
 * (docs/debugging.md). Each returns 0 or a negative errno value. */
struct sennit_debug_tools {
	uint32_t size; /* sizeof(struct sennit_debug_tools) */

	/* Write the stacks of all fibers of the process. */
	int (*print_stacks)(int fd);

	/* Write them to standard error whenever that signal comes, "QUIT" or
	 * "QUIT:merged"; NULL: that of SENNIT_DUMP_SIGNAL, or QUIT. A later
	 * sennit_dump_start replaces it. */
	int (*dump)(const char *signal);

	/* Watch *s, which the caller holds, until it ends, and write to
	 * standard error what takes longer than `ms` milliseconds, or stands
	 * still for much longer. */
	int (*watchdog)(struct sennit_scheduler *s, uint32_t ms);

	/* Open a live view of all schedulers at `path`; NULL: in
	 * XDG_RUNTIME_DIR, or /tmp. It is closed at exit(). */
	int (*live)(const char *path);

	/* Write them when a signal is about to end the process: to the file;
	 * NULL: to standard error. A later sennit_dump_fatal replaces it. */
	int (*fatal)(const char *file);

	/* Write the name of a function, as sennit_symbol_print does. */
	size_t (*symbol)(const void *address, char *text, size_t size);

	/* Profile CPU and waits until exit(), and write them there to `file`
	 * and `file`.waits. */
	int (*profile)(const char *file);
};

/* NULL: libsennit-diag is not there. It is set when that is loaded, and not
 * changed.  */
extern SENNIT_API const struct sennit_debug_tools *sennit_debug_tools;

SENNIT_END

#endif
