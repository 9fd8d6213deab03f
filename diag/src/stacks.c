/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include "base/compiler.h"
#include "base/text.h"
#include "fibers.h"
#include "call_stack.h"
#include "last_words.h"
#include "unwind.h"
#include "sennit/config.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PASSES 6
/* The maximum number of pauses, for each kind of list. */
#define PAUSES   40u
#define FUNCTION 256u
#define NAMES    64u

/* The number of fibers of a worker for which static memory suffices. */
#define FEW_FIBERS 4096u

typedef void visitor(void *context, const sennit_stack *stack);

/* The name of a task function, cached. */
struct function_name {
	uintptr_t task; /* 0: an empty slot */
	char      text[FUNCTION];
};

/* The state of a visit. Only one visit runs at a time, because only one sample
 * can be taken at a time. */
struct visit {
	visitor *visit;
	bool (*wants)(void *context, uint32_t thread, uint32_t fiber);
	void                *context;
	uintptr_t            scheduler;
	char                 name[SENNIT_TASK_NAME_SIZE]; /* of the scheduler */
	bool                 may_sample;
	struct damage        damage;
	struct address_list  schedulers;
	struct address_list  workers;
	struct address_list  fibers; /* of the worker */
	struct fiber_before *todo;   /* likewise: those that are left to
				      * visit */
	size_t               left;
	uintptr_t            doubtful; /* likewise: a fiber whose record makes
				        * no sense; 0: none */
	struct worker_record worker;
	uintptr_t            where; /* the fiber on whose stack the worker is;
				     * 0: not known */
	bool                 has_sample;
	struct thread_sample sample;
	struct function_name names[NAMES];
	struct fiber_records records;
	struct helper_stack  helper; /* for the fiber that is emitted */
	struct suspended_stack batch[FIBERS_BATCH];
	bool                   no_memory; /* fibers are missing for lack of
					   * memory */

	/* The initial memory of the lists and of `todo`. */
	uintptr_t           few_schedulers[64], few_workers[SENNIT_WORKERS_MAX];
	uintptr_t           few_fibers[FEW_FIBERS], few_again[FEW_FIBERS];
	struct fiber_before few_todo[FEW_FIBERS + 1];
};

/* Static: too large for the stack of a fiber, and needed without memory. */
static pthread_mutex_t one_visit = PTHREAD_MUTEX_INITIALIZER;
static struct visit    the_visit; /* under the lock */

/* --- emitting ----------------------------------------------------------- */

/* Return the name of the task function, or NULL. */
static const char *function_name(struct visit *v, uintptr_t task)
{
	struct function_name *n = &v->names[task / 16 % NAMES];

	if (n->task != task)
		sn_record_function_name(task, n->text, sizeof(n->text));
	n->task = task;
	return n->text[0] ? n->text : NULL;
}

/* Put the fiber's frames after those of the thread that makes its call. */
static void add_fiber_frames(const struct helper_stack *h, sennit_stack *stack,
			     const void **frames)
{
	const uint32_t room = SENNIT_STACK_FRAMES - h->count;

	if (stack->count > room) {
		stack->count = room;
		stack->rest = SENNIT_STACK_DEEPER;
	}
	if (stack->count)
		memcpy(frames + h->count, stack->frames,
		       stack->count * sizeof(*frames));
	memcpy(frames, h->frames, h->count * sizeof(*frames));
	stack->count += h->count;
	stack->frames = frames;
	stack->call_thread = h->thread;
	stack->call_count = h->count;
	stack->call_rest = h->rest;
}

static void emit(struct visit *v, const struct fiber_record *f, uint32_t source,
		 const void *const *frames, uint32_t count, uint32_t rest)
{
	const void         *both[SENNIT_STACK_FRAMES];
	sennit_report_entry e;
	sennit_stack        stack = {
		       .size = sizeof(stack),
		       .scheduler = v->name,
		       .fiber = &e,
		       .source = source,
		       .count = count,
		       .frames = frames,
		       .rest = rest,
	};

	if (sn_helper_stack_find(&v->helper, f))
		add_fiber_frames(&v->helper, &stack, both);

	sn_fiber_record_report(f, &v->worker, &e);
	if (!e.name)
		e.name = function_name(v, f->task);
	v->visit(v->context, &stack);
}

static void emit_frames(struct visit *v, const struct fiber_record *f,
			uint32_t source, const struct call_frame *frame,
			const struct call_frame_memory *m)
{
	const void *frames[SENNIT_STACK_FRAMES];
	bool        whole;
	uint32_t    count = sn_program_image_walk(frame, m, frames,
						  SENNIT_STACK_FRAMES, &whole);
	const bool  full = count == SENNIT_STACK_FRAMES ||
			  m->size == THREAD_SAMPLE_COPY;

	emit(v, f, source, frames, count,
	     whole  ? SENNIT_STACK_NO_REST
	     : full ? SENNIT_STACK_DEEPER
		    : SENNIT_STACK_LOST);
}

