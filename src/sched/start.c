/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/start.h"

#include "base/memory.h"
#include "os/os.h"
#include "sched/finish.h"
#include "sched/loop.h"
#include "sched/tie.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What the threads of a new scheduler tell the one who creates it. */
struct birth {
	sennit_cpu_mask all; /* fixed: the CPUs this process may use */
	a_u32 waiting;       /* any: threads that have not begun; slept on */
	a_u32 error;         /* any: the last negative errno, negated */
};

/* What one thread is started with; read before it reports. */
struct newborn {
	struct worker *worker; /* fixed */
	struct birth  *birth;  /* fixed */
};

/* --- the thread --------------------------------------------------------- */

static int set_affinity(const struct worker *w, const struct birth *birth)
{
	const sennit_config   *c = &w->scheduler->config;
	const sennit_cpu_mask *mask = c->masks ? c->masks : &birth->all;

	switch (c->affinity) {
	case SENNIT_AFFINITY_ANY_OF:
		return os_thread_affinity(mask->cpus, mask->count);
	case SENNIT_AFFINITY_ONE_OF:
		return os_thread_affinity(&mask->cpus[w->index % mask->count],
					  1);
	case SENNIT_AFFINITY_MASKS:
		mask = &c->masks[w->index % c->mask_count];
		return os_thread_affinity(mask->cpus, mask->count);
	default:
		return 0;
	}
}

/* The birth is gone once the last thread has reported. */
static void report(struct birth *birth, int error)
{
	if (error)
		a_store_rlx(&birth->error, (uint32_t)-error);
	/* -> start.began: error, the worker's first fields <- start.began */
	if (a_sub_acqrel(&birth->waiting, 1) == 1)
		os_word_wake_one(&birth->waiting);
}

static void *thread_main(void *argument)
{
	struct newborn   *born = argument;
	struct worker    *w = born->worker;
	sennit_scheduler *s = w->scheduler;
	int               error = sn_tie(w);

	if (!error)
		error = set_affinity(w, born->birth);
	os_thread_name(s->name, w->index);
	if (s->config.thread_init)
		s->config.thread_init(s->config.thread_init_context, w->index);
	sn_worker_enter(w);
	report(born->birth, error);
	sn_loop_run(w, sn_worker_stack(w));
	sn_self = NULL;
	sn_tie_undo();
	sn_finish_worker_exits(s);
	return NULL;
}

/* --- the creator -------------------------------------------------------- */

/* Workers and the first stack of each. */
static int make_workers(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		int                  err = sn_worker_make(&s->workers[i], s, i);
		struct sennit_fiber *f;

		if (err)
			return err;
		s->sleepers[i] = &s->workers[i]->sleeper;
		f = sn_worker_stack(s->workers[i]);
		if (!f)
			return -ENOMEM;
		f->link.next = NULL;
		s->workers[i]->idle = &f->link;
	}
	return 0;
}

static void wait_for_birth(struct birth *birth)
{
	uint32_t waiting;

	while ((waiting = a_load_acq(&birth->waiting))) /* <- start.began */
		os_word_wait(&birth->waiting, waiting, SENNIT_NEVER);
}

/* Start the threads; *started says how many there are. */
static int start_threads(sennit_scheduler *s, struct birth *birth,
			 struct newborn born[], uint32_t *started)
{
	int err = 0;

	for (*started = 0; *started < s->count && !err; ++*started) {
		struct worker *w = s->workers[*started];

		born[*started] = (struct newborn){ w, birth };
		err = os_thread_start(&w->thread, thread_main, &born[*started]);
		if (err) {
			/* Those that will not come have nothing to report. */
			uint32_t missing = s->count - *started;

			/* -> start.began <- start.began */
			a_sub_acqrel(&birth->waiting, missing);
			break;
		}
	}
	wait_for_birth(birth);
	return err ? err : -(int)a_load_rlx(&birth->error);
}

