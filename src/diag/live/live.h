/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - the live view: what a client of its socket is sent, and the parts
 * that make it. */
#ifndef SN_LIVE_H
#define SN_LIVE_H

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
	bool   cut; /* something did not fit: the text is no JSON */
};

/* Append what the format says. */
void sn_live_text_add(struct live_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Append a string in quotes. Its control characters and what is not UTF-8
 * become \n, \t or \xNN, as in reports, before JSON escapes the backslashes: so
 * who prints the decoded string harms no terminal. */
void sn_live_text_quote(struct live_text *t, const char *string);

/* --- live socket ---------------------------------------------------------- */

/* The socket of a live view: made for its owner alone, and removed only if it
 * is still the one that was made. */

struct live_socket {
	struct sockaddr_un address; /* absolute */
	int                fd;
	dev_t              device; /* with inode: the file that was made */
	ino_t              inode;
	uid_t              owner;
};

/* Listen at `path`. Returns 0 or an error of sennit_live_start. */
int sn_live_socket_open(struct live_socket *s, const char *path);

/* Close the socket. remove: also remove its file. */
void sn_live_socket_close(struct live_socket *s, bool remove);

/* Accept a client without waiting. *refused becomes whether another user's
 * process has connected. Returns its descriptor, or -1: there is none. */
int sn_live_socket_accept(const struct live_socket *s, bool *refused);

/* --- live latency --------------------------------------------------------- */

/* How long tasks ran and fibers waited in the last period, if the program
 * records it (sennit_metrics_record). */

#define LIVE_LATENCIES 32

struct live_latency {
	char             name[64];
	char             kind[32]; /* "": there is one of this name */
	sennit_histogram all;      /* since the scheduler was created */
	uint64_t         count;    /* of the last period, as the next two */
	uint64_t         p50, p99; /* nanoseconds */
};

struct live_latencies {
	struct live_latency of[LIVE_LATENCIES];
	uint32_t            count;
};

/* A period has ended: what has come since the last call. */
void sn_live_latencies_read(struct live_latencies *l, sennit_scheduler *s);

/* --- live sample ---------------------------------------------------------- */

/* What a scheduler has done lately, from repeated looks.
 *
 * A look walks a report and the counters of the workers. Rates are over the
 * last period of about a second; which tasks run is an average over the last
 * LIVE_LOOKS looks. Only the view's thread uses this.
 */

/* Bounds of a snapshot. */
#define LIVE_WORKERS 256 /* workers and bound threads */
#define LIVE_TASKS   128 /* kinds of tasks */
#define LIVE_WAITERS 16
#define LIVE_NAME    32 /* bytes of a scheduler's name */

/* Looks that the average over running tasks spans: 1.6 s at 20 per second. */
#define LIVE_LOOKS 32

/* The first period is over after this time, the others last PERIOD. */
#define LIVE_WARM   (250 * SENNIT_MILLISECOND)
#define LIVE_PERIOD (1000 * SENNIT_MILLISECOND)

/* `average` of a task that one worker runs all the time. */
#define LIVE_ONE UINT64_C(1000000)

/* A kind of task: a function, and the name that tasks or the function have. */
struct live_task {
	sennit_task_fn *run;
	char            name[SENNIT_NAME_SIZE]; /* "": none */
	uint64_t        running; /* of the current look: workers that run it */
	uint64_t        average; /* in parts of LIVE_ONE */
};

struct live_waiter {
	sennit_report_entry entry; /* its name is `name` */
	char                name[SENNIT_NAME_SIZE];
};

struct live_worker {
	sennit_worker_view now;
	sennit_worker_view mark; /* at the begin of the period; its thread is
				   * that of `now`, or there is no mark */
	uint32_t           busy; /* of the last period, in thousandths */
	uint64_t           tasks_per_s; /* of the last period */
};

struct live_sample {
	sennit_scheduler *of;   /* no reference; NULL: unused */
	uint64_t          look; /* serial number of the last look */
	char              name[LIVE_NAME];

	/* Of the last look. */
	sennit_stats       stats;
	uint64_t           running, ready, blocked, queued;
	struct live_waiter waiters[LIVE_WAITERS]; /* the longest ones */
	uint32_t           waiter_count;
	struct live_worker workers[LIVE_WORKERS];
	uint32_t           worker_count;
	uint32_t           workers_left_out;

	/* Over looks. */
	struct live_task tasks[LIVE_TASKS];
	uint32_t         task_count;
	uint64_t         looks;

	/* Over periods. */
	sennit_time           period; /* when it began; 0: no look yet */
	bool                  warm;   /* one has ended */
	sennit_stats          mark;   /* when it began */
	struct live_latencies latencies;
	uint64_t tasks_per_s, steals_per_s, blocks_per_s, parks_per_s;
};

/* Forget all looks, at `of` from now on. */
void sn_live_sample_reset(struct live_sample *m, sennit_scheduler *of);

/* Look at m->of, to which the caller has a reference. */
void sn_live_sample_update(struct live_sample *m);

/* Fill order[] with the indices of the tasks that ran most, most first. Returns
 * their number, at most `size`. */
uint32_t sn_live_sample_hottest(const struct live_sample *m, uint32_t order[],
				uint32_t size);

/* --- live snapshot -------------------------------------------------------- */

/* Looks at all schedulers of a live view, and their text. */

#define LIVE_VERSION    1 /* of the protocol */
#define LIVE_SCHEDULERS 8
#define LIVE_HOT        16

/* The longest snapshot: all bounds of live.h reached. */
#define LIVE_TEXT (UINT32_C(1) << 20)

struct live_snapshot {
	sennit_weak       *only;  /* fixed; NULL: all schedulers */
	uint64_t           looks; /* since the last reset */
	struct live_sample samples[LIVE_SCHEDULERS];
};

/* Nobody looks any more: the next look begins anew. */
void sn_live_snapshot_reset(struct live_snapshot *p);

void sn_live_snapshot_update(struct live_snapshot *p);

/* Whether every scheduler has rates. True if there is no scheduler. */
bool sn_live_snapshot_is_warm(const struct live_snapshot *p);

/* Append the last look, as one line of JSON. */
void sn_live_snapshot_write(const struct live_snapshot *p, struct live_text *t);

/* --- live client ---------------------------------------------------------- */

/* A client of a live view: its requests and its answers, within bounds of
 * memory and time that hold whatever it does.
 *
 *	get       one snapshot
 *	watch MS  a snapshot every MS milliseconds; 0: no more
 *
 * Nothing here waits for the client. While an answer has not been sent, no
 * request is read. Only the view's thread uses this.
 */

/* The maximum length of a request, with its newline. */
#define LIVE_LINE 64

/* The least time between two snapshots for one client. */
#define LIVE_GAP (100 * SENNIT_MILLISECOND)

/* How long a client may read nothing of an answer, and how long it may neither
 * ask nor watch. */
#define LIVE_PATIENCE (10 * SENNIT_SECOND)

struct live_client {
	int         fd; /* -1: no client */
	char        in[LIVE_LINE];
	size_t      in_used;
	char       *out; /* of malloc(); NULL: all is sent */
	size_t      out_used, out_sent;
	bool        asks;    /* for one snapshot */
	sennit_time period;  /* between snapshots; 0: it does not watch */
	sennit_time due;     /* when it may have the next snapshot */
	sennit_time active;  /* when it last asked, or read */
	bool        ended;   /* sends no more requests */
	bool        leaving; /* is disconnected once all is sent */
};

/* No client. */
void sn_live_client_init(struct live_client *c);

/* Take over the descriptor, and greet. */
void sn_live_client_open(struct live_client *c, int fd, sennit_time now);

/* Disconnect, if connected. */
void sn_live_client_close(struct live_client *c);

/* Say why not, if that can be sent at once, and close the descriptor. */
void sn_live_client_refuse(int fd, const char *why);

/* What poll() should wait for. */
short sn_live_client_events(const struct live_client *c);

/* Go on: send, read, disconnect a client that takes too long. `events` is what
 * poll() found. */
void sn_live_client_serve(struct live_client *c, short events, sennit_time now);

/* Whether it waits for a snapshot; when it does not, there is no need to
 * look. */
bool sn_live_client_wants(const struct live_client *c);

/* Whether it should get a snapshot now. */
bool sn_live_client_is_due(const struct live_client *c, sennit_time now);

/* Send the snapshot. */
void sn_live_client_give(struct live_client *c, const char *text, size_t size,
			 sennit_time now);

#endif
