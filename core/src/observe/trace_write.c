/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/trace.h"

#include "base/memory.h"
#include "base/own_file.h"
#include "base/text.h"
#include "local/names.h"
#include "life/bind.h"
#include "life/fork.h"
#include "observe/histogram.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/worker.h"
#include "sennit/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME_MAX_LENGTH 512u

/* --- output ------------------------------------------------------------- */

/* Small, because it may be on a signal stack. */
struct sink {
	int    fd;
	int    err; /* the first error */
	size_t used;
	char   bytes[1024];
};

static void flush_sink(struct sink *k)
{
	if (!k->err)
		k->err = sn_write_all(k->fd, k->bytes, k->used);
	k->used = 0;
}

static void put_bytes(struct sink *k, const void *data, size_t size)
{
	const char *from = data;

	while (size) {
		size_t room = sizeof(k->bytes) - k->used;
		size_t n = size < room ? size : room;

		memcpy(k->bytes + k->used, from, n);
		k->used += n;
		from += n;
		size -= n;
		if (k->used == sizeof(k->bytes))
			flush_sink(k);
	}
}

static void put_section(struct sink *k, uint32_t type, uint64_t size)
{
	const struct sennit_trace_section section = { type, 0, size };

	put_bytes(k, &section, sizeof(section));
}

static void put_padding(struct sink *k, uint64_t size)
{
	const uint64_t zero = 0;

	put_bytes(k, &zero, -size % sizeof(zero));
}

/* --- names -------------------------------------------------------------- */

/* The keys that have occurred, in an open hash table. */
struct keys {
	const sennit_allocator     *memory;
	struct sennit_trace_string *at;   /* kind 0: free */
	size_t                      size; /* a power of two, or 0 */
	size_t                      used;
};

static void insert_key(struct keys *t, uint64_t key, uint32_t kind)
{
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) + kind;

	for (i &= t->size - 1; t->at[i].kind; i = (i + 1) & (t->size - 1))
		if (t->at[i].key == key && t->at[i].kind == kind)
			return;
	t->at[i].key = key;
	t->at[i].kind = kind;
	t->used++;
}

static int grow_keys(struct keys *t)
{
	struct keys larger = { .memory = t->memory,
			       .size = t->size ? t->size * 2 : 64 };

	larger.at = sn_memory_take(t->memory, larger.size * sizeof(*larger.at),
				   sizeof(uint64_t));
	if (!larger.at)
		return -ENOMEM;
	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].kind)
			insert_key(&larger, t->at[i].key, t->at[i].kind);
	sn_memory_give(t->memory, t->at, t->size * sizeof(*t->at));
	*t = larger;
	return 0;
}

static uint32_t kind_of_key(const struct sennit_trace_event *e)
{
	switch (e->kind) {
	case SENNIT_TRACED_TASK_BEGIN:
	case SENNIT_TRACED_TASK_END:
	case SENNIT_TRACED_SPAWN:
	case SENNIT_TRACED_STATE:
	case SENNIT_TRACED_CALL_BEGIN:
	case SENNIT_TRACED_CALL_END:
		return SENNIT_TRACE_STRING_FUNCTION;
	case SENNIT_TRACED_SPAN_BEGIN:
	case SENNIT_TRACED_VALUE:
		return SENNIT_TRACE_STRING_NAME;
	default:
		return 0;
	}
}

static int note_key(struct keys *t, uint64_t key, uint32_t kind)
{
	if (!kind || !key)
		return 0;
	if (t->used * 2 >= t->size && grow_keys(t))
		return -ENOMEM;
	insert_key(t, key, kind);
	return 0;
}

static const char *text_of(const struct sennit_trace_string *key, char *room,
			   size_t size)
{
	const char *given;

	if (key->kind == SENNIT_TRACE_STRING_NAME)
		return (const char *)(uintptr_t)key->key;
	given = sn_task_names_get((sennit_task_fn *)(uintptr_t)key->key);
	if (given)
		return given;
	sn_report_function_name((uintptr_t)key->key, room, size);
	return room;
}

static void put_names(struct sink *k, const struct keys *t)
{
	char room[NAME_MAX_LENGTH];

	for (size_t i = 0; i < t->size; i++) {
		struct sennit_trace_string key = t->at[i];
		const char                *text;

		if (!key.kind)
			continue;
		text = text_of(&key, room, sizeof(room));
		key.length = (uint32_t)strnlen(text, NAME_MAX_LENGTH);
		put_section(k, SENNIT_TRACE_SECTION_STRINGS,
			    sizeof(key) + ((key.length + 7u) & ~7u));
		put_bytes(k, &key, sizeof(key));
		put_bytes(k, text, key.length);
		put_padding(k, key.length);
	}
}

/* --- parts -------------------------------------------------------------- */