/* The list of all CPUs, if the affinity needs it. */
static int list_cpus(const sennit_scheduler *s, struct birth *birth)
{
	uint32_t *cpus;

	birth->all = (sennit_cpu_mask){ NULL, 0 };
	if (s->config.affinity == SENNIT_AFFINITY_INHERIT || s->config.masks)
		return 0;
	birth->all.count = os_cpu_list(NULL, 0);
	cpus = sn_memory_take(&s->memory, birth->all.count * sizeof(*cpus),
			      sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	os_cpu_list(cpus, birth->all.count);
	birth->all.cpus = cpus;
	return 0;
}

static int bring_up(sennit_scheduler *s, uint32_t *started)
{
	struct birth    birth;
	struct newborn *born = sn_memory_take(
		&s->memory, (s->count + 1) * sizeof(*born), sizeof(void *));
	int err = -ENOMEM;

	*started = 0;
	if (!born)
		return -ENOMEM;
	a_init(&birth.waiting, s->count);
	a_init(&birth.error, 0);
	err = list_cpus(s, &birth);
	if (!err)
		err = start_threads(s, &birth, born, started);
	sn_memory_give(&s->memory, (void *)(uintptr_t)birth.all.cpus,
		       birth.all.count * sizeof(*birth.all.cpus));
	sn_memory_give(&s->memory, born, (s->count + 1) * sizeof(*born));
	return err;
}

/* Everything but workers and threads. */
static void init_shared(sennit_scheduler *s, const sennit_config *config)
{
	s->config = *config;
	s->memory = *config->allocator;
	s->config.allocator = &s->memory;
	snprintf(s->name, sizeof(s->name), "%s", config->name);
	s->config.name = s->name;
	s->count = config->workers;
	s->process = a_load_rlx(&sn_process);
	s->asymmetric = os_process_barrier_init();
	sn_parking_init(&s->parking, s->sleepers, s->count);
	sn_pool_init(&s->pool, &s->memory);
	sn_gate_init(&s->gate, 1, s->count);
	a_init(&s->inside, s->count + 1);
	pthread_mutex_init(&s->lock, NULL);
}

static sennit_scheduler *allocate(const sennit_config *config)
{
	const sennit_allocator *memory = config->allocator;
	size_t                  pointers = config->workers * sizeof(void *);
	sennit_scheduler       *s = sn_memory_take(memory, sizeof(*s),
						   _Alignof(sennit_scheduler));

	if (!s)
		return NULL;
	if (!pointers)
		return s;
	s->workers = sn_memory_take(memory, pointers, sizeof(void *));
	s->sleepers = sn_memory_take(memory, pointers, sizeof(void *));
	if (s->workers && s->sleepers)
		return s;
	sn_memory_give(memory, s->workers, pointers);
	sn_memory_give(memory, s->sleepers, pointers);
	sn_memory_give(memory, s, sizeof(*s));
	return NULL;
}

int sn_start(sennit_scheduler **out, const sennit_config *config)
{
	sennit_scheduler *s = allocate(config);
	uint32_t          started = 0;
	int               err;

	if (!s)
		return -ENOMEM;
	init_shared(s, config);
	err = sn_stacks_init(&s->stacks, &s->memory, config->stack_size,
			     config->max_fibers);
	if (err)
		goto free_scheduler;
	err = make_workers(s);
	if (!err)
		err = bring_up(s, &started);
	s->config.masks = NULL; /* the caller's, and used no more */
	if (err) {
		sn_finish_abandon(s, started);
		return err;
	}
	*out = s;
	return 0;

free_scheduler:
	sn_pool_free(&s->pool);
	pthread_mutex_destroy(&s->lock);
	sn_memory_give(config->allocator, s->workers,
		       s->count * sizeof(void *));
	sn_memory_give(config->allocator, s->sleepers,
		       s->count * sizeof(void *));
	sn_finish_free(s);
	return err;
}