/* --- where the worker is ------------------------------------------------ */

/* Return the fiber on whose stack the address lies. A worker's thread uses the
 * stack `main` outside its fibers. */
static uintptr_t fiber_around(const struct visit *v, uintptr_t sp)
{
	for (size_t i = 0; i < v->fibers.count; i++) {
		uintptr_t low = 0;

		sn_own_memory_read(&low,
				   v->fibers.items[i] +
					   sennit_debug_descriptor.fiber_low_at,
				   sizeof(low));
		if (low && sp >= low && sp < v->fibers.items[i])
			return v->fibers.items[i];
	}
	return v->worker.main;
}

/* Return the fiber that the worker is on according to memory: a fiber runs a
 * task only while the thread is on its stack, and a fiber that waits is the
 * current one only if the thread stayed on its stack. Returns 0 during a
 * switch, and for a stack without a task. */
static uintptr_t find_in_memory(const struct visit *v)
{
	struct worker_record again;
	struct fiber_record  f;
	uint32_t             state;

	if (v->worker.current == v->worker.main ||
	    !sn_fiber_record_read(&f, v->worker.current) ||
	    f.worker != v->worker.at)
		return 0;
	state = sn_fiber_record_state(&f);
	if (state == SENNIT_REPORT_RUNNING ? !f.task
					   : state != SENNIT_REPORT_BLOCKED)
		return 0;
	sn_own_memory_barrier();
	if (!sn_worker_record_read(&again, v->worker.at) ||
	    again.current != f.at)
		return 0;
	return f.at;
}

/* Find the stack that the worker's thread is on, at some moment after the call
 * begins. `ask`: send the thread a signal if necessary. Returns whether to ask
 * it again. */
static bool find_worker(struct visit *v, bool ask)
{
	uintptr_t sp = 0;

	v->has_sample = sn_thread_sample_take(&v->sample, v->worker.thread,
					      ask && v->worker.thread);
	if (v->has_sample)
		/* Not the stack pointer: it may be in the guard. */
		sp = v->sample.memory.low;
	else if (v->worker.thread)
		sp = sn_thread_blocked_at(v->worker.thread);
	v->where = sp ? fiber_around(v, sp) : find_in_memory(v);
	return v->has_sample;
}

/* --- one worker --------------------------------------------------------- */

static void report_damage(struct visit *v, const char *what, uintptr_t at)
{
	sn_damage_add(&v->damage, v->scheduler, v->worker.at, v->name, what,
		      at);
}

/* Report whether to visit the fiber. A bound thread's own stack is a fiber even
 * if it runs no task. */
static bool is_fiber_wanted(const struct visit *v, const struct fiber_record *f)
{
	return (sn_fiber_record_is_alive(f) || f->at == v->worker.main) &&
	       (!v->wants || v->wants(v->context, v->worker.thread, f->id));
}

/* Read the records of the fibers that are left. Fibers that run no task are
 * dropped. */
static void read_todo(struct visit *v)
{
	struct fiber_records *r = &v->records;
	size_t                kept = 0;

	for (size_t i = 0; i < v->left; i += r->count) {
		r->count = v->left - i < FIBERS_BATCH ? v->left - i
						      : FIBERS_BATCH;
		for (size_t k = 0; k < r->count; k++)
			r->at[k] = v->todo[i + k].at;
		sn_fiber_records_read(r);
		for (size_t k = 0; k < r->count; k++) {
			const struct fiber_record *f = &r->fibers[k];

			if (!f->at || f->worker != v->worker.at)
				v->doubtful = r->at[k];
			else if (is_fiber_wanted(v, f))
				v->todo[kept++] = (struct fiber_before){
					.at = f->at,
					.context = f->context,
					.low = f->low,
					.task = f->task,
					.doing = f->doing,
				};
		}
	}
	v->left = kept;
}

/* Emit the fiber that the worker's thread is on. Returns false if it has
 * changed since read_todo. */
static bool visit_here(struct visit *v, const struct fiber_before *t)
{
	struct fiber_record f;

	if (!sn_fiber_record_read(&f, t->at) || !sn_fiber_before_is_same(t, &f))
		return false;
	if (v->has_sample)
		emit_frames(v, &f, SENNIT_STACK_SAMPLED, &v->sample.frame,
			    &v->sample.memory);
	else
		emit(v, &f, SENNIT_STACK_UNSAMPLED, NULL, 0, SENNIT_STACK_LOST);
	return true;
}

/* Emit the fibers of the batch that were suspended. Keep the others in the
 * list. */
