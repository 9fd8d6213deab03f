/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - each call that may wait, on each kind of descriptor, in each state
 * of the other side, with each flag and size, does what the system call does on
 * a descriptor that was prepared in the same way: it returns the same, or waits
 * where that waits, and leaves the descriptor in the same state.
 *
 * The expectation of a cell of the table comes from the kernel that the test
 * runs on: a thread makes the plain call.
 *
 * Each run takes a share of the cells, by a seed. SENNIT_TEST_CELLS=name takes
 * the cells with this name; it may have wildcards, and "*" takes all. A failure
 * prints the command for its cell. io/docs/table.md says how to read it.
 *
 * looks.h counts looks (by RTLD_NEXT, so this is a program of its own).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "looks.h"
#include "table_calls.h"
#include "testing/random.h"

#include <fnmatch.h>
#include <semaphore.h>

/* --- cells --------------------------------------------------------------- */

struct cell {
	const struct kind   *kind;
	const struct state  *state;
	const struct call   *call;
	int                  flags;
	size_t               size;
	const struct change *change; /* while the call waits; NULL: none */
	bool                 nonblock;
	const char          *place; /* where it runs, in words */
};

/* The room for a name. */
enum { NAME_ROOM = 256 };

static uint64_t name_cell(char name[NAME_ROOM], const struct cell *c)
{
	int n = snprintf(name, NAME_ROOM, "%s(flags %#x, size %zu) on %s, %s",
			 c->call->name, (unsigned)c->flags, c->size,
			 c->kind->name, c->state->name);

	if (c->change)
		n += snprintf(name + n, (size_t)(NAME_ROOM - n), ", %s",
			      c->change->name);
	return random_stream(hash_more(0, name, (size_t)n));
}

/* One cell of this many runs, times SENNIT_TEST_TIME. */
enum { SHARE = 24 };

/* The name of a cell with a change names the cell without it, too. */
static bool is_wanted(const struct cell *c)
{
	const char    *wanted = getenv("SENNIT_TEST_CELLS");
	const uint32_t each = 1000;
	char           name[NAME_ROOM];
	uint64_t       chance = name_cell(name, c);
	const size_t   n = strlen(name);

	if (!wanted)
		return random_below(&chance, SHARE * each) < scaled(each);
	return !fnmatch(wanted, name, 0) ||
	       (!strncmp(wanted, name, n) &&
		!strncmp(wanted + n, ", then ", 7));
}

/* Linux 6.18 has a fault: a peek of no bytes at a byte of a unix stream that an
 * urgent one follows never sleeps, and lets nothing else have its CPU. The
 * plain call would stop the machine, so all such peeks are left out. The
 * library makes no such call that waits. */
static bool stops_the_machine(const struct cell *c)
{
	return c->kind->open == open_unix_stream && c->call->is & FOR_SOCKETS &&
	       c->flags & MSG_PEEK && strstr(c->state->name, "urgent");
}

/* The name of a cell without a change runs it with each, and a cell that was
 * chosen has one in four of them. */
static bool is_change_wanted(const struct cell *c)
{
	const char *wanted = getenv("SENNIT_TEST_CELLS");
	char        name[NAME_ROOM];
	uint64_t    chance = name_cell(name, c);

	if (!wanted)
		return random_below(&chance, 4) == 0;
	return !strstr(wanted, ", then ") || is_wanted(c);
}

/* The same in each run with the same seed. */
static bool by_turns(const struct cell *c)
{
	char     name[NAME_ROOM];
	uint64_t chance = name_cell(name, c);

	(void)random_from(&chance);
	return random_below(&chance, 2);
}

/* --- a thread that makes calls ------------------------------------------- */

/* It makes one call at a time, and tells whether it waits in it. */
static struct caller {
	pthread_t thread;
	sem_t     turn;
	int       stat; /* /proc/self/task/<tid>/stat */
	void (*run)(void *argument);
	void       *argument;
	atomic_bool begun, over;
	sennit_time patience; /* it counts as waiting after this time */
} caller;

/* Let the caller run. A thread that yields instead waits for its next turn,
 * which is long on a busy machine. */
static void rest(void)
{
	const struct timespec shortly = { .tv_nsec = 5000 };

	(void)nanosleep(&shortly, NULL);
}

static void *serve_calls(void *argument)
{
	char path[64];

	(void)argument;
	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat",
		 syscall(SYS_gettid));
	caller.stat = open(path, O_RDONLY | O_CLOEXEC);
	must(caller.stat >= 0, path);
	atomic_store(&caller.over, true);
	for (;;) {
		while (sem_wait(&caller.turn))
			;
		atomic_store(&caller.begun, false);
		caller.run(caller.argument);
		atomic_store(&caller.over, true);
	}
	return NULL;
}

