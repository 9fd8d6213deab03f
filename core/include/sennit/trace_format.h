/* SPDX-License-Identifier: Apache-2.0 */
/* trace_format.h - the file that sennit_trace_write() writes (trace.h).
 *
 * Programs that record a trace do not need this header. It is for programs that
 * read the file.
 *
 *	struct sennit_trace_file           once
 *	struct sennit_trace_section        then `size` bytes, padded with zeros
 *	...                                to a multiple of 8: its contents
 *	struct sennit_trace_section END    size 0: the file is complete
 *
 * All numbers have the byte order of the machine that wrote the file. A reader
 * skips sections whose type it does not know. A file without END was cut off;
 * its complete sections are valid. Sections may come in any order.
 *
 * A ring is the list of events of one thread, oldest first. There is one ring
 * for each worker, one for each bound thread, and one for all other threads
 * together. Times within a ring do not decrease. Times of different rings come
 * from one clock and can be compared. A difference below 1 us does not
 * determine the order.
 *
 * Events from before the recording started are not in the file, nor are events
 * that a ring has overwritten. So a file may contain ends without a begin,
 * resumes without a wait, and flows with one end. The task that had begun is in
 * the next STATE or TASK_END of its fiber, or in FIBERS. What it waited for is
 * in its RESUME, or in FIBERS. A task or wait without an end was still in
 * progress when the file was written, or the recording had stopped.
 */
#ifndef SENNIT_TRACE_FORMAT_H
#define SENNIT_TRACE_FORMAT_H

#include <stdint.h>

/* The version changes with each change that a reader of the previous version
 * would misunderstand. New sections, event kinds and enumeration values do not
 * change it: a reader ignores those that it does not know. */
#define SENNIT_TRACE_VERSION 1

#define SENNIT_TRACE_MAGIC "sennittr" /* 8 bytes, no terminating zero */

/* As stored by a machine of the same byte order. */
#define SENNIT_TRACE_BYTE_ORDER UINT32_C(0x01020304)

struct sennit_trace_file {
	char     magic[8];   /* SENNIT_TRACE_MAGIC */
	uint32_t byte_order; /* SENNIT_TRACE_BYTE_ORDER */
	uint32_t version;    /* SENNIT_TRACE_VERSION */
	uint32_t size;       /* bytes of this struct; the first section follows
			      * directly */
	uint32_t event_size; /* sizeof(struct sennit_trace_event): 32 */
	uint32_t process;    /* the process's number (PID) */
	uint32_t cpus;       /* CPUs that the process may use */
	uint32_t workers;    /* the scheduler's maximum number of workers */
	uint32_t flags;      /* SENNIT_TRACE_FILE_* */

	/* Clock. An event with time t (in ticks) happened at
	 *
	 *	begin_ns + (t - begin_ticks) * (end_ns - begin_ns)
	 *	                             / (end_ticks - begin_ticks)
	 *
	 * nanoseconds of CLOCK_MONOTONIC. The division is signed: t may be
	 * before begin_ticks. If end_ticks == begin_ticks, one tick is one
	 * nanosecond. */
	uint64_t begin_ticks; /* when the recording started */
	uint64_t begin_ns;
	uint64_t end_ticks; /* when the file was written */
	uint64_t end_ns;
	uint64_t wall_ns; /* CLOCK_REALTIME at end_ns */

	char name[16]; /* the scheduler's name, terminated by a zero */
};

/* Values of flags. */
#define SENNIT_TRACE_FILE_CRASH \
	UINT32_C(1) /* written by the handler of a crash: functions have no
		     * names, see MAPS */
#define SENNIT_TRACE_FILE_VIRTUAL \
	UINT32_C(2) /* the times are those of a deterministic run */

enum sennit_trace_section_type {
	SENNIT_TRACE_SECTION_END = 0,
	SENNIT_TRACE_SECTION_RING = 1,    /* struct sennit_trace_ring, then
					   * `count` events */
	SENNIT_TRACE_SECTION_STRINGS = 2, /* struct sennit_trace_string, each
					   * followed by its characters; there
					   * are several such sections */
	SENNIT_TRACE_SECTION_MAPS = 3,    /* text of /proc/self/maps: where the
					   * files of the process are mapped;
					   * several sections, in order, form
					   * one text */
	SENNIT_TRACE_SECTION_FIBERS = 4   /* struct sennit_trace_fiber, several;
					   * not in the file of a crash */
};

struct sennit_trace_section {
	uint32_t type;     /* enum sennit_trace_section_type */
	uint32_t reserved; /* 0 */
	uint64_t size;     /* bytes of the contents, without padding */
};