static void put_head(struct sink *k, sennit_scheduler *s, uint32_t flags)
{
	struct trace_state      *t = &s->tracing;
	struct timespec          wall = { .tv_sec = 0 };
	struct sennit_trace_file head = {
		.byte_order = SENNIT_TRACE_BYTE_ORDER,
		.version = SENNIT_TRACE_VERSION,
		.size = sizeof(head),
		.event_size = sizeof(struct sennit_trace_event),
		.process = (uint32_t)getpid(),
		.cpus = t->cpus,
		.workers = s->capacity,
		.flags = flags,
		.begin_ticks = a_load_rlx(&t->begin_ticks),
		.begin_ns = a_load_rlx(&t->begin_ns),
		.end_ticks = sn_trace_ring_now(sn_stopwatch_has_ticks()),
		.end_ns = os_now(),
	};

#ifdef SENNIT_DETERMINISTIC
	head.flags |= SENNIT_TRACE_FILE_VIRTUAL;
#endif
	clock_gettime(CLOCK_REALTIME, &wall);
	head.wall_ns = (uint64_t)wall.tv_sec * SENNIT_SECOND +
		       (uint64_t)wall.tv_nsec;
	memcpy(head.magic, SENNIT_TRACE_MAGIC, sizeof(head.magic));
	memcpy(head.name, s->name, sizeof(head.name));
	put_bytes(k, &head, sizeof(head));
}

/* keys NULL: names are not looked up. */
static void put_ring(struct sink *k, struct trace_ring *r, struct keys *keys)
{
	struct sennit_trace_ring head = { .ring = r->number, .kind = r->kind };
	uint64_t                 first = a_load_rlx(&r->first);
	uint64_t                 begin, end;

	sn_trace_ring_range(r, &begin, &end);
	head.thread = a_load_rlx(&r->thread);
	head.lost = begin - (first < begin ? first : begin);
	head.count = end - begin;
	head.written = head.lost + head.count;
	put_section(k, SENNIT_TRACE_SECTION_RING,
		    sizeof(head) +
			    head.count * sizeof(struct sennit_trace_event));
	put_bytes(k, &head, sizeof(head));
	for (uint64_t i = begin; i < end && !k->err; i++) {
		struct sennit_trace_event e;

		sn_trace_ring_read(r, i, &e);
		put_bytes(k, &e, sizeof(e));
		if (keys && note_key(keys, e.a, kind_of_key(&e)))
			k->err = -ENOMEM;
	}
}

static void put_rings(struct sink *k, sennit_scheduler *s, struct keys *keys)
{
	/* <- trace.rings */
	struct trace_ring       *r = a_load_acq(&s->tracing.rings);
	const struct trace_ring *behind = r;

	/* At a crash the list may be damaged and circular. Then `r` reaches
	 * `behind`, which advances half as fast. */
	for (bool odd = false; r; r = r->next, odd = !odd) {
		put_ring(k, r, keys);
		if (r->next == behind)
			return;
		if (odd)
			behind = behind->next;
	}
}

/* --- fibers ------------------------------------------------------------- */

/* The states of fibers. Most fibers have no event in the rings. */
struct states {
	struct sennit_trace_fiber *at; /* from os_map: the walk holds locks */
	size_t                     room, count;
};

static void collect_fiber_state(struct states *t, struct worker *w,
				struct sennit_fiber *f)
{
	struct sennit_trace_fiber *to = &t->at[t->count];
	char                       name[SENNIT_TASK_NAME_SIZE];
	sennit_report_entry        e;

	if (t->count == t->room)
		return;
	to->time = sn_trace_ring_now(sn_stopwatch_has_ticks());
	if (!sn_report_read(w, f, &e, name) || !e.task)
		return;
	to->ring = a_load_rlx(&w->recorder.number);
	to->fiber = e.fiber;
	to->task = (uintptr_t)e.task;
	to->state = e.state;
	if (e.state != SENNIT_REPORT_RUNNING) {
		to->object = (uintptr_t)e.object;
		to->since = e.since;
		to->waits_for = e.waits_for;
		to->flow = ((uint64_t)to->ring + 1) << 24 | e.turn;
	}
	if (e.name == name)
		memcpy(to->name, name, strnlen(name, sizeof(to->name) - 1));
	t->count++;
}

static void collect_fiber_states(struct states *t, struct worker *w)
{
	struct sennit_fiber *f = NULL;

	if (!a_load_rlx(&w->recorder.given)) /* then it has no ring */
		return;
	if (!w->threaded)
		collect_fiber_state(t, w, &w->main);
	os_lock(&w->roster.lock);
	while ((f = sn_roster_next(&w->roster, f)))
		collect_fiber_state(t, w, f);
	pthread_mutex_unlock(&w->roster.lock);
}

/* Return the number of fibers, with room for some that start meanwhile; these
 * have a begin in their ring. The lock of the bound workers is held. */