static void begin_call(void (*run)(void *argument), void *argument)
{
	if (!caller.thread) {
		caller.thread = must_start_thread(serve_calls, NULL);
		while (!atomic_load(&caller.over))
			rest();
	}
	caller.run = run;
	caller.argument = argument;
	atomic_store(&caller.over, false);
	atomic_store(&caller.begun, true);
	sem_post(&caller.turn);
}

static bool caller_sleeps(void)
{
	char        text[512];
	ssize_t     n = pread(caller.stat, text, sizeof(text) - 1, 0);
	const char *after_name;

	must(n > 0, "stat");
	text[n] = 0;
	after_name = strrchr(text, ')');
	return after_name && after_name[2] == 'S';
}

/* Whether the call ends. If not, it sleeps, and was seen to sleep several times
 * in a row. A thread sleeps for other reasons, too, for a moment: so a call is
 * given more time if the table then finds a difference. */
static bool call_ends(void)
{
	const sennit_time until = sennit_after(caller.patience);
	int               asleep = 0;

	while (!atomic_load(&caller.over)) {
		asleep = caller_sleeps() && !atomic_load(&caller.begun)
				 ? asleep + 1
				 : 0;
		if (asleep > 3 && sennit_now() >= until)
			return atomic_load(&caller.over);
		rest();
	}
	return true;
}

/* A signal ends it. The signal may come just before the call waits. */
static void interrupt_call(void)
{
	while (!atomic_load(&caller.over)) {
		pthread_kill(caller.thread, SIGUSR1);
		rest();
	}
}

/* --- afterwards ---------------------------------------------------------- */

/* The state of a descriptor after a call. */
struct after {
	int      flags, peer_flags, events, error;
	off_t    position;
	long     in, out; /* bytes left to read; bytes that the peer gets */
	uint32_t in_hash, out_hash, file;
	int      in_end, pieces;
	int      urgent, errors;
};

static bool read_piece(int fd, struct after *a)
{
	static _Alignas(4096) char bytes[4096]; /* for O_DIRECT */

	ssize_t n = read(fd, bytes, sizeof(bytes));

	a->in_end = n < 0 ? errno : n ? -1 : 0;
	if (n <= 0)
		return false;
	a->in += n;
	a->in_hash = hash_more(a->in_hash, bytes, (size_t)n);
	a->pieces++;
	return true;
}

static bool accept_one(int fd, struct after *a)
{
	int connection = accept(fd, NULL, NULL);

	a->in_end = connection < 0 ? errno : -1;
	if (connection < 0)
		return false;
	close_end(connection);
	a->pieces++;
	return true;
}

static void read_rest(struct ends *e, struct after *a)
{
	int     flags = fcntl(e->fd, F_GETFL);
	char    byte;
	ssize_t n = 0;

	if (type_of(e->fd) == SOCK_STREAM) {
		n = recv(e->fd, &byte, 1, MSG_OOB | MSG_DONTWAIT);
		a->urgent = n < 0 ? errno : (int)n;
	}
	n = recv(e->fd, &byte, 1, MSG_ERRQUEUE | MSG_DONTWAIT);
	a->errors = n < 0 ? errno : (int)n;
	if (flags < 0 || e->kind->is & (ENDLESS | TICKS))
		return;
	(void)fcntl(e->fd, F_SETFL, flags | O_NONBLOCK);
	if (is_listener(e->fd))
		while (accept_one(e->fd, a))
			;
	else
		while (a->pieces < 100 && read_piece(e->fd, a))
			;
}

static void read_file(struct ends *e, struct after *a)
{
	char    bytes[4 * MANY];
	ssize_t n = pread(e->fd, bytes, sizeof(bytes), 0);

	if (n > 0)
		a->file = hash_more(0, bytes, (size_t)n);
}

/* What was on the way before the call is not a part of the hash. */
static void note_output(struct after *a, long ahead, const char *bytes,
			size_t n)
{
	const size_t skip = a->out < ahead ? (size_t)(ahead - a->out) : 0;

	a->out += (long)n;
	if (skip < n)
		a->out_hash = hash_more(a->out_hash, bytes + skip, n - skip);
}

/* An urgent byte is not among the others, and lost when those are read. */
static ssize_t read_with_urgent(int fd, char *bytes, size_t size)
{
	ssize_t n = 0;

	if (type_of(fd) == SOCK_STREAM)
		n = recv(fd, bytes, 1, MSG_OOB | MSG_DONTWAIT);
	return n == 1 ? n : read(fd, bytes, size);
}

/* All that was written arrives, and no more than that. */
static void read_output(struct ends *e, struct after *a, ptrdiff_t written)
{
	static char bytes[1 << 17];
	const long  all = e->ahead + (written > 0 ? written : 0);

	if (e->peer < 0 || e->loses || is_listener(e->peer) ||
	    (e->kind->give && !(e->kind->is & TERMINAL)))
		return;
	set_nonblock(e->peer, true);
	for (int turn = 0; turn < 3000; turn++) {
		ssize_t n = read_with_urgent(e->peer, bytes, sizeof(bytes));

		if (n > 0)
			note_output(a, e->ahead, bytes, (size_t)n);
		else if (n == 0 || errno != EAGAIN || a->out >= all)
			break;
		else
			usleep(100);
	}
	a->out -= e->ahead;
	if (e->drained) /* perhaps with an urgent byte, which is dropped */
		a->out = a->out_hash = 0;
}