enum sennit_trace_ring_kind {
	SENNIT_TRACE_RING_WORKER = 0, /* a worker thread of the scheduler */
	SENNIT_TRACE_RING_BOUND = 1,  /* a thread that was bound, or still is */
	SENNIT_TRACE_RING_OTHERS = 2  /* all other threads: those that schedule
				       * or wake from outside, and those that
				       * run blocking calls */
};

struct sennit_trace_ring {
	uint32_t ring;   /* its number, unique in the file. 0..workers-1:
			   * those of the workers, by index */
	uint32_t kind;   /* enum sennit_trace_ring_kind */
	uint32_t thread; /* the system's number of the thread (TID); 0: it has
			  * not started, or the ring belongs to several
			  * threads */
	uint32_t reserved;
	uint64_t written; /* number of events recorded since the recording
			   * started */
	uint64_t lost;    /* number of the oldest of these that are not in the
			   * file */
	uint64_t count;   /* events that follow: written - lost */
};

/* A fiber that had a task when the file was written, just before its ring was
 * written. If it waited, `flow` may be the flow of a WAIT, or the wait began
 * before the first event of the ring. */
struct sennit_trace_fiber {
	uint64_t time; /* in ticks; the entry was true then, or shortly
		        * afterwards */
	uint32_t ring; /* its number */
	uint32_t fiber;
	uint64_t task;      /* address of the function of its innermost task */
	uint64_t object;    /* if it waits or is ready: as in WAIT */
	uint64_t since;     /* likewise: when the wait began, in nanoseconds of
			     * CLOCK_MONOTONIC; it may be too early, see
			     * report.h */
	uint64_t flow;      /* likewise: flow of the wait; 0: the fiber runs */
	uint32_t waits_for; /* likewise: enum sennit_waits_for */
	uint32_t state;     /* enum sennit_report_state */
	char     name[32];  /* of the task, as in FIBER_NAME; empty: none */
};

/* One event: 32 bytes. */
struct sennit_trace_event {
	uint64_t time;   /* in ticks, see struct sennit_trace_file */
	uint32_t fiber;  /* the fiber on which it happened: unique within its
			  * ring. 0: on the thread's own stack. In
			  * the ring of the other threads: the
			  * system's number of the thread */
	uint16_t kind;   /* enum sennit_trace_kind */
	uint16_t detail; /* depends on the kind; else 0 */
	uint64_t a, b;   /* depend on the kind; else 0 */
};

/* A fiber is a stack. Fibers run tasks one after the other, and never leave
 * their ring. A task may run inside another on the same fiber (a member of a
 * group while its opener waits): tasks and spans of one fiber nest. The running
 * fiber of a ring changes at WAIT, RESUME and TASK_BEGIN: each says which fiber
 * it is about. While a fiber waits, its thread runs other fibers, so the events
 * of other fibers lie between its WAIT and RESUME.
 *
 * A flow connects events: those with the same flow belong together. A flow is
 * not 0; 0 means none. Flows of tasks and flows of waits are numbered
 * separately and must not be compared with each other.
 *
 * Flow of a task: SPAWN -> TASK_BEGIN. A call of fork_join.h is a task only if
 * another worker or another stack runs it, and may have no SPAWN. The flow is
 * computed from the task's function and argument. So tasks with the same
 * function and argument have equal flows. If several of them are queued at the
 * same time, a reader cannot match each SPAWN with its TASK_BEGIN; it pairs the
 * oldest first.
 *
 * Flow of a wait: WAIT -> WAKE -> RESUME, and for a blocking call also
 * CALL_BEGIN and CALL_END between WAIT and WAKE. The flow of a wait is reused
 * after 2^24 waits in the same ring. */
enum sennit_trace_kind {
	/* This event was overwritten while the file was written. All other
	 * members are 0. A reader counts it as lost and skips it. */
	SENNIT_TRACED_NONE = 0,

	/* A task begins to run. detail: enum sennit_trace_depth. a: address of
	 * its function. b: flow of the task. */
	SENNIT_TRACED_TASK_BEGIN = 1,

	/* The task has ended. a: address of its function. */
	SENNIT_TRACED_TASK_END = 2,

	/* A task was scheduled. a: address of its function. b: flow of the
	 * task. Recorded before any worker can run the task. */
	SENNIT_TRACED_SPAWN = 3,

	/* The fiber begins to wait, or yields. detail: enum sennit_waits_for
	 * (report.h); SENNIT_WAITS_FOR_NOTHING: it yields, and has no WAKE. a:
	 * address of what it waits for, or the number of a file descriptor. b:
	 * flow of the wait. With SENNIT_TRACE_GOES_ON in detail, the wait
	 * continues the fiber's previous wait: the fiber woke, found a mutex
	 * locked, and waits again. */
	SENNIT_TRACED_WAIT = 4,

