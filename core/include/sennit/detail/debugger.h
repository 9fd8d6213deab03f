/* SPDX-License-Identifier: Apache-2.0 */
/* debugger.h - the interface of libsennit to debuggers, and to libsennit-diag.
 *
 * Programs do not need this header. It describes the symbols that sennit's
 * debugger scripts read (docs/debugging.md), in a process or a core file,
 * without debug information. It also declares what libsennit and libsennit-diag
 * do for each other, and for the environment variable SENNIT_DEBUG.
 *
 * Each number is fixed when the library is compiled. A script that does not
 * know the version must not read beyond `size`.
 *
 * Members whose names end in _at are byte offsets into the struct that the
 * first word of the name denotes.
 */
#ifndef SENNIT_DEBUGGER_H
#define SENNIT_DEBUGGER_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

struct sennit_scheduler;

/* The version changes with each change of the structs below or of their
 * meaning. */
#define SENNIT_DEBUG_VERSION 1

/* The maximum number of saved registers. */
#define SENNIT_DEBUG_REGISTERS 20

/* Where the registers of a suspended fiber are: offsets from the address stored
 * at fiber_context_at in the fiber's record. */
struct sennit_debug_context {
	uint32_t machine;      /* e_machine of ELF; 0: not described */
	uint32_t pc_at;        /* the address at which it resumes */
	uint32_t sp_at;        /* its stack pointer */
	uint32_t sp_is_stored; /* 1: the stack pointer is stored at sp_at; 0: it
				* is the address itself plus sp_at */
	uint32_t count;        /* number of further registers */
	struct {
		uint16_t number; /* DWARF register number */
		uint16_t at;
	} registers[SENNIT_DEBUG_REGISTERS];
};

struct sennit_debug_descriptor {
	char     magic[8]; /* "sennitdb" */
	uint32_t version;  /* SENNIT_DEBUG_VERSION */
	uint32_t size;     /* sizeof(struct sennit_debug_descriptor) */

	/* Addresses. */
	const void *schedulers; /* address of a pointer to a link in a circular
				 * list of schedulers; NULL: there is none */
	const void *task_names; /* address of pairs: a function, its name */
	const char *const *waits; /* the names of enum sennit_waits_for */
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
	uint32_t worker_thread_at;  /* 32 bits: the TID of its thread; 0: the
				     * thread has not started */
	uint32_t worker_clock_at;   /* 64 bits: a recent time */

	uint32_t fiber_size;
	uint32_t fiber_link_at;
	uint32_t fiber_context_at; /* pointer: see sennit_debug_context; valid
				    * while the fiber is suspended */
	uint32_t fiber_worker_at;  /* pointer to its worker */
	uint32_t fiber_id_at;      /* 32 bits */
	uint32_t fiber_low_at;     /* pointer to the low end of its stack, which
				    * ends at the record; NULL: a thread's own
				    * stack */
	uint32_t fiber_task_at;    /* pointer to the function; NULL: none. If it
				    * is NULL and the state is RUNNING, the
				    * stack is idle */
	uint32_t fiber_object_at;  /* pointer to the object that it waits for */
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

/* The parts of a fiber that show which fiber waits for which other fiber
 * (sennit/wait_graph.h). */
struct sennit_debug_waits {
	uint32_t size;              /* sizeof(struct sennit_debug_waits) */
	uint32_t fiber_identity_at; /* pointer: the value that locks held by the
				     * fiber store as their owner */
	uint32_t fiber_scope_at;    /* pointer to the group of which its task is
				     * a member, or to another scope; NULL:
				     * none */
	uint32_t fiber_owner_at;    /* pointer to a pointer: the owner of the
				     * lock that it waits for; NULL: none.
				     * Ignore the two lowest bits */
	uint32_t fiber_reads_at;    /* pointers to the reader-writer locks that
				     * it holds as a reader; NULL: none */
	uint32_t fiber_reads_count;
	uint32_t rwlock_reader; /* the value of one reader in the first 32 bits
				 * of such a lock */
	uint32_t fiber_site_at; /* pointer: the return address of the call that
				 * spawned its task; NULL: not known. 0: the
				 * library was built without
				 * SENNIT_SPAWN_SITES */
};

/* Where the blocking call that a fiber waits for runs (sennit/blocking.h). */
struct sennit_debug_helpers {
	uint32_t size;            /* sizeof(struct sennit_debug_helpers) */
	uint32_t fiber_helper_at; /* 32 bits: the TID of the thread that makes
				   * the call; 0: none */
	void (*outermost)(void);  /* the library's function that calls the
				   * program's function on that thread */
};

/* The descriptor of this library. It is constant.  */
extern SENNIT_API const struct sennit_debug_descriptor sennit_debug_descriptor;

/* More about the fibers of that descriptor. It is constant.  */
extern SENNIT_API const struct sennit_debug_waits sennit_debug_waits;

/* More about fibers that wait for blocking calls. It is constant.  */
extern SENNIT_API const struct sennit_debug_helpers sennit_debug_helpers;

/* Where the registers of an interrupted thread are: offsets from the address of
 * the ucontext_t that a signal handler receives. It is constant.  */
extern SENNIT_API const struct sennit_debug_context sennit_debug_interrupted;

/* Functions that libsennit calls when a signal is about to end the process:
 * SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP or SIGSYS. Both run in a
 * signal handler. */
struct sennit_debug_death {
	/* The calling thread has received such a signal. The function may jump
	 * out of the handler. */
	void (*fault)(void);