static void look_after(struct ends *e, struct after *a, ptrdiff_t written)
{
	socklen_t size = sizeof(a->error);

	*a = (struct after){ .in_end = -1 };
	a->flags = fcntl(e->fd, F_GETFL);
	a->peer_flags = e->peer < 0 ? 0 : fcntl(e->peer, F_GETFL);
	a->events = events_now(e->fd) & ~(e->drained ? POLLOUT : 0);
	a->position = e->kind->is & KEEPS ? lseek(e->fd, 0, SEEK_CUR) : 0;
	(void)getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &a->error, &size);
	if (e->kind->is & KEEPS)
		read_file(e, a);
	read_output(e, a, written);
	read_rest(e, a);
}

/* --- what came of it ----------------------------------------------------- */

enum way { RETURNS, WAITS, IN_PART };

struct seen {
	enum way     way;
	ptrdiff_t    result;
	struct got   got;
	struct after after;
};

static unsigned differences;

static void say_seen(const char *who, const struct seen *s)
{
	const struct got   *g = &s->got;
	const struct after *a = &s->after;

	fprintf(stderr,
		"  %s: %s %td; bytes %#x, flags %#x, name %d, control %d, "
		"descriptors %d, events %#x, extra %d, at %lld, signals %u%s\n"
		"    then flags %#o, peer %#o, events %#x, error %d, at %lld, "
		"in %ld %#x in %d end %d, out %ld %#x, file %#x, urgent %d, "
		"errors %d\n",
		who,
		s->way == RETURNS ? "returns"
		: s->way == WAITS ? "waits"
				  : "waits after",
		s->result, g->bytes, (unsigned)g->flags, g->name, g->control,
		g->descriptors, (unsigned)g->events, g->extra, (long long)g->at,
		g->signals, g->beyond ? ", BEYOND" : "", (unsigned)a->flags,
		(unsigned)a->peer_flags, (unsigned)a->events, a->error,
		(long long)a->position, a->in, a->in_hash, a->pieces, a->in_end,
		a->out, a->out_hash, a->file, a->urgent, a->errors);
}

static void differ(const struct cell *c, const char *what,
		   const struct seen *plain, const struct seen *ours)
{
	char        name[NAME_ROOM];
	const char *backend = getenv("SENNIT_TEST_IO");

	EXPECT(!what);
	if (differences++ > 100)
		return;
	(void)name_cell(name, c);
	fprintf(stderr, "%s%s, %s: %s\n", name,
		c->nonblock ? ", O_NONBLOCK" : "", c->place, what);
	say_seen("plain", plain);
	say_seen("ours ", ours);
	fprintf(stderr,
		"  again: SENNIT_TEST_IO=%s SENNIT_TEST_SEED=%llu "
		"SENNIT_TEST_CELLS=\"%s\" %s %s\n",
		backend ? backend : "epoll", (unsigned long long)random_seed,
		name, test_argv[0], strchr(test_now(), ' ') + 1);
}

/* --- the plain call ------------------------------------------------------ */

static void make_plain_call(void *run)
{
	struct run *r = run;

	r->result = r->call->plain(r);
}

/* net.h: the library waits for an error, where the system does not. */
static bool waits_for_an_error(const struct cell *c)
{
	return c->call->is & READS && c->flags & MSG_ERRQUEUE &&
	       !(c->flags & MSG_DONTWAIT);
}

/* splice.h: the library does not wait for a socket, where the system does. */
static bool must_not_wait(const struct cell *c)
{
	return (c->call->plain == plain_splice_to ||
		c->call->plain == plain_splice_from) &&
	       c->flags & SPLICE_F_NONBLOCK;
}

/* Change the other side while the call waits. Returns false if the call does
 * not wait, or if there is no such change. */
static bool make_change(const struct cell *c, struct ends *e)
{
	bool made;

	settles = false;
	made = c->change->make(e);
	settles = true;
	return made;
}

static bool run_plain(const struct cell *c, struct ends *e, struct seen *s)
{
	bool ends = call_ends();

	if (c->change && (ends || !make_change(c, e))) {
		interrupt_call();
		return false;
	}
	if (c->change)
		ends = call_ends();
	s->way = ends ? RETURNS : WAITS;
	interrupt_call();
	return true;
}