static void visit_batch(struct visit *v, size_t count, size_t *kept)
{
	sn_suspended_stacks_copy(v->batch, count);
	sn_own_memory_barrier();
	sn_suspended_stacks_check(v->batch, count, v->worker.at, &v->records);
	for (size_t i = 0; i < count; i++) {
		const struct suspended_stack  *s = &v->batch[i];
		const struct call_frame_memory m = {
			.copy = s->copy,
			.low = s->frame.registers[s->frame.sp],
			.size = s->size,
		};

		if (s->is_whole)
			emit_frames(v, s->seen, SENNIT_STACK_SUSPENDED,
				    &s->frame, &m);
		else
			v->todo[(*kept)++] = s->before;
	}
}

static void visit_todo(struct visit *v)
{
	size_t kept = 0;
	size_t count = 0;

	for (size_t i = 0; i < v->left; i++) {
		const struct fiber_before t = v->todo[i];

		if (t.at != v->where)
			v->batch[count++].before = t;
		else if (!visit_here(v, &t))
			v->todo[kept++] = t;
		if (count == FIBERS_BATCH) {
			visit_batch(v, count, &kept);
			count = 0;
		}
	}
	visit_batch(v, count, &kept);
	v->left = kept;
}

/* Emit the fibers that ran during each attempt. */
static void visit_rest(struct visit *v)
{
	struct fiber_record f;

	read_todo(v);
	for (size_t i = 0; i < v->left; i++)
		if (sn_fiber_record_read(&f, v->todo[i].at))
			emit(v, &f,
			     sn_fiber_record_state(&f) == SENNIT_REPORT_RUNNING
				     ? SENNIT_STACK_UNSAMPLED
				     : SENNIT_STACK_CHANGED,
			     NULL, 0, SENNIT_STACK_LOST);
}

/* Allocate the list of the fibers of the worker. Without memory it may be
 * shorter. Returns the number of fibers that fit. */
static size_t begin_todo(struct visit *v, size_t count)
{
	v->todo = v->few_todo;
	if (count <= FEW_FIBERS)
		return count;
	v->todo = sn_last_words_resize(NULL, count * sizeof(*v->todo));
	if (v->todo)
		return count;
	v->todo = v->few_todo;
	v->no_memory = true;
	return FEW_FIBERS;
}

static void end_todo(struct visit *v)
{
	if (v->todo != v->few_todo)
		sn_last_words_free(v->todo);
}

static void begin_worker(struct visit *v)
{
	size_t count;

	if (!sn_record_list_fibers(&v->fibers, v->worker.at))
		v->no_memory = true;
	else if (v->fibers.broken_at)
		report_damage(v, "fibers are missing: the list breaks at",
			      v->fibers.broken_at);
	v->doubtful = 0;
	count = begin_todo(v, v->fibers.count + 1);
	if (count > v->fibers.count)
		count = v->fibers.count;
	for (v->left = 0; v->left < count; v->left++)
		v->todo[v->left].at = v->fibers.items[v->left];
	if (v->worker.index == UINT32_MAX) /* there is room for one more */
		v->todo[v->left++].at = v->worker.main;
}

static void visit_worker(struct visit *v, uintptr_t at)
{
	bool ask = v->may_sample;

	v->worker.at = at;
	if (!sn_worker_record_read(&v->worker, at)) { /* it may have ended */
		report_damage(v, "a worker cannot be read at", at);
		return;
	}
	begin_worker(v);
	for (int i = 0; i < PASSES; i++) {
		read_todo(v);
		if (!v->left || !sn_worker_record_read(&v->worker, at))
			break;
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = 100000 },
				  NULL);
		sn_own_memory_barrier();
		ask = find_worker(v, ask);
		if (v->where)
			visit_todo(v);
	}
	visit_rest(v);
	end_todo(v);
	if (v->doubtful &&
	    sn_damage_is_lasting(&v->damage, &v->worker, v->doubtful))
		report_damage(v, "the record of a fiber is overwritten at",
			      v->doubtful);
}

/* --- all workers -------------------------------------------------------- */

static void visit_scheduler(struct visit *v, uintptr_t s)
{
	v->scheduler = s;
	v->worker.at = 0;
	sn_record_scheduler_name(s, v->name, sizeof(v->name));
	if (!sn_record_list_workers(&v->workers, s))
		v->no_memory = true;
	else if (v->workers.broken_at)
		report_damage(v, "workers are missing: the list breaks at",
			      v->workers.broken_at);
	for (size_t i = 0; i < v->workers.count; i++)
		visit_worker(v, v->workers.items[i]);
}

static void visit_schedulers(struct visit *v)
{
	if (!sn_record_list_schedulers(&v->schedulers))
		v->no_memory = true;
	else if (v->schedulers.broken_at)
		report_damage(v, "schedulers are missing: the list breaks at",
			      v->schedulers.broken_at);
	for (size_t i = 0; i < v->schedulers.count; i++)
		visit_scheduler(v, v->schedulers.items[i]);
}