	/* The signal is about to end the process: the program's handler, if
	 * any, has returned and the cause persists. `context` is the
	 * ucontext_t. */
	void (*last_words)(int signal, const void *context);
};

/* Functions that libsennit calls for a profiler (sennit/profile.h). */
struct sennit_debug_profiler {
	uint32_t size; /* sizeof(struct sennit_debug_profiler) */

	/* The calling thread begins, is about to end, or has been bound. It is
	 * a worker's thread, one for blocking calls, or a bound one. */
	void (*thread)(bool begins);

	/* The running fiber has waited for `ns` nanoseconds, until it ran
	 * again. Called on its stack, within the call that waited. kind: enum
	 * sennit_waits_for. */
	void (*waited)(uint32_t kind, uint64_t ns);
};

/* Functions that libsennit provides to libsennit-diag. */
struct sennit_debug_calls {
	uint32_t size; /* sizeof(struct sennit_debug_calls) */

	/* Make libsennit call the functions of *d from now on. *d must stay
	 * valid. A handler that the program has installed earlier runs first.
	 * Only one thread may call this at a time. Returns 0, or -ENOTSUP on a
	 * system that is not supported. */
	int (*at_death)(const struct sennit_debug_death *d);

	/* From now on, report threads to *p, and with `waits` also waits that
	 * begin later. *p must stay valid. NULL: stop; a call that has begun
	 * may still be running. A worker that runs a task starts and stops
	 * reporting at its next dispatch. A child of fork() reports nothing.
	 * Only one thread may call this at a time. It does not block. */
	void (*profile)(const struct sennit_debug_profiler *p, bool waits);

	/* A thread of libsennit-diag begins, or has ended, reading schedulers.
	 * Only between the two calls may it hold references, which keep a
	 * scheduler alive briefly. Any thread may call this. It does not
	 * block. */
	void (*look)(bool begins);

	/* Return the number of *s, to which the caller has a reference. No
	 * other scheduler of the process ever has that number. Any thread may
	 * call this. It does not block. */
	uint64_t (*number)(const struct sennit_scheduler *s);

	/* Return the scheduler with that number and a reference to it, or NULL
	 * if it has ended. Unlike a weak handle, a number keeps no memory, so
	 * nothing is left of a scheduler when its end is seen. Any thread may
	 * call this. It does not block. */
	struct sennit_scheduler *(*find)(uint64_t number);
};

/* It is constant.  */
extern SENNIT_API const struct sennit_debug_calls sennit_debug_calls;

/* Functions of libsennit-diag that libsennit calls for SENNIT_DEBUG
 * (docs/debugging.md). Each that returns int returns 0 or a negative errno
 * value. */
struct sennit_debug_tools {
	uint32_t size; /* sizeof(struct sennit_debug_tools) */

	/* Write the stacks of all fibers of the process. */
	int (*print_stacks)(int fd);

	/* Write them to standard error whenever the signal `signal` comes:
	 * "QUIT", or with a format "QUIT:merged". NULL: the signal of
	 * SENNIT_DUMP_SIGNAL, or QUIT. A later sennit_dump_start replaces
	 * it. */
	int (*dump)(const char *signal);

	/* Watch *s, to which the caller has a reference, until it ends. Report
	 * to standard error tasks and ready fibers that take longer than `ms`
	 * milliseconds, and standstills, deadlocks and lock waits that take
	 * much longer. */
	int (*watchdog)(struct sennit_scheduler *s, uint32_t ms);

	/* Open a live view of all schedulers at `path`. NULL: in
	 * XDG_RUNTIME_DIR, or /tmp. It is closed at exit(). */
	int (*live)(const char *path);

	/* When a signal is about to end the process, write the stacks of all
	 * fibers to `file`. NULL: to standard error. A later sennit_dump_fatal
	 * replaces it. */
	int (*fatal)(const char *file);

	/* Write the name of a function, as sennit_symbol_print does. */
	size_t (*symbol)(const void *address, char *text, size_t size);

	/* Profile CPU and waits until exit(), and then write them to `file` and
	 * `file`.waits. */
	int (*profile)(const char *file);
};

/* Set when libsennit-diag is loaded and not changed afterwards. NULL:
 * libsennit-diag is not loaded.  */
extern SENNIT_API const struct sennit_debug_tools *sennit_debug_tools;

SENNIT_END

#endif