/* Returns false if there is no such cell. */
static bool see_plain(const struct cell *c, struct seen *s)
{
	struct ends e;
	struct run  r;
	bool        there;

	if (!prepare(&e, c->kind, c->state))
		return false;
	begin_run(&r, c->call, c->flags, c->size, &e);
	begin_call(make_plain_call, &r);
	there = run_plain(c, &e, s);
	if (s->way == WAITS && r.result > 0)
		s->way = IN_PART;
	if (must_not_wait(c) && s->way == WAITS) {
		s->way = RETURNS;
		r.result = -EAGAIN;
	}
	if (waits_for_an_error(c) && r.result == -EAGAIN)
		s->way = WAITS;
	end_run(&r);
	s->result = r.result;
	s->got = r.got;
	if (there)
		look_after(&e, &s->after, c->call->is & WRITES ? r.result : 0);
	release(&e);
	return there;
}

/* --- our calls ----------------------------------------------------------- */

/* A call that is made now or in a fiber of its own. */
struct attempt_at {
	struct cell c;
	struct ends e;
	struct run  r;
	sennit_time deadline;
	atomic_bool over;
};

static void make_our_call(void *attempt)
{
	struct attempt_at *a = attempt;

	a->r.result = a->r.call->ours(&a->r, a->deadline);
	atomic_store(&a->over, true);
}

static void begin_ours(struct attempt_at *a, const struct cell *c)
{
	a->c = *c;
	a->over = false;
	must(prepare(&a->e, c->kind, c->state), "prepare");
	if (c->nonblock && a->e.fd >= 0 && fcntl(a->e.fd, F_GETFL) >= 0)
		(void)fcntl(a->e.fd, F_SETFL,
			    fcntl(a->e.fd, F_GETFL) | O_NONBLOCK);
	begin_run(&a->r, c->call, c->flags, c->size, &a->e);
}

static void end_ours(struct attempt_at *a, struct seen *s)
{
	const unsigned is = a->c.call->is;
	const int      mask = ~(
                a->c.nonblock || (is & LEAVES_NONBLOCK && type_of(a->e.fd) >= 0)
			     ? O_NONBLOCK
			     : 0);

	s->way = RETURNS;
	s->result = a->r.result;
	end_run(&a->r);
	s->got = a->r.got;
	look_after(&a->e, &s->after, is & WRITES ? s->result : 0);
	if (s->after.flags >= 0)
		s->after.flags &= mask;
	release(&a->e);
}

/* --- comparing ----------------------------------------------------------- */

static const char *differs_in_got(const struct cell *c,
				  const struct seen *plain,
				  const struct seen *ours)
{
	const struct got *p = &plain->got, *o = &ours->got;
	/* The system call may have gone on, to write the rest. */
	const bool is_part = c->call->is & WRITES && plain->result > 0 &&
			     (size_t)plain->result < c->size;

	if (p->bytes != o->bytes)
		return "other bytes";
	if (p->flags != o->flags || p->name != o->name ||
	    p->control != o->control || p->descriptors != o->descriptors)
		return "another message";
	if (p->events != o->events)
		return "other events";
	if (p->extra != o->extra)
		return "another amount";
	if (p->at != o->at)
		return "another offset";
	/* Nor can those of the calls of a batch be told apart. */
	if (p->signals != o->signals && !c->change &&
	    (o->signals || !(is_part || c->call->is & MAY_SIGNAL)))
		return "other signals";
	return o->beyond ? "bytes behind the buffer" : NULL;
}

/* Whether a call waits until it has received all. */
static bool receives_all(const struct cell *c)
{
	return c->call->is & READS && c->call->is & FOR_SOCKETS &&
	       c->flags & MSG_WAITALL;
}

static const char *differs_after(const struct cell *c, const struct after *p,
				 const struct after *o)
{
	if (p->flags != o->flags || p->peer_flags != o->peer_flags)
		return "other flags afterwards";
	if (p->position != o->position || p->file != o->file)
		return "another file afterwards";
	if (p->out != o->out || p->out_hash != o->out_hash)
		return "the peer gets other bytes";
	/* A stream has received more than it returned. A call that receives all
	 * leaves the error of the connection to the next call. */
	if (c->call->is & TAKES_MORE || (receives_all(c) && o->error))
		return NULL;
	if (p->events != o->events)
		return "other events afterwards";
	if (p->in != o->in || p->in_hash != o->in_hash ||
	    p->in_end != o->in_end || p->pieces != o->pieces)
		return "something else is left to read";
	if (p->error != o->error || p->urgent != o->urgent ||
	    p->errors != o->errors)
		return "other errors afterwards";
	return NULL;
}

static const char *differs(const struct cell *c, const struct seen *p,
			   const struct seen *o)
{
	const char *what;

	if (p->result != o->result)
		return "another result";
	what = differs_in_got(c, p, o);
	if (what || (c->call->is & SPOILS && p->result < 0))
		return what;
	return differs_after(c, &p->after, &o->after);
}

/* --- what the system call may do ------------------------------------------ */