static size_t count_fibers(sennit_scheduler *s)
{
	struct binding *b = NULL;
	size_t          room = 64;

	for (uint32_t i = 0; i < s->capacity; i++)
		room += sn_roster_count(&s->workers[i]->roster);
	while ((b = sn_bound_next(&s->bound, b)))
		room += sn_roster_count(&sn_worker_bound(b)->roster) + 1;
	return room;
}

/* Returns 0 or -ENOMEM. */
static int take_states(struct states *t, sennit_scheduler *s)
{
	struct binding *b = NULL;

	os_lock(&s->bound.lock);
	t->room = count_fibers(s);
	t->at = os_map(t->room * sizeof(*t->at));
	for (uint32_t i = 0; t->at && i < s->capacity; i++)
		collect_fiber_states(t, s->workers[i]);
	while (t->at && (b = sn_bound_next(&s->bound, b)))
		collect_fiber_states(t, sn_worker_bound(b));
	pthread_mutex_unlock(&s->bound.lock);
	return t->at ? 0 : -ENOMEM;
}

static void put_states(struct sink *k, sennit_scheduler *s, struct keys *keys)
{
	struct states t = { .at = NULL };

	if (take_states(&t, s)) {
		k->err = -ENOMEM;
		return;
	}
	put_section(k, SENNIT_TRACE_SECTION_FIBERS, t.count * sizeof(*t.at));
	put_bytes(k, t.at, t.count * sizeof(*t.at));
	for (size_t i = 0; i < t.count && !k->err; i++)
		k->err = note_key(keys, t.at[i].task,
				  SENNIT_TRACE_STRING_FUNCTION);
	os_unmap(t.at, t.room * sizeof(*t.at));
}

static int put_end(struct sink *k)
{
	put_section(k, SENNIT_TRACE_SECTION_END, 0);
	flush_sink(k);
	return k->err;
}

int sennit_trace_write(sennit_scheduler *s, int fd)
{
	struct sink k = { .fd = fd };
	struct keys keys = { .memory = &s->memory };
	int         err;

	MISUSE_INHERITED(s, "sennit_trace_write");
	if (!sn_trace_capacity(s))
		return -ENOTSUP;
	put_head(&k, s, 0);
	/* First, so that the rings contain what fibers do afterwards. */
	put_states(&k, s, &keys);
	put_rings(&k, s, &keys);
	put_names(&k, &keys);
	err = put_end(&k);
	sn_memory_give(&s->memory, keys.at, keys.size * sizeof(*keys.at));
	return err;
}

/* --- crashes ------------------------------------------------------------ */

static a_ptr crashing; /* any: the scheduler that has a crash_fd */

/* Write each piece of the text as a section of its own, because the total size
 * is not known in advance. */
static void put_maps(struct sink *k)
{
	char    text[512];
	ssize_t n;
	int     fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((n = read(fd, text, sizeof(text))) > 0) {
		put_section(k, SENNIT_TRACE_SECTION_MAPS, (uint64_t)n);
		put_bytes(k, text, (size_t)n);
		put_padding(k, (uint64_t)n);
	}
	close(fd);
}

/* Does nothing in the child of a fork, which has a copy of its parent's rings
 * and the same file. */
void sn_trace_crash(void)
{
	/* <- trace_write.crash -> trace_write.crash: once */
	sennit_scheduler      *s = a_swap_acqrel(&crashing, NULL);
	const struct own_file *own;
	struct sink            k;

	if (!s || s->tracing.process != (uint32_t)getpid())
		return;
	own = a_load_rlx(&s->tracing.crash_file);
	if (own && !sn_own_file_is_there(own)) {
		os_print(STDERR_FILENO, "sennit: the trace is not written: the "
					"program has closed the file\n");
		return;
	}
	k.fd = (int)a_load_rlx(&s->tracing.crash_fd);
	k.err = 0;
	k.used = 0;
	put_head(&k, s, SENNIT_TRACE_FILE_CRASH);
	put_rings(&k, s, NULL);
	put_maps(&k);
	(void)put_end(&k);
}

int sn_trace_crash_to(sennit_scheduler *s, int fd, const struct own_file *own)
{
	void *now = NULL;

	if (fd < 0) {
		sn_trace_crash_forget(s);
		return 0;
	}
	/* -> trace_write.crash: the process, the rings */
	if (!a_cas_acqrel(&crashing, &now, s) &&
	    now != s) /* <- trace_write.crash */
		return -EBUSY;
	a_store_rlx(&s->tracing.crash_file, (void *)(uintptr_t)own);
	a_store_rlx(&s->tracing.crash_fd, (uint32_t)fd);
	sn_check_on_panic(sn_trace_crash);
	return 0;
}

void sn_trace_crash_forget(sennit_scheduler *s)
{
	void *now = s;

	/* <- trace_write.crash -> trace_write.crash: it is over */
	(void)a_cas_acqrel(&crashing, &now, NULL);
}
