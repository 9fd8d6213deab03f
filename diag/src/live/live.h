/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - the live view: the text that its clients get, and its parts. */
#ifndef SN_LIVE_H
#define SN_LIVE_H

#include "base/own_file.h"
#include "sennit/base.h"
#include "sennit/end.h"
#include "sennit/metrics.h"
#include "sennit/report.h"
#include "sennit/workers.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

struct live_text {
	char  *at;
	size_t size; /* not 0 */
	size_t used;
	bool   cut; /* some text did not fit, so the text is not valid JSON */
};

/* Append formatted text. */
void sn_live_text_add(struct live_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Append a quoted string. As in reports, control characters and bytes that are
 * not UTF-8 become \n, \t or \xNN before JSON escapes the backslashes. So the
 * decoded string is safe to print on a terminal. */
void sn_live_text_quote(struct live_text *t, const char *string);

/* --- live socket ---------------------------------------------------------- */

/* The socket of a live view. It is accessible only to its owner, and closing
 * removes the file only if it is still the one that was created. */

struct live_socket {
	struct sockaddr_un address; /* absolute */
	struct own_file    file;
	dev_t              device; /* with inode: identify the file that was
				    * created */
	ino_t              inode;
	uid_t              owner;
};

/* Listen at `path`. Returns 0 or an error of sennit_live_start. */
int sn_live_socket_open(struct live_socket *s, const char *path);

/* Close the socket. If `remove`, also remove its file. */
void sn_live_socket_close(struct live_socket *s, bool remove);

/* Accept a client without waiting. Set *refused to whether a process of another
 * user has connected. Returns the client's descriptor, or -1 if there is
 * none. */
int sn_live_socket_accept(const struct live_socket *s, bool *refused);

/* --- live latency --------------------------------------------------------- */

/* Durations of tasks and waits in the last period, if the program records them
 * (sennit_metrics_record). */

#define LIVE_LATENCIES 32

struct live_latency {
	char             name[64];
	char             kind[32]; /* "": the only one of this name */
	sennit_histogram all;      /* since the scheduler was created */
	uint64_t         count;    /* of the last period, as are the next two */
	uint64_t         p50, p99; /* nanoseconds */
};

struct live_latencies {
	struct live_latency of[LIVE_LATENCIES];
	uint32_t            count;
};

/* End a period and compute what was recorded since the last call. */
void sn_live_latencies_read(struct live_latencies *l, sennit_scheduler *s);

/* --- live sample ---------------------------------------------------------- */

/* The recent activity of a scheduler, from repeated looks.
 *
 * A look reads a report and the counters of the workers. Rates are over the
 * last period of about a second. The average of running tasks is over the last
 * LIVE_LOOKS looks. Only the view's thread uses this.
 */

/* The bounds of a snapshot. */
#define LIVE_WORKERS 256 /* workers and bound threads */
#define LIVE_TASKS   128 /* kinds of tasks */
#define LIVE_WAITERS 16
#define LIVE_NAME    32 /* bytes of a scheduler's name */

/* The number of looks in the average of running tasks: 1.6 s at 20 per
 * second. */
#define LIVE_LOOKS 32

/* The length of the first period and of the others. */
#define LIVE_WARM   (250 * SENNIT_MILLISECOND)
#define LIVE_PERIOD (1000 * SENNIT_MILLISECOND)

/* `average` of a task that one worker runs all the time. */
#define LIVE_ONE UINT64_C(1000000)

/* A kind of task: a function, and the name of the task or of the function. */
struct live_task {
	sennit_task_fn *run;
	char            name[SENNIT_TASK_NAME_SIZE]; /* "": none */
	uint64_t        running; /* number of workers that run it at the current
				  * look */
	uint64_t        average; /* in parts of LIVE_ONE */
};

struct live_waiter {
	sennit_report_entry entry; /* its name is `name` */
	char                name[SENNIT_TASK_NAME_SIZE];
};

struct live_worker {
	sennit_worker_view now;
	sennit_worker_view mark; /* at the beginning of the period; if its
				  * thread differs from that of `now`, there is
				  * no mark */
	uint32_t           busy; /* in the last period, in thousandths */
	uint64_t           tasks_per_s; /* of the last period */
};

struct live_sample {
	sennit_scheduler *of;   /* no reference; NULL: unused */
	uint64_t          look; /* serial number of the last look */
	char              name[LIVE_NAME];

	/* From the last look. */
	sennit_stats       stats;
	uint64_t           running, ready, blocked, queued;
	struct live_waiter waiters[LIVE_WAITERS]; /* those that have waited
						   * longest */
	uint32_t           waiter_count;
	struct live_worker workers[LIVE_WORKERS];
	uint32_t           worker_count;
	uint32_t           workers_left_out;

	/* Over looks. */
	struct live_task tasks[LIVE_TASKS];
	uint32_t         task_count;
	uint64_t         looks;

	/* Over periods. */
	sennit_time           period; /* begin of the period; 0: no look yet */
	bool                  warm;   /* a period has ended */
	sennit_stats          mark;   /* values at the beginning of the
				       * period */
	struct live_latencies latencies;
	uint64_t tasks_per_s, steals_per_s, blocks_per_s, parks_per_s;
};

/* Forget all looks. `of` is the scheduler from now on. */
void sn_live_sample_reset(struct live_sample *m, sennit_scheduler *of);

/* Look at m->of, to which the caller has a reference. */
void sn_live_sample_update(struct live_sample *m);

/* Fill order[] with the indices of the tasks that ran most, in descending
 * order. Returns their number, at most `size`. */
uint32_t sn_live_sample_hottest(const struct live_sample *m, uint32_t order[],
				uint32_t size);

/* --- live snapshot -------------------------------------------------------- */

/* Looks at all schedulers of a live view, and their text. */

#define LIVE_VERSION    1 /* of the protocol */
#define LIVE_SCHEDULERS 8
#define LIVE_HOT        16

/* The length of the longest snapshot, at which all bounds are reached. */
#define LIVE_TEXT (UINT32_C(1) << 20)

struct live_snapshot {
	sennit_weak_scheduler *only;  /* fixed; NULL: all schedulers */
	uint64_t               looks; /* since the last reset */
	struct live_sample     samples[LIVE_SCHEDULERS];
};

/* Start from scratch at the next look, because no client needs looks now. */
void sn_live_snapshot_reset(struct live_snapshot *p);

void sn_live_snapshot_update(struct live_snapshot *p);

/* Report whether every scheduler has rates. True if there is no scheduler. */
bool sn_live_snapshot_is_warm(const struct live_snapshot *p);

/* Append the last look, as one line of JSON. */
void sn_live_snapshot_write(const struct live_snapshot *p, struct live_text *t);

/* --- live client ---------------------------------------------------------- */

/* A client of a live view: its requests and its answers. Memory and time are
 * bounded whatever the client does.
 *
 *	get           one snapshot
 *	watch MS      a snapshot every MS milliseconds; 0: stop
 *	stacks NAME   the merged stacks of all fibers, in that format
 *
 * Nothing here waits for the client. No request is read before the previous
 * answer has been sent. Only the view's thread uses this.
 */

/* The maximum length of a request, with its newline. */
#define LIVE_LINE 64

/* The minimum time between two snapshots for one client. */
#define LIVE_GAP (100 * SENNIT_MILLISECOND)

/* How long a client may read nothing of an answer, and how long it may neither
 * send a request nor watch. */
#define LIVE_PATIENCE (10 * SENNIT_SECOND)

struct live_client {
	struct own_file file; /* fd -1: no client */
	char            in[LIVE_LINE];
	size_t          in_used;
	char           *out; /* from malloc(); NULL: everything is sent */
	size_t          out_used, out_sent;
	bool            asks;    /* has requested one snapshot */
	sennit_time     period;  /* between snapshots; 0: does not watch */
	sennit_time     due;     /* earliest time of the next snapshot */
	sennit_time     active;  /* when it last sent a request or read */
	bool            ended;   /* sends no more requests */
	bool            leaving; /* disconnect once everything is sent */
};

/* Initialise *c to no client. */
void sn_live_client_init(struct live_client *c);

/* Take ownership of the descriptor and send the greeting. */
void sn_live_client_open(struct live_client *c, int fd, sennit_time now);

/* Disconnect, if connected. */
void sn_live_client_close(struct live_client *c);

/* Send the reason if that can be done at once, and close the descriptor. */
void sn_live_client_refuse(int fd, const char *why);

/* Return the events for poll(). */
short sn_live_client_events(const struct live_client *c);

/* Send, read, and disconnect a client that takes too long. `events` is the
 * result of poll(). */
void sn_live_client_serve(struct live_client *c, short events, sennit_time now);

/* Report whether it waits for a snapshot. If no client does, no look is
 * needed. */
bool sn_live_client_wants(const struct live_client *c);

/* Report whether it should get a snapshot now. */
bool sn_live_client_is_due(const struct live_client *c, sennit_time now);

/* Send the snapshot. */
void sn_live_client_give(struct live_client *c, const char *text, size_t size,
			 sennit_time now);

#endif