/* Whether the system call, made again and given more time, does what ours did:
 * then its own result is not determined, or it was taken to wait too early. The
 * first time it may just have gone to sleep for another reason. */
static bool may_be_plain(const struct cell *c, const struct seen *ours)
{
	const sennit_time before = caller.patience;
	bool              same = false;

	caller.patience = SENNIT_SECOND / 5;
	for (int i = 0; i < 3 && !same; i++) {
		struct seen again = { .way = WAITS };

		same = see_plain(c, &again) && again.way == RETURNS &&
		       !differs(c, &again, ours);
	}
	caller.patience = before;
	return same;
}

/* --- what ends at once --------------------------------------------------- */

/* For a call that need not wait: only one that hangs takes so long. */
#define PATIENCE (20 * SENNIT_SECOND)

static void compare(struct cell *c, const struct seen *plain, bool by_caller,
		    sennit_time deadline)
{
	struct attempt_at a = { .deadline = deadline };
	struct seen       ours;
	const char       *what;

	begin_ours(&a, c);
	if (by_caller) {
		begin_call(make_our_call, &a);
		while (!atomic_load(&caller.over))
			rest();
	} else {
		make_our_call(&a);
	}
	end_ours(&a, &ours);
	what = differs(c, plain, &ours);
	if (what && !may_be_plain(c, &ours))
		differ(c, what, plain, &ours);
}

static unsigned cells_compared;

static void compare_everywhere(struct cell *c, const struct seen *plain)
{
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		c->nonblock = nonblock;
		c->place = "in a fiber";
		compare(c, plain, false, sennit_after(PATIENCE));
	}
	c->nonblock = false;
	c->place = "with a deadline of 0";
	compare(c, plain, false, 0);
	c->place = "on a thread";
	compare(c, plain, true, sennit_after(PATIENCE));
	cells_compared++;
}

/* --- all cells ----------------------------------------------------------- */

typedef void cell_fn(struct cell *c, const struct seen *plain);

static const size_t sizes[] = { 1, 0, MANY, (size_t)1 << 31,
				sizeof(void *) < 8 ? 0
						   : ((size_t)1 << 31) * 2 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static bool has_size(const struct cell *c, size_t i)
{
	if (!(c->call->is & SIZED))
		return i == 0;
	if (i < 3)
		return true;
	return sizeof(void *) >= 8 && !c->flags && !(c->call->is & ALL) &&
	       !(c->kind->is & (KEEPS | ENDLESS));
}

static void with_sizes(struct cell c, cell_fn *run)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct seen plain = { .result = 0 };

		if (!has_size(&c, i))
			continue;
		c.size = c.call->is & SIZED ? sizes[i] : SENNIT_STREAM_BUFFER;
		if (is_wanted(&c) && !stops_the_machine(&c) &&
		    see_plain(&c, &plain))
			run(&c, &plain);
	}
}

static void with_calls(struct cell c, bool is_socket, cell_fn *run)
{
	static const struct flag_list none = { 1, { 0 } };

	for (size_t i = 0; i < CALLS; i++) {
		const struct flag_list *f = calls[i].flags ? calls[i].flags
							   : &none;

		c.call = &calls[i];
		if (c.call->is &
			    (is_socket ? FOR_FILES : FOR_FILES | FOR_SOCKETS) &&
		    c.state != states)
			continue;
		for (size_t k = 0; k < f->count; k++) {
			c.flags = f->at[k];
			with_sizes(c, run);
		}
	}
}

/* A kind that hangs takes longer than this. */
static void begin_kind(void)
{
	alarm(300);
}

static void with_all_cells(cell_fn *run)
{
	for (size_t k = 0; k < KINDS; k++) {
		struct ends e;
		bool        is_socket;

		begin_kind();
		(void)prepare(&e, &kinds[k], states);
		is_socket = type_of(e.fd) >= 0;
		release(&e);
		for (size_t s = 0; s < STATES; s++)
			with_calls((struct cell){ .kind = &kinds[k],
						  .state = &states[s] },
				   is_socket, run);
	}
}

/* --- what waits ---------------------------------------------------------- */

/* A cell, and what its system call did. */
struct known {
	struct cell c;
	struct seen plain;
};

/* The cells whose system call waits. */
static struct known *waiting;
static size_t        waiting_count, waiting_room;

static void note_waiting(const struct cell *c, const struct seen *plain)
{
	/* Signals belong to the process, and not to one of the descriptors. */
	if (c->kind->give == give_signal && c->state != states)
		return;
	if (waiting_count == waiting_room) {
		waiting_room = waiting_room * 2 + 1024;
		waiting = realloc(waiting, waiting_room * sizeof(*waiting));
		must(waiting, "realloc");
	}
	waiting[waiting_count++] = (struct known){ *c, *plain };
}

/* A call that writes less than it was given returns that, where the system call
 * waits for room for the rest. */
