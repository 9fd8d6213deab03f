/* SPDX-License-Identifier: Apache-2.0 */
#include "fibers.h"

#include "base/atomic.h"
#include "callers.h"
#include "last_words.h"
#include "unwind.h"
#include "sennit/config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define DESCRIPTOR (&sennit_debug_descriptor)

/* The table of task names is read in blocks of this many pairs. */
#define NAME_BLOCK 512u
#define PAIR       (2 * sizeof(uintptr_t))

/* How often a list is read without pauses. If a list changes during each read,
 * the part that was read last is used. */
#define TRIES 8u

/* --- words -------------------------------------------------------------- */

static uintptr_t pointer_at(uintptr_t record, uint32_t at)
{
	uintptr_t value = 0;

	sn_own_memory_read(&value, record + at, sizeof(value));
	return value;
}

static uint32_t word_in(const char *record, uint32_t at)
{
	uint32_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

static uintptr_t address_in(const char *record, uint32_t at)
{
	uintptr_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

static uint64_t long_in(const char *record, uint32_t at)
{
	uint64_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

/* Read a name that ends within `size` bytes; a longer one is cut. */
static void read_name_at(char *name, size_t size, uintptr_t from)
{
	size_t n = sn_own_memory_copy(name, from, size - 1);

	name[n] = '\0';
}

/* --- lists -------------------------------------------------------------- */

static bool grow_addresses(struct address_list *l)
{
	const size_t room = l->room ? 2 * l->room : 4096;
	const bool   has_few = l->items == l->few;
	uintptr_t   *items;

	if (!l->room && l->few) {
		l->items = l->few;
		l->room = l->few_room;
		return true;
	}
	items = sn_last_words_resize(has_few ? NULL : l->items,
				     room * sizeof(*items));
	if (!items)
		return false;
	if (has_few && l->count)
		memcpy(items, l->few, l->count * sizeof(*items));
	l->items = items;
	l->room = room;
	return true;
}

static bool add_address(struct address_list *l, uintptr_t address)
{
	if (l->count == l->room && !grow_addresses(l))
		return false;
	l->items[l->count++] = address;
	return true;
}

void sn_address_list_free(struct address_list *l)
{
	if (l->items != l->few)
		sn_last_words_free(l->items);
	l->items = NULL;
	l->count = l->room = 0;
}

/* Add the records from the link `first` on, as long as each link's `prev` is
 * the link before it. In memory that has been reused, only that check ends the
 * walk. Returns false if there is no memory. */
static bool add_links(struct address_list *l, uintptr_t first, uint32_t link_at)
{
	uintptr_t link = first;
	uintptr_t words[2]; /* next, prev */
	uintptr_t before = 0;

	do {
		l->broken_at = link;
		if (!sn_own_memory_read(words, link, sizeof(words)) ||
		    (before && words[1] != before))
			return true;
		if (!add_address(l, link - link_at))
			return false;
		before = link;
		link = words[0];
	} while (link != first);
	l->broken_at = 0;
	return true;
}

/* Report whether to read again a list that broke `tries` times. */
static bool try_again(struct address_list *l, unsigned tries)
{
	if (tries < TRIES)
		return true;
	if (!l->pauses)
		return false;
	l->pauses--;
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	return true;
}

/* Add the records of a circular list, which may change during the read. `from`
 * is the address of the pointer to its first link. */
static bool add_circle(struct address_list *l, uintptr_t from, uint32_t link_at)
{
	const size_t count = l->count;
	unsigned     tries = 0;

	do {
		uintptr_t first = 0;

		l->count = count;
		l->broken_at = from;
		if (!sn_own_memory_read(&first, from, sizeof(first)))
			return true;
		l->broken_at = 0;
		if (first && !add_links(l, first, link_at))
			return false;
	} while (l->broken_at && try_again(l, ++tries));
	return true;
}

bool sn_record_list_schedulers(struct address_list *l)
{
	l->count = 0;
	return add_circle(l, (uintptr_t)DESCRIPTOR->schedulers,
			  DESCRIPTOR->scheduler_link_at);
}

bool sn_record_list_workers(struct address_list *l, uintptr_t scheduler)
{
	uintptr_t workers[SENNIT_WORKERS_MAX];
	uint32_t  count = 0;

	l->count = 0;
	l->broken_at = scheduler + DESCRIPTOR->scheduler_workers_at;
	if (!sn_own_memory_read(&count,
				scheduler + DESCRIPTOR->scheduler_capacity_at,
				sizeof(count)) ||
	    count > SENNIT_WORKERS_MAX ||
	    !sn_own_memory_read(
		    workers,
		    pointer_at(scheduler, DESCRIPTOR->scheduler_workers_at),
		    count * sizeof(workers[0])))
		return true; /* the scheduler has ended, or the record is
			      * damaged */
	for (uint32_t i = 0; i < count; i++)
		if (workers[i] && !add_address(l, workers[i]))
			return false;
	return add_circle(l, scheduler + DESCRIPTOR->scheduler_bound_at,
			  DESCRIPTOR->worker_bound_at);
}

bool sn_record_list_fibers(struct address_list *l, uintptr_t worker)
{
	l->count = 0;
	return add_circle(l, worker + DESCRIPTOR->worker_fibers_at,
			  DESCRIPTOR->fiber_link_at);
}

/* --- records ------------------------------------------------------------ */

bool sn_worker_record_read(struct worker_record *w, uintptr_t at)
{
	uint32_t words[2];

	if (!sn_own_memory_read(&words[0], at + DESCRIPTOR->worker_index_at,
				4) ||
	    !sn_own_memory_read(&words[1], at + DESCRIPTOR->worker_thread_at,
				4) ||
	    !sn_own_memory_read(&w->clock, at + DESCRIPTOR->worker_clock_at, 8))
		return false;
	w->at = at;
	w->current = pointer_at(at, DESCRIPTOR->worker_current_at);
	w->main = at + DESCRIPTOR->worker_main_at;
	w->index = words[0];
	w->thread = words[1];
	return true;
}

static bool read_fiber_record(struct fiber_record *f, uintptr_t at,
			      const char *bytes)
{
	f->at = at;
	f->context = address_in(bytes, DESCRIPTOR->fiber_context_at);
	f->low = address_in(bytes, DESCRIPTOR->fiber_low_at);
	f->worker = address_in(bytes, DESCRIPTOR->fiber_worker_at);
	f->task = address_in(bytes, DESCRIPTOR->fiber_task_at);
	f->object = address_in(bytes, DESCRIPTOR->fiber_object_at);
	f->since = long_in(bytes, DESCRIPTOR->fiber_since_at);
	f->deadline = long_in(bytes, DESCRIPTOR->fiber_deadline_at);
	f->identity = address_in(bytes, sennit_debug_waits.fiber_identity_at);
	f->scope = address_in(bytes, sennit_debug_waits.fiber_scope_at);
	f->owner = address_in(bytes, sennit_debug_waits.fiber_owner_at) &
		   ~(uintptr_t)3;
	memcpy(f->reads, bytes + sennit_debug_waits.fiber_reads_at,
	       sizeof(f->reads));
	f->site = 0;
	if (f->task && sennit_debug_waits.fiber_site_at)
		f->site = address_in(bytes, sennit_debug_waits.fiber_site_at);
	f->id = word_in(bytes, DESCRIPTOR->fiber_id_at);
	f->doing = word_in(bytes, DESCRIPTOR->fiber_doing_at);
	f->helper = word_in(bytes, sennit_debug_helpers.fiber_helper_at);
	memcpy(f->name, bytes + DESCRIPTOR->fiber_name_at, sizeof(f->name));
	f->name[sizeof(f->name) - 1] = '\0';
	if (word_in(bytes, DESCRIPTOR->fiber_name_version_at) & 1)
		f->name[0] = '\0';
	return f->low < at && sn_fiber_record_state(f) <= SENNIT_REPORT_BLOCKED;
}

bool sn_fiber_record_read(struct fiber_record *f, uintptr_t at)
{
	char bytes[FIBER_SIZE];

	return DESCRIPTOR->fiber_size <= FIBER_SIZE &&
	       sn_own_memory_read(bytes, at, DESCRIPTOR->fiber_size) &&
	       read_fiber_record(f, at, bytes);
}

void sn_fiber_records_read(struct fiber_records *r)
{
	struct memory_part parts[FIBERS_BATCH];
	const size_t       size = DESCRIPTOR->fiber_size;

	for (size_t i = 0; i < r->count; i++)
		parts[i] = (struct memory_part){ r->bytes[i], r->at[i], size };
	if (size <= FIBER_SIZE)
		sn_own_memory_copy_parts(parts, r->count);
	for (size_t i = 0; i < r->count; i++)
		if (size > FIBER_SIZE || parts[i].size < size ||
		    !read_fiber_record(&r->fibers[i], r->at[i], r->bytes[i]))
			r->fibers[i].at = 0;
}

void sn_record_scheduler_name(uintptr_t scheduler, char *name, size_t size)
{
	if (size > DESCRIPTOR->scheduler_name_size)
		size = DESCRIPTOR->scheduler_name_size;
	read_name_at(name, size, scheduler + DESCRIPTOR->scheduler_name_at);
}

void sn_record_function_name(uintptr_t function, char *name, size_t size)
{
	const uintptr_t table = (uintptr_t)DESCRIPTOR->task_names;
	uintptr_t       pairs[2 * NAME_BLOCK];
	size_t          n = NAME_BLOCK;

	name[0] = '\0';
	for (size_t i = 0; function && i < DESCRIPTOR->task_names_count;
	     i += n) {
		if (n > DESCRIPTOR->task_names_count - i)
			n = DESCRIPTOR->task_names_count - i;
		if (!sn_own_memory_read(pairs, table + i * PAIR, n * PAIR))
			return;
		for (size_t k = 0; k < n; k++)
			if (pairs[2 * k] == function && pairs[2 * k + 1]) {
				read_name_at(name, size, pairs[2 * k + 1]);
				return;
			}
	}
}

void sn_fiber_record_report(const struct fiber_record  *f,
			    const struct worker_record *w,
			    sennit_report_entry        *e)
{
	*e = (sennit_report_entry){
		.size = sizeof(*e),
		.state = sn_fiber_record_state(f),
		.worker = w->index == UINT32_MAX ? SENNIT_REPORT_BOUND
						 : w->index,
		.thread = w->thread,
		.fiber = f->id,
		.task = (sennit_task_fn *)f->task,
		.spawned_at = (const void *)f->site,
		.since = w->clock,
		.deadline = SENNIT_NEVER,
		.name = f->name[0] ? f->name : NULL,
	};
	if (e->state == SENNIT_REPORT_RUNNING)
		return;
	e->since = f->since;
	e->waits_for = (f->doing & DESCRIPTOR->doing_kind) >>
		       DESCRIPTOR->doing_kind_shift;
	if (e->waits_for)
		e->object = (const void *)f->object;
	if (f->doing & DESCRIPTOR->doing_timed)
		e->deadline = f->deadline;
	if (e->state == SENNIT_REPORT_BLOCKED && f->identity != f->at)
		e->inside = (const void *)f->identity;
}

/* --- thread sample -------------------------------------------------------- */

/* Its default action is to be ignored. So a signal that arrives late does no
 * harm, even if its action has been changed by then. */
#define SAMPLE_SIGNAL SIGURG

/* The handler takes a sample only between ASKED and the end of the wait. */
enum { IDLE, ASKED, TAKING, TAKEN };

static a_u32 state; /* caller: IDLE <-> ASKED, TAKEN -> IDLE; handler: ASKED ->
		     * TAKING -> TAKEN */
static a_u32 asked; /* the thread that must answer */

/* The registers, followed by the stack. */
struct snapshot {
	uint32_t  thread;
	uintptr_t from;
	size_t    size;
	char      context[sizeof(ucontext_t)];
	char      copy[THREAD_SAMPLE_COPY];
};

static struct snapshot taken; /* between TAKING and IDLE */
static struct snapshot kept;  /* fixed once `thread` is not 0 */

bool sn_call_frame_begin(struct call_frame                 *f,
			 const struct sennit_debug_context *layout,
			 uintptr_t base, const char *bytes)
{
	uintptr_t sp = base + layout->sp_at;

	f->sp = sn_callers_stack_pointer(layout->machine);
	if (!f->sp)
		return false;
	f->known = 0;
	memcpy(&f->pc, bytes + layout->pc_at, sizeof(f->pc));
	if (layout->sp_is_stored)
		memcpy(&sp, bytes + layout->sp_at, sizeof(sp));
	for (uint32_t i = 0; i < layout->count; i++) {
		const uint32_t n = layout->registers[i].number;

		if (n >= CALL_FRAME_REGISTERS)
			continue;
		memcpy(&f->registers[n], bytes + layout->registers[i].at,
		       sizeof(f->registers[n]));
		f->known |= UINT64_C(1) << n;
	}
	f->registers[f->sp] = sp;
	f->known |= UINT64_C(1) << f->sp;
	return true;
}

/* How far above the stack pointer readable memory is looked for. */
#define SMALLEST_PAGE 4096u
#define GUARD_PAGES   16u

/* After an overflow the stack pointer is in the guard: copy from the first page
 * that is readable. Async-signal-safe. */
static void copy_thread(struct snapshot *s, const void *context)
{
	uintptr_t sp;

	memcpy(s->context, context, sizeof(s->context));
	memcpy(&sp, s->context + sennit_debug_interrupted.sp_at, sizeof(sp));
	s->from = sp;
	s->size = sn_own_memory_copy(s->copy, sp, sizeof(s->copy));
	for (unsigned i = 0; !s->size && i < GUARD_PAGES; i++) {
		s->from = (s->from | (SMALLEST_PAGE - 1)) + 1;
		s->size = sn_own_memory_copy(s->copy, s->from, sizeof(s->copy));
	}
	if (!s->size)
		s->from = sp;
}

static bool use(const struct snapshot *from, struct thread_sample *s)
{
	s->memory = (struct call_frame_memory){
		.copy = from->copy,
		.low = from->from,
		.size = from->size,
	};
	return sn_call_frame_begin(&s->frame, &sennit_debug_interrupted, 0,
				   from->context);
}

/* Async-signal-safe. */
static void answer_sample(int number, siginfo_t *info, void *interrupted)
{
	const int error = errno;
	uint32_t  expected = ASKED;

	(void)number;
	(void)info;
	if (a_load_rlx(&asked) != (uint32_t)syscall(SYS_gettid) ||
	    /* <- thread_sample.asked */
	    !a_cas_acq(&state, &expected, TAKING))
		return;
	copy_thread(&taken, interrupted);
	a_store_rel(&state, TAKEN); /* -> thread_sample.taken */
	errno = error;
}

bool sn_signal_take(int number, signal_handler *handler)
{
	struct sigaction now;
	struct sigaction ours = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

	if (sigaction(number, NULL, &now))
		return false;
	if (now.sa_flags & SA_SIGINFO)
		return now.sa_sigaction == handler;
	if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
		return false;
	sigfillset(&ours.sa_mask);
	return !sigaction(number, &ours, NULL);
}

bool sn_thread_sample_is_possible(void)
{
#if defined(SN_TSAN)
	return false; /* the sanitizer delays signals until the thread is
		       * elsewhere */
#endif
	return sennit_debug_interrupted.machine &&
	       sn_signal_take(SAMPLE_SIGNAL, answer_sample);
}

static void pause_sampling(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

uint64_t sn_clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Wait for the answer. On timeout, make sure that none comes later. */
static bool await_sample(void)
{
	const uint64_t end = sn_clock_ms() + THREAD_SAMPLE_WAIT_MS;
	uint32_t       expected = ASKED;

	while (a_load_rlx(&state) == ASKED && sn_clock_ms() < end)
		pause_sampling();
	/* relaxed: nothing was taken */
	if (a_cas_rlx(&state, &expected, IDLE))
		return false;
	while (a_load_acq(&state) != TAKEN) /* <- thread_sample.taken */
		pause_sampling();
	return true;
}

void sn_thread_sample_keep(uint32_t thread, const void *context)
{
	if (sennit_debug_interrupted.machine) {
		copy_thread(&kept, context);
		kept.thread = thread;
	}
}

bool sn_thread_sample_take(struct thread_sample *s, uint32_t thread, bool ask)
{
	if (thread == kept.thread)
		return thread && use(&kept, s);
	if (!ask)
		return false;
	a_store_rlx(&asked, thread);
	a_store_rel(&state, ASKED); /* -> thread_sample.asked: the thread */
	if (syscall(SYS_tgkill, getpid(), thread, SAMPLE_SIGNAL)) {
		a_store_rlx(&state, IDLE);
		return false;
	}
	if (!await_sample())
		return false;
	a_store_rlx(&state, IDLE);
	return use(&taken, s);
}

#define CALL_LINE   256u
#define STATUS_TEXT 4096u

/* Read a file of /proc about a thread. Returns false if it cannot be read. */
static bool read_about(uint32_t thread, const char *what, char *text,
		       size_t size)
{
	char    path[64];
	ssize_t n;
	int     fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/%s", thread, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Read /proc's line about a thread. If it is blocked: the number of the system
 * call, its arguments, the stack pointer, the program counter. Else
 * "running". */
static bool read_call_line(char line[CALL_LINE], uint32_t thread)
{
	return read_about(thread, "syscall", line, CALL_LINE);
}

/* Parse the line. Returns false if it says that the thread runs. */
static bool parse_call_line(const char *line, uintptr_t *sp, uintptr_t *pc)
{
	const char *last = strrchr(line, ' ');
	const char *at = last;

	while (at && at > line && at[-1] != ' ')
		at--;
	if (!at || at == line)
		return false;
	*sp = (uintptr_t)strtoull(at, NULL, 16);
	*pc = (uintptr_t)strtoull(last, NULL, 16);
	return true;
}

static uintptr_t read_stack_pointer(uint32_t thread)
{
	char      line[CALL_LINE];
	uintptr_t sp, pc;

	return read_call_line(line, thread) && parse_call_line(line, &sp, &pc)
		       ? sp
		       : 0;
}

/* Report whether the kernel's line is right. Under an emulator it describes the
 * emulator, so check it for the calling thread, whose stack is known. */
static bool knows_threads(void)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t said =
		read_stack_pointer((uint32_t)syscall(SYS_gettid));

	return said <= here && here - said < 4096;
}

uintptr_t sn_thread_blocked_at(uint32_t thread)
{
	return knows_threads() ? read_stack_pointer(thread) : 0;
}

/* Return how often the thread has gone to sleep; 0: not known. */
static uint64_t read_sleeps(uint32_t thread)
{
	static const char label[] = "\nvoluntary_ctxt_switches:";
	char              text[STATUS_TEXT];
	const char       *at;

	if (!read_about(thread, "status", text, sizeof(text)))
		return 0;
	at = strstr(text, label);
	return at ? strtoull(at + sizeof(label) - 1, NULL, 10) : 0;
}

/* A thread that ran after the first line was read, and is blocked at the last
 * one, has gone to sleep in between. So equal counts prove that it did not
 * run. */
bool sn_thread_blocked_copy(uint32_t thread, struct thread_sample *s,
			    char copy[THREAD_SAMPLE_COPY])
{
	char      line[CALL_LINE], again[CALL_LINE];
	uint64_t  sleeps;
	uintptr_t sp, pc;
	size_t    size;

	if (!sennit_debug_interrupted.machine || !knows_threads() ||
	    !read_call_line(line, thread) || !parse_call_line(line, &sp, &pc))
		return false;
	sleeps = read_sleeps(thread);
	size = sn_own_memory_copy(copy, sp, THREAD_SAMPLE_COPY);
	if (!sleeps || !read_call_line(again, thread) || strcmp(line, again) ||
	    sleeps != read_sleeps(thread))
		return false;
	sn_callers_begin(&s->frame, pc, sp, 0);
	s->frame.known = UINT64_C(1) << s->frame.sp;
	s->memory = (struct call_frame_memory){ .copy = copy,
						.low = sp,
						.size = size };
	return true;
}

long sn_thread_system_call(uint32_t thread)
{
	char  line[CALL_LINE];
	char *end;
	long  number;

	if (!knows_threads() || !read_call_line(line, thread))
		return -1;
	number = strtol(line, &end, 10);
	return end == line ? -1 : number;
}

/* --- damage --------------------------------------------------------------- */

static bool contains(const struct address_list *l, uintptr_t address)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i] == address)
			return true;
	return false;
}

static bool is_there(struct damage *d, uintptr_t scheduler, uintptr_t worker)
{
	struct address_list *again = &d->again;

	if (!scheduler) /* the list of all schedulers */
		return true;
	if (!d->is_given &&
	    (!sn_record_list_schedulers(again) || !contains(again, scheduler)))
		return false;
	return !worker || (sn_record_list_workers(again, scheduler) &&
			   contains(again, worker));
}

void sn_damage_add(struct damage *d, uintptr_t scheduler, uintptr_t worker,
		   const char *name, const char *what, uintptr_t at)
{
	struct worker_record w = { .thread = 0 };
	char                 line[DAMAGE_LINE];

	if (!is_there(d, scheduler, worker))
		return;
	d->count++;
	if (!d->on_damage)
		return;
	if (worker && sn_worker_record_read(&w, worker) && w.thread)
		snprintf(line, sizeof(line), "%s thread %u: %s %#" PRIxPTR,
			 name, w.thread, what, at);
	else
		snprintf(line, sizeof(line), "%s: %s %#" PRIxPTR, name, what,
			 at);
	d->on_damage(d->context, line);
}

/* Read the record TRIES times: it may have become the record of another worker
 * meanwhile. */
bool sn_damage_is_lasting(struct damage *d, const struct worker_record *w,
			  uintptr_t fiber)
{
	struct fiber_record f;

	for (unsigned i = 0; i < TRIES; i++) {
		if (fiber != w->main &&
		    (!sn_record_list_fibers(&d->again, w->at) ||
		     !contains(&d->again, fiber)))
			return false;
		if (sn_fiber_record_read(&f, fiber) && f.worker == w->at)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return true;
}

/* --- suspended stack ------------------------------------------------------ */

#define CONTEXT 1024u /* the maximum number of bytes of saved registers */

bool sn_fiber_before_is_same(const struct fiber_before *b,
			     const struct fiber_record *f)
{
	const uint32_t serial = ~DESCRIPTOR->doing_state;

	return (b->doing & serial) == (f->doing & serial) &&
	       b->context == f->context && b->task == f->task;
}

/* Report whether the fiber is in the same wait. A wait that is over counts as
 * the same until the fiber runs. */
static bool is_same_wait(const struct fiber_before *b,
			 const struct fiber_record *f)
{
	return sn_fiber_before_is_same(b, f) &&
	       (b->doing & DESCRIPTOR->doing_state) != SENNIT_REPORT_RUNNING &&
	       sn_fiber_record_state(f) != SENNIT_REPORT_RUNNING;
}

/* Decode where the stack is suspended. Returns the part of it to copy. */
static struct memory_part stack_of(struct suspended_stack *s)
{
	struct memory_part part = { .to = s->copy };
	uintptr_t          sp;

	if ((s->before.doing & DESCRIPTOR->doing_state) ==
		    SENNIT_REPORT_RUNNING ||
	    !sn_call_frame_begin(&s->frame, DESCRIPTOR->context,
				 s->before.context, s->copy))
		return part;
	sp = s->frame.registers[s->frame.sp];
	part.from = sp;
	part.size = sizeof(s->copy);
	if (s->before.low) { /* else its bounds are not known */
		if (sp < s->before.low || sp >= s->before.at)
			part.size = 0;
		else if (s->before.at - sp < part.size)
			part.size = s->before.at - sp;
	}
	return part;
}

/* Where a stack is copied to, the saved registers are before. */
void sn_suspended_stacks_copy(struct suspended_stack *s, size_t count)
{
	struct memory_part parts[FIBERS_BATCH];

	for (size_t i = 0; i < count; i++) {
		memset(s[i].copy, 0, CONTEXT);
		parts[i] = (struct memory_part){ s[i].copy, s[i].before.context,
						 CONTEXT };
	}
	sn_own_memory_copy_parts(parts, count);
	for (size_t i = 0; i < count; i++)
		parts[i] = stack_of(&s[i]);
	sn_own_memory_copy_parts(parts, count);
	for (size_t i = 0; i < count; i++)
		s[i].size = parts[i].size;
}

static bool is_whole(const struct suspended_stack *s,
		     const struct fiber_record *now, uintptr_t worker)
{
	return s->size && now->at && is_same_wait(&s->before, now) &&
	       now->worker == worker;
}

void sn_suspended_stacks_check(struct suspended_stack *s, size_t count,
			       uintptr_t worker, struct fiber_records *r)
{
	uintptr_t  current = 0;
	const bool is_there = sn_own_memory_read(
		&current, worker + DESCRIPTOR->worker_current_at,
		sizeof(current));

	sn_own_memory_barrier();
	r->count = count;
	for (size_t i = 0; i < count; i++)
		r->at[i] = s[i].before.at;
	sn_fiber_records_read(r);
	for (size_t i = 0; i < count; i++) {
		s[i].seen = &r->fibers[i];
		s[i].is_whole = is_there && current != r->at[i] &&
				is_whole(&s[i], s[i].seen, worker);
	}
}