#define IN(array) .few = array, .few_room = sizeof(array) / sizeof((array)[0])

static void init(struct visit *v, const struct stacks_visitor *by,
		 void *context, bool is_given)
{
	v->visit = by->visit;
	v->wants = by->wants;
	v->context = context;
	v->no_memory = false;
	v->damage = (struct damage){
		.on_damage = by->on_damage,
		.context = context,
		.is_given = is_given,
		.again = { IN(v->few_again) },
	};
	v->schedulers = (struct address_list){ IN(v->few_schedulers),
					       .pauses = PAUSES };
	v->workers = (struct address_list){ IN(v->few_workers),
					    .pauses = PAUSES };
	v->fibers = (struct address_list){ IN(v->few_fibers),
					   .pauses = PAUSES };
	for (size_t i = 0; i < NAMES; i++)
		v->names[i].task = 0;
}

/* Visit. The process's memory must be readable. */
static int visit_now(struct visit *v, uintptr_t s)
{
	if (s)
		visit_scheduler(v, s);
	else
		visit_schedulers(v);
	sn_address_list_free(&v->schedulers);
	sn_address_list_free(&v->workers);
	sn_address_list_free(&v->fibers);
	sn_address_list_free(&v->damage.again);
	return v->no_memory ? -ENOMEM : v->damage.count ? -EFAULT : 0;
}

/* Take the lock of visits. While the process crashes, another visit may hold
 * the lock for ever, because it may be on the thread that has crashed. Then the
 * visit continues without the lock and sends no signal: returns false. */
static bool lock_visits(void)
{
	if (!sn_last_words_are_spoken())
		return !pthread_mutex_lock(&one_visit);
	for (int i = 0; i < 100; i++) {
		if (!pthread_mutex_trylock(&one_visit))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return false;
}

int sn_stacks_visit(sennit_scheduler *s, const struct stacks_visitor *by,
		    void *context)
{
	struct visit *v = &the_visit;
	const bool    locked = lock_visits();
	int           err = -EPERM;

	if (!locked)
		v = sn_last_words_resize(NULL, sizeof(*v));
	if (!sennit_debug_descriptor.context->machine) {
		err = -ENOTSUP;
	} else if (!v) {
		err = -ENOMEM;
	} else if (sn_own_memory_is_readable()) {
		init(v, by, context, s);
		v->may_sample = locked && sn_thread_sample_is_possible();
		if (by->begin)
			by->begin(context, (uintptr_t)s);
		err = visit_now(v, (uintptr_t)s);
	}
	if (locked)
		pthread_mutex_unlock(&one_visit);
	return err;
}

int sennit_stacks_visit(sennit_scheduler *s, visitor *visit, void *context)
{
	const struct stacks_visitor only = { .visit = visit };

	return sn_stacks_visit(s, &only, context);
}

/* --- stacks page ---------------------------------------------------------- */

#define ESCAPED_NAME 1024 /* maximum number of bytes of an escaped name */

int sn_stacks_page_end(struct stacks_page *p)
{
	if (!p->error)
		p->error = sn_write_all(p->fd, p->text, p->used);
	p->used = 0;
	return p->error;
}

static void add_bytes(struct stacks_page *p, const char *bytes, size_t size)
{
	if (size > sizeof(p->text) - p->used)
		sn_stacks_page_end(p);
	memcpy(p->text + p->used, bytes, size);
	p->used += size;
}

void sn_stacks_page_add(struct stacks_page *p, const char *format, ...)
{
	char    text[512];
	va_list arguments;
	int     n;

	va_start(arguments, format);
	n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (n > 0)
		add_bytes(p, text,
			  (size_t)n < sizeof(text) ? (size_t)n
						   : sizeof(text) - 1);
}

void sn_stacks_page_add_name(struct stacks_page *p, const char *name)
{
	char   text[ESCAPED_NAME];
	size_t n = sn_escape(text, sizeof(text), name);

	add_bytes(p, text, n);
}

/* Escaped text contains no control characters, so only quotes and backslashes
 * need escaping. */
void sn_stacks_page_add_quoted(struct stacks_page *p, const char *text)
{
	add_bytes(p, "\"", 1);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			add_bytes(p, "\\", 1);
		add_bytes(p, text, 1);
	}
	add_bytes(p, "\"", 1);
}

void sn_stacks_page_add_string(struct stacks_page *p, const char *name)
{
	char text[ESCAPED_NAME];

	if (!name) {
		add_bytes(p, "null", 4);
		return;
	}
	sn_escape(text, sizeof(text), name);
	sn_stacks_page_add_quoted(p, text);
}