	/* A wait is over; its fiber may run again. `fiber`: the fiber that
	 * wakes it. detail: enum sennit_trace_wake. a: ring of the woken fiber
	 * in the high 32 bits, its fiber in the low 32 bits; UINT64_MAX: a
	 * thread without a ring. b: flow of the wait; 0 for such a thread. */
	SENNIT_TRACED_WAKE = 5,

	/* The fiber runs again after a wait or yield. detail: as in its WAIT,
	 * which may not be in the file. a: the time of the WAIT, the first one
	 * if the wait was continued; 0: before the recording, see STATE. b:
	 * flow of the wait. */
	SENNIT_TRACED_RESUME = 6,

	/* The worker took tasks from another worker. a: ring of the other
	 * worker. b: number of tasks. */
	SENNIT_TRACED_STEAL = 7,

	/* The worker has nothing to do and searches for work. */
	SENNIT_TRACED_SEARCH = 8,

	/* The worker or bound thread goes to sleep, because it has nothing to
	 * do or another scheduler uses its CPU. Or the worker's thread ends
	 * until it is needed again. */
	SENNIT_TRACED_PARK = 9,

	/* The thread is awake again. UNPARK ends a PARK; any other event ends a
	 * SEARCH. */
	SENNIT_TRACED_UNPARK = 10,

	/* A thread begins or ends to run the function of a blocking call. a:
	 * address of the function. b: flow of the wait of the calling fiber.
	 * The events are in the ring of the thread that runs the function,
	 * nearly always that of the other threads. */
	SENNIT_TRACED_CALL_BEGIN = 11,
	SENNIT_TRACED_CALL_END = 12,

	/* The program begins or ends a span. Spans of one fiber nest, among
	 * each other and with its tasks. a of SPAN_BEGIN: the span's name, a
	 * key of STRINGS. */
	SENNIT_TRACED_SPAN_BEGIN = 13,
	SENNIT_TRACED_SPAN_END = 14,

	/* The program sets a counter. a: the counter's name, a key of STRINGS.
	 * b: the new value, an int64_t. */
	SENNIT_TRACED_VALUE = 15,

	/* The running task of the fiber has a name until its TASK_END. a, b: 16
	 * bytes of the name. detail: their offset in the name, a multiple of
	 * 16. A name longer than 16 bytes takes several consecutive events. An
	 * event with detail 0 begins a new name. The name ends at the first
	 * zero byte, else after the last event. */
	SENNIT_TRACED_FIBER_NAME = 16,

	/* Recording started, or was stopped, on this ring. */
	SENNIT_TRACED_START = 17,
	SENNIT_TRACED_STOP = 18,

	/* The innermost task of the running fiber began before the recording,
	 * or so long ago that the ring may have overwritten its begin. a:
	 * address of its function. FIBER_NAMEs follow if it has a name. b: if a
	 * RESUME follows whose wait began before the recording: when the wait
	 * began, in nanoseconds of CLOCK_MONOTONIC; else 0. It may be too
	 * early, as report.h says. */
	SENNIT_TRACED_STATE = 19
};

/* detail of TASK_BEGIN. */
enum sennit_trace_depth {
	SENNIT_TRACE_INSIDE = 0,   /* inside another task of its fiber */
	SENNIT_TRACE_OUTERMOST = 1 /* all earlier tasks of its fiber have ended,
				    * unless it is fiber 0 */
};

/* A flag in detail of WAIT. */
#define SENNIT_TRACE_GOES_ON 0x8000u

/* detail of WAKE. */
enum sennit_trace_wake {
	SENNIT_TRACE_WAKE_SIGNAL = 0, /* the object was signalled */
	SENNIT_TRACE_WAKE_TIMER = 1,  /* its deadline passed */
	SENNIT_TRACE_WAKE_CANCEL = 2  /* its group was cancelled */
};

/* What the key of a string is. */
enum sennit_trace_string_kind {
	SENNIT_TRACE_STRING_FUNCTION = 1, /* the address of a function; the
					   * string is the name that the program
					   * has set (sennit_function_set_name),
					   * else its symbol, else
					   * file+offset */
	SENNIT_TRACE_STRING_NAME = 2      /* the name of a span or counter */
};

/* A string. Its characters follow, padded with zeros to a multiple of 8. They
 * are the program's bytes, not escaped, without zeros; a reader escapes them
 * for display. Each (kind, key) occurs at most once. A key that has no string
 * is shown as a number. */
struct sennit_trace_string {
	uint64_t key;
	uint32_t kind;   /* enum sennit_trace_string_kind */
	uint32_t length; /* of the characters, without padding */
};

#endif