static void compare_part(struct cell *c, const struct seen *plain)
{
	struct attempt_at a = { .deadline = sennit_after(PATIENCE) };
	struct seen       ours;

	c->place = "in a fiber";
	begin_ours(&a, c);
	make_our_call(&a);
	end_ours(&a, &ours);
	if (ours.result <= 0 || (size_t)ours.result > c->size ||
	    (plain->after.out && /* the peer has read it */
	     ours.after.out != plain->after.out - plain->result + ours.result))
		differ(c, "not a part of it", plain, &ours);
}

static void compare_cell(struct cell *c, const struct seen *plain)
{
	if (plain->way == RETURNS)
		compare_everywhere(c, plain);
	else if (plain->way == IN_PART && !receives_all(c))
		compare_part(c, plain);
	else
		note_waiting(c, plain);
}

TEST_WITHOUT(what_need_not_wait_returns_what_the_system_call_returns)
{
	(void)w;
	with_all_cells(compare_cell);
	printf("SENNIT_TEST_SEED=%llu: %u cells return, %zu wait\n",
	       (unsigned long long)random_seed, cells_compared, waiting_count);
}

static void find_waiting(struct cell *c, const struct seen *plain)
{
	if (plain->way == WAITS || (plain->way == IN_PART && receives_all(c)))
		note_waiting(c, plain);
}

/* Once for all tests. */
static void need_waiting(void)
{
	if (!waiting_count)
		with_all_cells(find_waiting);
}

/* --- batches of calls that wait ------------------------------------------ */

enum { BATCH = 200 };

/* How long a batch waits. */
#define WAIT (60 * SENNIT_MILLISECOND)

static struct attempt_at attempts[BATCH];

/* How the waits of a batch end. */
struct ending {
	const char *place;
	void (*run)(const struct known *of, size_t n);
	int expected; /* the result of a call that waits */
	/* Returns what differs, or NULL. */
	const char *(*judge)(const struct known *k, const struct seen *ours,
			     int expected);
};

static void *run_attempt_as_thread(void *attempt)
{
	make_our_call(attempt);
	return NULL;
}

static int run_attempt(void *attempt)
{
	make_our_call(attempt);
	return 0;
}

static bool is_batch_over(size_t n)
{
	bool over = true;

	for (size_t i = 0; i < n; i++)
		over = over && atomic_load(&attempts[i].over);
	return over;
}

/* A call that never ends would keep the process. */
static void await_batch(size_t n)
{
	const sennit_time  until = sennit_after(PATIENCE);
	const struct seen  none = { .way = WAITS };
	struct attempt_at *a;

	while (!is_batch_over(n) && sennit_now() < until)
		must(!sennit_sleep(SENNIT_MILLISECOND), "sleep");
	for (a = attempts; a < attempts + n; a++)
		if (!atomic_load(&a->over))
			differ(&a->c, "does not end", &none, &none);
	if (!is_batch_over(n))
		abort();
}

/* Pauses between looks double from 0.1 to 64 ms, and a look is three calls at
 * most. On a thread a look may come each 10 ms. A call that transfers all may
 * do so byte by byte. */
static unsigned most_looks(const struct cell *c, sennit_time begun)
{
	const sennit_time passed = sennit_now() - begun;
	const size_t      pieces = c->call->is & ALL ? c->size : 0;

	return 100 + (unsigned)(passed / (3 * SENNIT_MILLISECOND)) +
	       3 * (unsigned)pieces;
}

/* How often the library has looked at fd, which may be -1. */
static atomic_uint *looks_at(int fd)
{
	static atomic_uint none;

	return fd < 0 ? &none : &looks[fd];
}

static void run_batch(const struct known *of, size_t n, const struct ending *e)
{
	sennit_time begun;

	begin_kind();
	for (size_t i = 0; i < n; i++) {
		struct cell c = of[i].c;

		c.nonblock = by_turns(&c);
		c.place = e->place;
		begin_ours(&attempts[i], &c);
		atomic_store(looks_at(attempts[i].e.fd), 0);
	}
	begun = sennit_now();
	e->run(of, n);
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &attempts[i].c;
		const unsigned looked = atomic_load(looks_at(attempts[i].e.fd));
		struct seen    ours;
		const char    *what;

		end_ours(&attempts[i], &ours);
		what = e->judge(&of[i], &ours, e->expected);
		if (what && may_be_plain(c, &ours))
			what = NULL;
		if (!what && looked > most_looks(c, begun)) {
			fprintf(stderr, "%u looks\n", looked);
			what = "looks again and again";
		}
		if (what)
			differ(c, what, &of[i].plain, &ours);
	}
}

static void run_batches(const struct ending *e)
{
	need_waiting();
	for (size_t at = 0; at < waiting_count; at += BATCH)
		run_batch(&waiting[at],
			  waiting_count - at < BATCH ? waiting_count - at
						     : BATCH,
			  e);
}

/* A full connection takes some more bytes after the next probe of its window,
 * at some time: a write of them is not determined. */
static bool may_be_probed(const struct cell *c, const struct seen *ours)
{
	return c->kind->open == open_tcp && c->call->is & WRITES &&
	       strstr(c->state->name, "full") && ours->result >= 0;
}

static const char *judge_end(const struct known *k, const struct seen *ours,
			     int expected)
{
	if (may_be_probed(&k->c, ours))
		return NULL;
	if (ours->result !=
	    (k->plain.way == IN_PART ? k->plain.result : expected))
		return "another end";
	return k->c.call->is & (ALL | SPOILS)
		       ? NULL
		       : differs_after(&k->c, &k->plain.after, &ours->after);
}

/* --- the deadline, and a cancelled group --------------------------------- */

static void spawn_batch(sennit_group *g, size_t n, sennit_time deadline)
{
	sennit_group_init(g, SENNIT_NEVER, 0);
	for (size_t i = 0; i < n; i++) {
		attempts[i].deadline = deadline;
		must(!sennit_group_spawn_task(
			     g,
			     SENNIT_MEMBER(.run = run_attempt,
					   .argument = &attempts[i],
					   .flags = SENNIT_MEMBER_SAME_THREAD)),
		     "spawn");
	}
}

static void end_group(sennit_group *g, size_t n)
{
	await_batch(n);
	(void)!sennit_group_wait(g);
}

static void cancel_batch(const struct known *of, size_t n)
{
	sennit_group g;

	(void)of;
	spawn_batch(&g, n, SENNIT_NEVER);
	must(!sennit_sleep(WAIT), "sleep");
	sennit_group_cancel(&g);
	end_group(&g, n);
}

TEST_WITHOUT(what_would_wait_waits_until_its_group_is_cancelled)
{
	(void)w;
	run_batches(&(struct ending){ "in a group", cancel_batch, -ECANCELED,
				      judge_end });
}

static void await_deadline(const struct known *of, size_t n)
{
	sennit_group g;

	(void)of;
	spawn_batch(&g, n, sennit_after(WAIT));
	end_group(&g, n);
}

TEST_WITHOUT(what_would_wait_ends_at_its_deadline)
{
	(void)w;
	run_batches(&(struct ending){ "with a deadline", await_deadline,
				      -ETIMEDOUT, judge_end });
}

static void call_without_waiting(const struct known *of, size_t n)
{
	(void)of;
	for (size_t i = 0; i < n; i++) {
		attempts[i].deadline = 0;
		make_our_call(&attempts[i]);
	}
}

TEST_WITHOUT(what_would_wait_ends_at_once_with_a_deadline_of_0)
{
	(void)w;
	run_batches(&(struct ending){ "with a deadline of 0",
				      call_without_waiting, -ETIMEDOUT,
				      judge_end });
}

static void call_on_threads(const struct known *of, size_t n)
{
	pthread_t threads[BATCH];

	(void)of;
	for (size_t i = 0; i < n; i++) {
		attempts[i].deadline = sennit_after(WAIT);
		threads[i] = must_start_thread(run_attempt_as_thread,
					       &attempts[i]);
	}
	await_batch(n);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

TEST_WITHOUT(what_would_wait_on_a_thread_ends_at_its_deadline)
{
	(void)w;
	run_batches(&(struct ending){ "on a thread", call_on_threads,
				      -ETIMEDOUT, judge_end });
}

/* --- the other side changes ---------------------------------------------- */

/* A write may be of a part where the system call goes on to write the rest. */
static bool is_good_part(const struct seen *plain, const struct seen *ours)
{
	return plain->result > 0 && ours->result > 0 &&
	       ours->result < plain->result && ours->after.out == ours->result;
}

/* Where the peer of a unix stream closes, a send that waits in the system gets
 * the error of the connection, and one that is made then gets EPIPE. */
static bool is_closed_unix(const struct known *k, const struct seen *ours)
{
	return k->c.kind->open == open_unix_stream &&
	       k->c.change->make == close_peer && k->c.call->is & WRITES &&
	       k->plain.result == -ECONNRESET && ours->result == -EPIPE;
}

/* Where the master of a terminal closes, a call that waits in the system gets
 * EIO, and one that is made then the end of the file, or EINVAL. */
static bool is_hung_up(const struct known *k, const struct seen *ours)
{
	return k->c.kind->is & TERMINAL && k->c.kind->open != open_master &&
	       k->c.change->make == close_peer && k->plain.result == -EIO &&
	       (ours->result == -EINVAL || ours->result == -ENODATA ||
		!ours->result);
}

static const char *judge_change(const struct known *k, const struct seen *ours,
				int expected)
{
	const struct seen *plain = &k->plain;

	if (plain->way == WAITS && may_be_probed(&k->c, ours))
		return NULL;
	if (plain->way == WAITS ||
	    (plain->way == IN_PART && receives_all(&k->c)))
		return ours->result == (plain->way == IN_PART ? plain->result
							      : expected)
			       ? NULL
			       : "another end";
	if (plain->way == IN_PART)
		return ours->result > 0 ? NULL : "not a part of it";
	/* It is one of them, or the first that is left. */
	if (k->c.change->make == accept_all)
		return ours->result == plain->result ? NULL : "another result";
	return (k->c.call->is & WRITES && is_good_part(plain, ours)) ||
			       is_closed_unix(k, ours) || is_hung_up(k, ours)
		       ? NULL
		       : differs(&k->c, plain, ours);
}

/* Whether all calls have returned whose system calls did. */
static bool are_changed_over(const struct known *of, size_t n)
{
	bool over = true;

	for (size_t i = 0; i < n; i++)
		over = over && (of[i].plain.way != RETURNS ||
				atomic_load(&attempts[i].over));
	return over;
}

/* Those of them that wait still are in the group when it is cancelled. */
static void change_batch(const struct known *of, size_t n)
{
	const sennit_time until = sennit_after(PATIENCE);
	sennit_group      g;

	spawn_batch(&g, n, SENNIT_NEVER);
	/* All have begun when this ends, and wait when a second one does. */
	must(!sennit_sleep(10 * SENNIT_MILLISECOND), "sleep");
	must(!sennit_sleep(10 * SENNIT_MILLISECOND), "sleep");
	for (size_t i = 0; i < n; i++)
		if (!atomic_load(&attempts[i].over))
			(void)make_change(&of[i].c, &attempts[i].e);
	while (!are_changed_over(of, n) && sennit_now() < until)
		must(!sennit_sleep(SENNIT_MILLISECOND), "sleep");
	must(!sennit_sleep(10 * SENNIT_MILLISECOND), "sleep");
	sennit_group_cancel(&g);
	end_group(&g, n);
}

/* A tcp peer that reads no more, and has ended, answers the next byte by a
 * reset. The next probe of the full window has one, at some time. */
static bool may_be_reset(const struct cell *c)
{
	step_fn    *make = c->change->make;
	const char *state = c->state->name;

	return c->kind->open == open_tcp &&
	       ((make == half_close && !strcmp(state, "full, turned away")) ||
		(make == turn_away && !strcmp(state, "full, half-closed")));
}

/* A second urgent byte takes the first one out of the stream, also under a peek
 * that waits in the system, which then counts one byte twice. */
static bool may_peek_twice(const struct cell *c)
{
	return c->kind->open == open_tcp && c->change->make == give_urgent &&
	       strstr(c->state->name, "urgent") && receives_all(c) &&
	       c->flags & MSG_PEEK;
}

/* Each event ends a receive of no bytes that waits in the system. Signals
 * belong to the process, and not to one of the descriptors. */
static bool is_changeable(const struct cell *c)
{
	return c->size && !is_vast(c->size) && c->kind->give != give_signal &&
	       !may_be_reset(c) && !may_peek_twice(c);
}

TEST_WITHOUT(what_waits_goes_on_when_the_system_call_would)
{
	static struct known changing[BATCH];
	const struct ending by_change = { "in a fiber", change_batch,
					  -ECANCELED, judge_change };
	size_t              n = 0;

	(void)w;
	need_waiting();
	for (size_t i = 0; i < waiting_count * CHANGES; i++) {
		struct known *k = &changing[n];

		*k = (struct known){ .c = waiting[i / CHANGES].c,
				     .plain = { .way = WAITS } };
		k->c.change = &changes[i % CHANGES];
		n += is_changeable(&k->c) && is_change_wanted(&k->c) &&
		     see_plain(&k->c, &k->plain);
		if (n == BATCH) {
			run_batch(changing, n, &by_change);
			n = 0;
		}
	}
	run_batch(changing, n, &by_change);
}

/* --- begin --------------------------------------------------------------- */

static int make_ready_for_all(void)
{
	struct sigaction see = { .sa_handler = see_signal };
	sigset_t         set;

	(void)prctl(PR_SET_TIMERSLACK, 1L);
	table_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigaction(SIGPIPE, &see, NULL);
	sigaction(SIGXFSZ, &see, NULL);
	sigaction(SIGTTIN, &see, NULL);
	sigaction(SIGTTOU, &see, NULL);
	return make_pattern();
}

static void do_nothing(int number)
{
	(void)number;
}

static int let_a_signal_interrupt(void)
{
	struct sigaction none = { .sa_handler = do_nothing };

	return sigaction(SIGUSR1, &none, NULL);
}

/* Another run would take other cells, so it must not pass in place of this
 * one: tools/test-all runs what was aborted no second time. */
static int abort_if_different(int failures)
{
	if (differences)
		abort();
	return failures;
}

AFTER_ALL(abort_if_different);
BEFORE_ALL(make_ready_for_all);
BEFORE_ALL(let_a_signal_interrupt);
USES_BACKEND;
